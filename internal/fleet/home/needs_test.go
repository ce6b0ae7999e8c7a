package home_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/journal"
	"cordon/internal/testwait"
)

const gib = 1 << 30

// demands are stages with needs.
type demands map[string]protocol.Needs

func (d demands) Stages() (list []home.Stage) {
	for lease := range d {
		s, _ := d.Stage(lease)
		list = append(list, s)
	}
	return list
}

func (d demands) Stage(lease string) (home.Stage, bool) {
	n, ok := d[lease]
	return home.Stage{
		Lease: lease, Terms: []byte(theTerms), Hash: protocol.Digest([]byte(theTerms)), Base: baseOID, Needs: n, Until: time.Now().Add(time.Hour),
	}, ok
}

func (demands) Ticket(string) (protocol.Ticket, bool) { return protocol.Ticket{}, false }

func (demands) Returned() ([]protocol.Pack, error) { return nil, nil }

// crew is a home in one process, and nodes whose stages end when the test says so.
type crew struct {
	t   *testing.T
	all sync.WaitGroup

	mu      sync.Mutex
	why     map[string]string   // of stages that wait
	runs    map[string]string   // the node that runs a stage now
	ran     map[string][]string // the nodes that have begun a stage
	most    int                 // of the stages that ran at the same time
	endings map[string]chan struct{}
}

// newCrew starts a home with stages, and nodes by what each can run.
func newCrew(t *testing.T, stages demands, nodes map[string]protocol.Can, change func(*home.Home)) *crew {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &crew{t: t, runs: map[string]string{}, ran: map[string][]string{}, endings: map[string]chan struct{}{}}
	for lease := range stages {
		c.endings[lease] = make(chan struct{})
	}
	dir := t.TempDir() // it is removed after everybody has ended
	e := engine.NewLocal()
	t.Cleanup(func() { stop(); c.all.Wait(); e.Close() })
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	key, public := newPair(t)
	h := &home.Home{
		Engine: e, Key: key, Fleet: fleet, Program: "test", Source: stages, Lost: time.Minute, Again: 20 * time.Millisecond,
		Waits: func(why map[string]string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.why = why
		},
	}
	if change != nil {
		change(h)
	}
	keys := map[string]nkeys.KeyPair{}
	for name := range nodes {
		k, p := newPair(t)
		keys[name] = k
		if _, err := log.Append("", home.Joined, home.Member{Name: name, Key: p, Ticket: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Open(log); err != nil {
		t.Fatal(err)
	}
	c.all.Go(func() {
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for name, can := range nodes {
		p, _ := keys[name].PublicKey()
		n := &node.Node{
			Engine: e.Node(p), Key: keys[name], Home: protocol.Node{Fleet: fleet, Home: public, Key: p}, Program: "test",
			Classes: []string{home.AnyClass, p}, Slots: can.Slots, Beat: 50 * time.Millisecond, Can: func() protocol.Can { return can },
			Run: func(ctx context.Context, _ *node.Hold, o protocol.Offer) (protocol.Result, error) {
				c.begin(o.Lease, name)
				defer c.end(o.Lease)
				select {
				case <-c.endings[o.Lease]:
				case <-ctx.Done():
				}
				return protocol.Result{Base: baseOID, Ending: "done", Chain: "none"}, ctx.Err()
			},
		}
		c.all.Go(func() {
			if _, err := n.Hello(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			n.Work(ctx)
		})
	}
	return c
}

func newPair(t *testing.T) (nkeys.KeyPair, string) {
	t.Helper()
	k, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return k, p
}

func (c *crew) begin(lease, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[lease] = name
	c.ran[lease] = append(c.ran[lease], name)
	c.most = max(c.most, len(c.runs))
}

func (c *crew) end(lease string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, lease)
}

// await waits until something holds of the crew.
func (c *crew) await(what string, holds func() bool) {
	c.t.Helper()
	testwait.Until(c.t, what, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return holds()
	}, func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return fmt.Sprintf("running %v, waiting %v", c.runs, c.why)
	})
}

// awaitWhy waits until a stage waits for a reason.
func (c *crew) awaitWhy(lease, text string) {
	c.t.Helper()
	c.await(lease+" waits because "+text, func() bool { return strings.Contains(c.why[lease], text) })
}

// endAll ends each stage as soon as it runs, and waits until all have begun.
func (c *crew) endAll(leases []string) {
	c.t.Helper()
	for _, lease := range leases {
		close(c.endings[lease])
	}
	c.await("all have begun", func() bool {
		return !slices.ContainsFunc(leases, func(l string) bool { return len(c.ran[l]) == 0 })
	})
}

// TestNeeds: a stage runs only on a node that says it can run it, and one that no node can run says what each lacks.
func TestNeeds(t *testing.T) {
	t.Parallel()
	stages := demands{
		"plain": {}, "client": {Client: "claude"}, "model": {Client: "claude", Model: "opus"}, "memory": {Memory: 4 * gib},
		"no-client": {Client: "codex"}, "no-model": {Client: "claude", Model: "haiku"}, "no-memory": {Memory: 64 * gib},
	}
	c := newCrew(t, stages, map[string]protocol.Can{
		"large": {Clients: []string{"claude"}, Models: []string{"opus"}, Memory: 8 * gib, Slots: 2},
		"small": {Memory: gib, Slots: 2},
	}, nil)
	c.endAll([]string{"plain", "client", "model", "memory"})
	c.awaitWhy("no-client", "large does not have the client codex; small does not have the client codex")
	c.awaitWhy("no-model", "large does not offer the model haiku")
	c.awaitWhy("no-memory", "large has 8192 MiB of memory for stages, and the stage needs 65536 MiB")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, lease := range []string{"client", "model", "memory"} {
		if got := c.ran[lease]; !slices.Equal(got, []string{"large"}) {
			t.Errorf("%s ran on %v", lease, got)
		}
	}
	if len(c.ran["no-client"])+len(c.ran["no-model"])+len(c.ran["no-memory"]) > 0 {
		t.Errorf("%v", c.ran)
	}
}

// TestAtMost: of a client, only so many stages run at the same time on all nodes together. Others run meanwhile.
func TestAtMost(t *testing.T) {
	t.Parallel()
	stages := demands{"a": {Client: "claude"}, "b": {Client: "claude"}, "c": {Client: "claude"}}
	can := protocol.Can{Clients: []string{"claude"}, Slots: 3}
	c := newCrew(t, stages, map[string]protocol.Can{"one": can, "two": can}, func(h *home.Home) { h.AtMost.Clients = map[string]int{"claude": 1} })
	c.await("one runs", func() bool { return len(c.runs) == 1 })
	for lease := range stages {
		c.mu.Lock()
		_, running := c.runs[lease]
		c.mu.Unlock()
		if !running {
			c.awaitWhy(lease, "as many stages of claude run as fleet.at_most allows (1)")
		}
	}
	c.endAll(slices.Collect(maps.Keys(stages)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most != 1 {
		t.Errorf("%d ran at the same time", c.most)
	}
	free := newCrew(t, stages, map[string]protocol.Can{"one": can}, nil) // the control
	free.await("without a bound all run", func() bool { return len(free.runs) == 3 })
}

// TestAtMostOfProvider: a bound of a provider counts the stages of all clients that use it, and no others of those clients.
func TestAtMostOfProvider(t *testing.T) {
	t.Parallel()
	stages := demands{
		"a": {Client: "claude", Provider: "anthropic"}, "b": {Client: "opencode", Provider: "anthropic"}, "c": {Client: "opencode", Provider: "opencode"},
	}
	can := protocol.Can{Clients: []string{"claude", "opencode"}, Slots: 3}
	c := newCrew(t, stages, map[string]protocol.Can{"one": can, "two": can}, func(h *home.Home) { h.AtMost.Providers = map[string]int{"anthropic": 1} })
	c.await("two run", func() bool { return c.runs["c"] != "" && len(c.runs) == 2 })
	c.await("the other says why", func() bool {
		return strings.Contains(c.why["a"]+c.why["b"], "as many stages of anthropic run as fleet.at_most allows (1)")
	})
	c.endAll(slices.Collect(maps.Keys(stages)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most != 2 {
		t.Errorf("%d ran at the same time", c.most)
	}
}

// TestBackOff: while a provider is asked too often, no stage of it starts on any node, and stages of others do.
func TestBackOff(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	until := map[string]time.Time{"anthropic": time.Now().Add(time.Hour)}
	stages := demands{"a": {Client: "claude", Provider: "anthropic"}, "b": {Client: "opencode", Provider: "anthropic"}, "c": {Client: "codex", Provider: "openai"}}
	can := protocol.Can{Clients: []string{"claude", "codex", "opencode"}, Slots: 3}
	c := newCrew(t, stages, map[string]protocol.Can{"one": can, "two": can}, func(h *home.Home) {
		h.BackOffs = func() map[string]time.Time {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(until)
		}
	})
	c.await("the other provider's stage runs", func() bool { return c.runs["c"] != "" })
	for _, lease := range []string{"a", "b"} {
		c.awaitWhy(lease, ": the provider anthropic is asked too often")
	}
	c.mu.Lock()
	if len(c.ran) != 1 {
		t.Errorf("stages of the provider have begun: %v", c.ran)
	}
	c.mu.Unlock()
	mu.Lock()
	until["anthropic"] = time.Now()
	mu.Unlock()
	c.endAll(slices.Collect(maps.Keys(stages)))
}

// TestMemoryIsShared: the stages of a node together need no more memory than it has.
func TestMemoryIsShared(t *testing.T) {
	t.Parallel()
	stages := demands{"a": {Memory: 3 * gib}, "b": {Memory: 3 * gib}, "c": {Memory: 3 * gib}}
	c := newCrew(t, stages, map[string]protocol.Can{"one": {Memory: 7 * gib, Slots: 3}}, nil)
	c.await("two run", func() bool { return len(c.runs) == 2 })
	c.await("the third says why", func() bool {
		return len(c.why) == 1 && strings.Contains(fmt.Sprint(c.why), "it waits for memory of one")
	})
	c.endAll(slices.Collect(maps.Keys(stages)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most != 2 {
		t.Errorf("%d ran at the same time", c.most)
	}
}

// trials are stages that test a result of nobody here.
type trials struct{ demands }

func (s trials) Stages() (list []home.Stage) {
	for lease := range s.demands {
		one, _ := s.Stage(lease)
		list = append(list, one)
	}
	return list
}

func (s trials) Stage(lease string) (home.Stage, bool) {
	one, ok := s.demands.Stage(lease)
	one.Trial = &trial.Order{Tree: baseOID, Commands: []string{"true"}}
	return one, ok
}

// TestBacklogIsTested: results that wait to be judged do not keep nodes from testing them.
func TestBacklogIsTested(t *testing.T) {
	t.Parallel()
	name := trial.Name("a")
	c := newCrew(t, demands{name: {}}, map[string]protocol.Can{"one": {Slots: 1}}, func(h *home.Home) {
		h.MaxBacklog, h.Backlog = 2, func() int { return 2 }
		h.Source = trials{demands{name: {}}}
	})
	c.endAll([]string{name})
}

// TestBacklog: while too many results are not judged, the home grants nothing and says so.
func TestBacklog(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	results := 2
	c := newCrew(t, demands{"a": {}}, map[string]protocol.Can{"one": {Slots: 1}}, func(h *home.Home) {
		h.MaxBacklog = 2
		h.Backlog = func() int {
			mu.Lock()
			defer mu.Unlock()
			return results
		}
	})
	c.awaitWhy("a", "2 results wait to be judged at home")
	mu.Lock()
	results = 1
	mu.Unlock()
	c.endAll([]string{"a"})
}
