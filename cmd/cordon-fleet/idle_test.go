package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/journal"
	"cordon/internal/testwait"
)

// TestIdleNodes: a thousand nodes that wait for stages cost the home at most 100 MB and 2 % of
// a core. The home is a process of its own; the nodes wait as cordon fleet node does, each with its own
// connection.
func TestIdleNodes(t *testing.T) {
	const count = 1000
	here := newHome(t)
	first, _ := startHome(here, "--listen", "127.0.0.1:0") // makes the journal and the keys
	token, err := protocol.ParseToken(here.token())
	if err != nil {
		t.Fatal(err)
	}
	first.kill()
	keys := join(t, filepath.Dir(filepath.Dir(here.file("*/fleet/key"))), count)
	p, _ := startHome(here, "--listen", strings.TrimPrefix(token.Address, "tls://"), "--metrics", "0")
	_, url, _ := strings.Cut(p.await("metrics at"), "metrics at ")
	alone, _ := scrape(t, url)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for _, key := range keys {
		all.Go(func() { idle(ctx, t, token, key) })
	}
	heard := func() (n int) {
		values, _ := scrape(t, url)
		for name := range values {
			if strings.HasPrefix(name, "cordon_home_node_heard_timestamp_seconds{") {
				n++
			}
		}
		return n
	}
	for n := 0; n < count; { // each wait is for more of them
		last := n
		eventually(t, fmt.Sprintf("the home hears more than %d nodes", last), every(time.Second, func() bool { n = heard(); return n > last }))
	}
	// What it took to connect is over when the home does little for a while.
	then := map[string]float64{}
	eventually(t, "the home rests", every(20*time.Second, func() bool {
		now, _ := scrape(t, url)
		used := now["process_cpu_seconds_total"] - then["process_cpu_seconds_total"]
		then = now
		return used < 0.4
	}))
	before, _ := scrape(t, url)
	began := time.Now()
	const span = helloEvery // a round of hellos; pulls end at any time from the beginning
	var most float64
	testwait.Still(t, "the home runs", span, every(5*time.Second, func() bool {
		now, _ := scrape(t, url)
		most = max(most, now["process_resident_memory_bytes"])
		return !p.over()
	}))
	after, _ := scrape(t, url)
	share := (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / time.Since(began).Seconds()
	t.Logf("alone: %.0f MB; with %d nodes: at most %.1f MB, %.2f %% of a core, %.0f goroutines", alone["process_resident_memory_bytes"]/1e6, count,
		most/1e6, 100*share, after["go_goroutines"])
	if most > 100e6 || share > 0.02 {
		t.Errorf("%.1f MB and %.2f %%", most/1e6, 100*share)
	}
}

// every looks at a condition at most once in a while, since a look costs what is measured. In between, it is as it was.
func every(while time.Duration, holds func() bool) func() bool {
	var last time.Time
	var was bool
	return func() bool {
		if time.Since(last) > while {
			last, was = time.Now(), holds()
		}
		return was
	}
}

// join writes nodes into the journal of a home that does not run.
func join(t *testing.T, state string, count int) (keys []nkeys.KeyPair) {
	t.Helper()
	log, err := journal.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		key, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Append("", home.Joined, home.Member{Name: fmt.Sprint("n", i), Key: public, Ticket: fmt.Sprint("t", i)}); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// connectNode connects a node of the test's, as cordon fleet node does.
func connectNode(token protocol.Token, key nkeys.KeyPair) (*node.Node, error) {
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	e, err := jetstream.Node(jetstream.Link{URL: token.Address, Fleet: token.Fleet, TLS: identity.Pin(token.Cert), Key: key}, public)
	return &node.Node{
		Engine: e, Key: key, Home: protocol.Node{Fleet: token.Fleet, Home: token.Home, Key: public}, Program: version(),
		Classes: []string{home.AnyClass, public}, Slots: 1, Beat: time.Second,
	}, err
}

// idle is a node that waits for stages.
func idle(ctx context.Context, t *testing.T, token protocol.Token, key nkeys.KeyPair) {
	n, err := connectNode(token, key)
	if err != nil {
		t.Error(err)
		return
	}
	defer n.Engine.Close()
	var all sync.WaitGroup
	all.Go(func() { n.Work(ctx) })
	for ctx.Err() == nil {
		_, _ = n.Hello(ctx)
		testwait.Pass(ctx, untilHello())
	}
	all.Wait()
}

// TestHello: a node says hello before the engine asks whether it is there.
func TestHello(t *testing.T) {
	for range 1000 {
		if wait := untilHello(); wait >= jetstream.Silent {
			t.Fatal(wait)
		}
	}
}
