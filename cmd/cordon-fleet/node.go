package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/spf13/cobra"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/files"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/legible"
)

// helloEvery is about how often a node tells its home that it is there.
const helloEvery = 3 * time.Minute

// drainedHello is how often a node that gets nothing new asks whether that has changed.
const drainedHello = 5 * time.Second

// untilHello is how long a node waits until its next hello. Nodes that a home has lost at the same moment do not stay
// in step.
func untilHello() time.Duration { return helloEvery*3/4 + rand.N(helloEvery/2) }

func nodeCommand() *cobra.Command {
	var name, metricsAt string
	var slots int
	var ability abilityFlags
	c := &cobra.Command{
		Use: "node [TOKEN|-]", Short: "Be a node, until interrupted", Args: cobra.MaximumNArgs(1),
		Long: `Be a node, until interrupted. With the token that cordon fleet join printed, the machine joins that home
first; "-" reads the token from standard input, where other users of the machine cannot see it. After
that no token is needed.

Stages run in cells, by the cordon beside cordon-fleet, in a repository of the fleet's below
~/.local/share/cordon/fleet. They use the clients and logins of this machine, within the rights
of its configuration (cordon config).`,
		Example: "  cordon fleet node cordon-join-eyJhZGRyZXNz…\n  cordon fleet node",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuseInside(); err != nil {
				return err
			}
			token := strings.Join(args, "")
			if token == "-" {
				text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<16))
				if err != nil {
					return err
				}
				token = string(text)
			}
			if slots < 1 {
				return errors.New("--slots must be at least 1")
			}
			able, err := ability.read()
			if err != nil {
				return err
			}
			s := &serving{out: cmd.OutOrStdout(), warn: cmd.ErrOrStderr(), metrics: metricsAt, slots: slots, can: able}
			return s.run(cmd.Context(), token, name)
		},
	}
	c.Flags().IntVar(&slots, "slots", 1, "the most stages to run at once")
	ability.add(c.Flags())
	c.Flags().StringVar(&name, "name", "", "name of the node (default: that of the machine)")
	c.Flags().StringVar(&metricsAt, "metrics", "", metricsFlag)
	return c
}

// serving is the process of a node.
type serving struct {
	out, warn io.Writer
	metrics   string // where it serves them; "": nowhere
	files     files.Node
	key       nkeys.KeyPair
	home      files.Membership
	slots     int
	can       func() protocol.Can

	mu      sync.Mutex
	trouble string // that was said last
}

func (s *serving) run(ctx context.Context, token, name string) error {
	if err := s.open(ctx, token, name); err != nil {
		return err
	}
	return s.serve(ctx)
}

// open finds the home that the node has joined, or joins the one of the token.
func (s *serving) open(ctx context.Context, text, name string) (err error) {
	root, err := nodesRoot()
	if err != nil {
		return err
	}
	var token protocol.Token
	if text == "" {
		s.files, err = onlyNode(root)
	} else if token, err = protocol.ParseToken(text); err == nil {
		s.files, err = files.NodeOf(root, token.Fleet)
	}
	if err != nil {
		return err
	}
	s.home, err = s.files.Membership()
	joined := err == nil
	switch {
	case err != nil && (text == "" || !errors.Is(err, fs.ErrNotExist)):
		return err
	case joined && text != "" && token.Home != s.home.Home:
		return errors.New("this machine has joined another home with the same name")
	}
	if s.key, err = identity.Key(s.files.Dir); err != nil || joined {
		return err
	}
	return s.join(ctx, token, name)
}

// onlyNode is the one home that this machine has joined.
func onlyNode(root string) (files.Node, error) {
	list, err := files.NodesIn(root)
	switch {
	case err != nil:
		return files.Node{}, err
	case len(list) == 0:
		return files.Node{}, errors.New("this machine has joined no home: paste the line that cordon fleet join prints there")
	case len(list) > 1:
		return files.Node{}, fmt.Errorf("this machine has joined %d homes: say which with the token that it joined with", len(list))
	}
	return list[0], nil
}

// join becomes a node of the token's home.
func (s *serving) join(ctx context.Context, token protocol.Token, name string) error {
	if name == "" {
		name = machineName()
	}
	s.home = files.Membership{Reach: files.Reach{URL: token.Address, Cert: token.Cert}, Home: token.Home, Fleet: token.Fleet, Name: name}
	// These end the attempt: whoever pasted the line is there to see it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n, err := s.connect(nil, func(err error) {
		switch {
		case errors.Is(err, engine.ErrStranger):
			cancel(refuses(protocol.NoTicket.Say()))
		case errors.Is(err, identity.ErrOtherCertificate):
			cancel(err)
		default:
			s.report(err)
		}
	})
	if err != nil {
		return err
	}
	defer n.Engine.Close()
	a, err := n.Join(ctx, token, name)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case a.Verdict != protocol.Joined:
		return refuses(a.Say)
	}
	if err := s.files.SetMembership(s.home); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "joined as %s\n", name)
	return nil
}

// machineName makes a name for a node of that of its machine.
func machineName() string {
	host, _ := os.Hostname()
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, host)
	if name == "" || name[0] < 'a' {
		name = "node-" + name
	}
	const most = 40
	return name[:min(len(name), most)]
}

// connect connects to the home's engine. Back is called when a lost connection is there again.
func (s *serving) connect(back func(), fails func(error)) (*node.Node, error) {
	public, err := s.key.PublicKey()
	if err != nil {
		return nil, err
	}
	link := jetstream.Link{URL: s.home.URL, Fleet: s.home.Fleet, Fails: fails, Back: back}
	if s.home.Cert != "" {
		link.TLS, link.Key = identity.Pin(s.home.Cert), s.key
	}
	e, err := jetstream.Node(link, public)
	if err != nil {
		return nil, err
	}
	return &node.Node{
		Engine: e, Key: s.key, Home: protocol.Node{Fleet: s.home.Fleet, Home: s.home.Home, Key: public}, Program: version(), Slots: s.slots, Can: s.can,
	}, nil
}

// report says why the home cannot be reached, once for each reason.
func (s *serving) report(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := legible.PlainLine(err.Error()); text != s.trouble {
		s.trouble = text
		fmt.Fprintf(s.warn, "cordon fleet: cannot reach %s: %s\n", s.home.URL, text)
	}
}

// serve tells the home that the node is there, until ctx ends or the home wants it no more.
func (s *serving) serve(ctx context.Context) error {
	back := make(chan struct{}, 1)
	n, err := s.connect(func() {
		select {
		case back <- struct{}{}:
		default:
		}
	}, s.report)
	if err != nil {
		return err
	}
	defer n.Engine.Close()
	if err := serveMetrics(ctx, s.out, s.metrics, n.Metrics); err != nil {
		return err
	}
	stop, err := s.work(ctx, n)
	if err != nil {
		return err
	}
	defer stop()
	for standing := protocol.Verdict(""); ; {
		a, err := n.Hello(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case a.Verdict == protocol.Removed:
			gone := fmt.Errorf("the home has removed this node; it has forgotten the home (%s)", filepath.Base(s.files.Dir))
			return errors.Join(refusedError{gone}, s.files.Forget())
		case a.Verdict != protocol.Go && a.Verdict != protocol.Draining:
			return refuses(a.Say)
		case a.Verdict != standing:
			standing = a.Verdict
			fmt.Fprintf(s.out, "node %s of %s: %s\n", s.home.Name, s.home.URL, standingWord(standing))
		}
		next := untilHello()
		if standing == protocol.Draining {
			next = drainedHello
		}
		select {
		case <-ctx.Done():
		case <-back: // the home was away, or has ended the connection
		case <-time.After(next):
		}
	}
}

func standingWord(v protocol.Verdict) home.Standing {
	if v == protocol.Draining {
		return home.Draining
	}
	return home.Ready
}
