package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/files"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/stages"
)

const (
	again   = time.Second // how often a home looks for stages, and for what the operator decided
	maxPack = 1 << 30     // bytes of a result
	maxBase = 16 << 30    // bytes of a base
	// maxPacks are bytes of all bases, and as many of all results; on a small disk, a quarter of what is free.
	maxPacks = 64 << 30
	// copies are those of the queue in an external cluster: one of three servers may be away.
	copies = 3
	// saidEvery is how often a home writes down which nodes it has heard. A home with many nodes does it less often, because it
	// writes all of them.
	saidEvery   = 5 * time.Second
	saidForNode = 10 * time.Millisecond // later
)

// homeOptions are the options of cordon fleet home.
type homeOptions struct {
	listen, address, url, metrics string
	lost                          time.Duration
}

func homeCommand() *cobra.Command {
	var o homeOptions
	c := &cobra.Command{
		Use: "home", Short: "Be the home of this repository's fleet, until interrupted", Args: cobra.NoArgs,
		Long: `Be the home of this repository's fleet, until interrupted.

With --listen, the home runs its own engine with TLS. Its certificate is made at the first start; nodes
know it by its SHA-256, which is part of the join token. With --url, the engine is an external NATS
server or cluster, which decides itself who may connect and what it encrypts.`,
		Example: "  cordon fleet home --listen 0.0.0.0:4222 --address build.example:4222\n  cordon fleet home --url tls://nats.example:4222",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runHome(cmd.Context(), cmd.OutOrStdout(), o) },
	}
	c.Flags().StringVar(&o.listen, "listen", "", "run an engine that listens at `HOST:PORT`")
	c.Flags().StringVar(&o.address, "address", "", "`HOST:PORT` (with --url: the URL) at which nodes reach the engine, if it differs from --listen")
	c.Flags().StringVar(&o.url, "url", "", "use the engine at `URL`, or several, separated by commas")
	c.Flags().StringVar(&o.metrics, "metrics", "", metricsFlag)
	c.Flags().DurationVar(&o.lost, "lost", time.Minute, "give a stage to another node after its node has been silent for this long")
	c.MarkFlagsOneRequired("listen", "url")
	c.MarkFlagsMutuallyExclusive("listen", "url")
	return c
}

// source is where a home gets its tickets and its stages.
type source struct {
	files.Home
	*stages.Journal
}

// packs are what the home sends and gets. Bases of an earlier home are made again. Results of nodes that a session has
// not unpacked yet stay, and a node sends a result again whose end is missing.
func (p homePlace) packs(ctx context.Context) (*home.Packs, error) {
	if err := p.site.Begin(ctx); err != nil {
		return nil, err
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(p.files.Dir, &fs); err != nil {
		return nil, err
	}
	free := int64(fs.Bavail) * int64(fs.Bsize)
	made := &home.Packs{
		Host: p.site.Gate.Repo(), Bases: pack.Store{Dir: filepath.Join(p.files.Dir, "bases")}, Gotten: pack.Store{Dir: p.Returned()}, Most: maxBase,
		Room: min(free/4, maxPacks),
	}
	return made, os.RemoveAll(made.Bases.Dir)
}

func runHome(ctx context.Context, out io.Writer, o homeOptions) error {
	if o.lost < 3*beat {
		return fmt.Errorf("--lost must be at least %s: nodes beat every %s", 3*beat, beat)
	}
	noMemoryProfile()
	p, err := openHome(ctx)
	if err != nil {
		return err
	}
	release, err := p.hold()
	if err != nil {
		return err
	}
	defer release()
	packs, err := p.packs(ctx)
	if err != nil {
		return err
	}
	own, err := p.site.Operator()
	if err != nil {
		return err
	}
	list := &stages.Journal{Site: p.site}
	clients, providers := own.Fleet.Bounds()
	h := &home.Home{
		Key: p.key, Fleet: p.fleet, Program: version(), Source: source{p.files, list},
		Lost: o.lost, Again: again, MaxPack: maxPack, Packs: packs, Heed: list.Heed, Typed: list.Typed,
		AtMost: home.Bounds{Clients: clients, Providers: providers}, BackOffs: list.BackOffs,
		Backlog: list.Backlog, MaxBacklog: own.Fleet.Results, Waits: writeWaiting(p.files),
	}
	if err := h.Open(p.log); err != nil {
		return err
	}
	h.Remember(heardBefore(p.files))
	link, reach, stop, err := engineOf(p, h, o)
	if err != nil {
		return err
	}
	defer stop()
	if h.Engine, err = jetstream.Home(link); err != nil {
		return err
	}
	defer h.Engine.Close()
	if err := p.files.SetReach(reach); err != nil {
		return err
	}
	fmt.Fprintf(out, "home of fleet %s at %s\n", p.fleet, reach.URL)
	if err := serveMetrics(ctx, out, o.metrics, h.Metrics); err != nil {
		return err
	}
	go spareMemory(ctx)
	go writeHeard(ctx, h, p.files)
	return h.Run(ctx)
}

// engineOf starts the home's own engine, or names the one of the operator's.
func engineOf(p homePlace, h *home.Home, o homeOptions) (link jetstream.Link, reach files.Reach, stop func(), err error) {
	link = jetstream.Link{Fleet: p.fleet}
	if o.url != "" {
		link.URL, link.Many = o.url, copies
		reach.URL, err = withoutPassword(o)
		return link, reach, func() {}, err
	}
	s, sum, err := listen(p, h, o.listen)
	if err != nil {
		return link, reach, nil, err
	}
	h.Expel = func(key string) { _ = s.Expel(key) } // its rights are less when it connects again
	link.Server, link.Key = s, p.key
	address := o.address
	if address == "" {
		address = s.Addr().String()
	}
	return link, files.Reach{URL: "tls://" + address, Cert: sum}, s.Stop, nil
}

// withoutPassword is the URL that nodes are given. One that holds a password of the home's is not
// passed on.
func withoutPassword(o homeOptions) (string, error) {
	if o.address != "" {
		return o.address, nil
	}
	for one := range strings.SplitSeq(o.url, ",") {
		u, err := url.Parse(one)
		if err != nil {
			return "", errors.New("the URL of the engine cannot be read") // it may hold a password
		}
		if u.User != nil {
			return "", errors.New("the URL holds a password: name the URL for nodes with --address")
		}
	}
	return o.url, nil
}

// listen starts the engine of a home. Nodes may take offers; a node that was removed may still ask, and
// hears that it was. Others may connect only while a ticket waits for them.
func listen(p homePlace, h *home.Home, address string) (*jetstream.Server, string, error) {
	certificate, err := identity.Certificate(p.files.Dir)
	if err != nil {
		return nil, "", err
	}
	own, err := p.key.PublicKey()
	if err != nil {
		return nil, "", err
	}
	s, err := jetstream.Listen(jetstream.Listener{
		Address: address, Store: filepath.Join(p.files.Dir, "engine"), Fleet: p.fleet, TLS: identity.Serve(certificate),
		Admit: func(key string) jetstream.Rights {
			m, known := h.Member(key)
			switch {
			case key == own:
				return jetstream.Owner
			case known && !m.Removed:
				return jetstream.Member
			case known, p.files.Awaits(h.Used, time.Now()):
				return jetstream.Guest
			}
			return jetstream.Stranger
		},
	})
	return s, identity.Sum(certificate), err
}

// heardBefore is what an earlier home has heard. Without it, nobody was heard.
func heardBefore(from files.Home) map[string]home.Heard {
	heard := map[string]home.Heard{}
	_ = from.Heard(&heard)
	return heard
}

// writeWaiting writes down why stages wait, for cordon and cordon fleet ls.
func writeWaiting(to files.Home) func(map[string]string) {
	var last map[string]string
	return func(now map[string]string) {
		if (last == nil || !maps.Equal(now, last)) && to.SetWaiting(now) == nil {
			last = now
		}
	}
}

// writeHeard writes down which nodes the home has heard, for cordon fleet ls.
func writeHeard(ctx context.Context, h *home.Home, to files.Home) {
	last := heardBefore(to)
	for ctx.Err() == nil {
		now := h.Heard()
		if !reflect.DeepEqual(now, last) && to.SetHeard(now) == nil {
			last = now
		}
		select {
		case <-ctx.Done():
		case <-time.After(saidEvery + saidForNode*time.Duration(len(now))):
		}
	}
}
