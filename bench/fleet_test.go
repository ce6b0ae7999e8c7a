package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/journal"
)

// BenchmarkFleet compares what a fleet adds to a stage that does nothing with cordon exec: the offer, the grant and the result,
// with the home's own engine over TLS, a journal on the disk, and a node that does one stage after the other. The stages are
// offered together, so that nobody waits for the next look at the journal, which a home takes every second.
func BenchmarkFleet(b *testing.B) {
	const each = 50
	dir := place(b)
	program := cordon(b, dir)
	f, err := startFleet(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer f.stop()
	t := turns{}
	for b.Loop() {
		t.time(b, "start", func() error { _, err := run(dir, program, "exec", "--", "/bin/true"); return err })
		took, err := f.dispatch(b.Context(), each)
		if err != nil {
			b.Fatal(err)
		}
		t["stage"] = append(t["stage"], took/each)
	}
	t.compare(b, "offer, grant and result of a fleet's stage, compared with `cordon exec -- /bin/true`", "", "stage", "start")
}

// fleetRun is a home and a node in this process.
type fleetRun struct {
	cancel func()
	ended  chan error
	engine *jetstream.Server
	count  atomic.Int64 // stages that there are
	done   chan struct{}
	ticket protocol.Token
}

const (
	fleetName  = "bench"
	fleetTerms = `{"schema":"cordon.terms/1"}`
	fleetBase  = "1111111111111111111111111111111111111111"
)

func startFleet(ctx context.Context, dir string) (*fleetRun, error) {
	f := &fleetRun{ended: make(chan error, 1), done: make(chan struct{}, 1<<16)}
	ctx, f.cancel = context.WithCancel(ctx)
	key, err := identity.Key(filepath.Join(dir, "home"))
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	certificate, err := identity.Certificate(filepath.Join(dir, "home"))
	if err != nil {
		return nil, err
	}
	f.engine, err = jetstream.Listen(jetstream.Listener{
		Address: "127.0.0.1:0", Store: filepath.Join(dir, "engine"), Fleet: fleetName, TLS: identity.Serve(certificate),
		Admit: func(key string) jetstream.Rights {
			if key == public {
				return jetstream.Owner
			}
			return jetstream.Member
		},
	})
	if err != nil {
		return nil, err
	}
	f.ticket = protocol.Token{
		Address: "tls://" + f.engine.Addr().String(), Cert: identity.Sum(certificate), Home: public, Fleet: fleetName, Ticket: "t", Secret: []byte(rand.Text()),
	}
	h := &home.Home{Key: key, Fleet: fleetName, Program: "bench", Source: f, Lost: time.Minute, Again: 5 * time.Millisecond, MaxPack: 1 << 20}
	if h.Engine, err = jetstream.Home(jetstream.Link{Server: f.engine, Key: key, Fleet: fleetName}); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "journal"), 0o700); err != nil {
		return nil, err
	}
	log, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return nil, err
	}
	if err := h.Open(log); err != nil {
		return nil, err
	}
	go func() { f.ended <- h.Run(ctx) }()
	return f, f.join(ctx, filepath.Join(dir, "node"))
}

// join has a node work for the home.
func (f *fleetRun) join(ctx context.Context, dir string) error {
	key, err := identity.Key(dir)
	if err != nil {
		return err
	}
	public, err := key.PublicKey()
	if err != nil {
		return err
	}
	e, err := jetstream.Node(jetstream.Link{URL: f.ticket.Address, TLS: identity.Pin(f.ticket.Cert), Key: key, Fleet: fleetName}, public)
	if err != nil {
		return err
	}
	n := &node.Node{
		Engine: e, Key: key, Home: protocol.Node{Fleet: fleetName, Home: f.ticket.Home, Key: public}, Program: "bench",
		Classes: []string{home.AnyClass}, Slots: 1, Beat: 10 * time.Second,
		Run: func(context.Context, *node.Hold, protocol.Offer) (protocol.Result, error) {
			f.done <- struct{}{}
			return protocol.Result{Base: fleetBase, Ending: "done", Chain: "none"}, nil
		},
	}
	a, err := n.Join(ctx, f.ticket, "one")
	if err == nil && a.Verdict != protocol.Joined {
		err = errors.New(a.Say)
	}
	go n.Work(ctx)
	return err
}

// dispatch adds stages, and returns how long it takes until the node has done all of them. The result of the last is on its way then.
func (f *fleetRun) dispatch(ctx context.Context, count int) (time.Duration, error) {
	began := time.Now()
	f.count.Add(int64(count))
	for range count {
		select {
		case <-f.done:
		case err := <-f.ended:
			return 0, errors.Join(errors.New("the home has ended"), err)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return time.Since(began), nil
}

func (f *fleetRun) stop() {
	f.cancel()
	f.engine.Stop()
}

// Stages is that of home.Source.
func (f *fleetRun) Stages() (list []home.Stage) {
	for i := range f.count.Load() {
		list = append(list, stageNumber(i))
	}
	return list
}

func stageNumber(i int64) home.Stage {
	return home.Stage{
		Lease: fmt.Sprint("s", i), Terms: []byte(fleetTerms), Hash: protocol.Digest([]byte(fleetTerms)), Base: fleetBase, Until: time.Now().Add(time.Hour),
	}
}

// Stage is that of home.Source.
func (f *fleetRun) Stage(lease string) (home.Stage, bool) {
	i, err := strconv.ParseInt(strings.TrimPrefix(lease, "s"), 10, 64)
	return stageNumber(i), err == nil && i >= 0 && i < f.count.Load()
}

// Ticket is that of home.Source.
func (f *fleetRun) Ticket(string) (protocol.Ticket, bool) {
	return protocol.Ticket{Secret: f.ticket.Secret, Expires: time.Now().Add(time.Hour)}, true
}

// Returned is that of home.Source: these stages have no files.
func (f *fleetRun) Returned() ([]protocol.Pack, error) { return nil, nil }
