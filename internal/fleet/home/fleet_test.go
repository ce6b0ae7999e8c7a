package home_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/testfleet"
	"cordon/internal/testground"
	"cordon/internal/testwait"
)

const (
	fleet    = "f1"
	baseOID  = "1111111111111111111111111111111111111111"
	lost     = 2 * time.Second
	nodes    = 8
	slots    = 4 // of each node
	asHome   = "CORDON_TEST_HOME"
	asNode   = "CORDON_TEST_NODE"
	theTerms = `{"schema":"cordon.terms/1"}`
)

// order is what the process of a home or a node is told.
type order struct {
	URLs, Journal, Seed string
	Tokens              []string // a node has one
	Stages              int
	Name                string
	Host, Base          string // the repository of the home and a commit there; "": stages without files
	Heard               string // where a node notes refusals of its results
	Keep                string // while there is such a file, a node does not finish the stages that it gets
}

func TestMain(m *testing.M) {
	testfleet.ServeIfAsked()
	for variable, run := range map[string]func(order) error{asHome: runHome, asNode: runNode} {
		text := os.Getenv(variable)
		if text == "" {
			continue
		}
		var o order
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = run(o)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, variable, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testground.RunInMemory("internal/fleet/home", m))
}

// stages are a source of so many stages, all alike.
type stages struct {
	count   int
	tickets map[string]protocol.Ticket
}

func (s stages) Stages() (list []home.Stage) {
	for i := range s.count {
		list = append(list, s.at(i))
	}
	return list
}

func (s stages) at(i int) home.Stage {
	return home.Stage{
		Lease: fmt.Sprint("s", i), Terms: []byte(theTerms), Hash: protocol.Digest([]byte(theTerms)), Base: baseOID, Until: time.Now().Add(time.Hour),
	}
}

func (s stages) Stage(lease string) (home.Stage, bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(lease, "s"))
	if err != nil || i < 0 || i >= s.count {
		return home.Stage{}, false
	}
	return s.at(i), true
}

// Returned is for stages without files.
func (s stages) Returned() ([]protocol.Pack, error) { return nil, nil }

func (s stages) Ticket(id string) (protocol.Ticket, bool) { t, ok := s.tickets[id]; return t, ok }

// runHome is the process of a home. Its gate takes everything.
func runHome(o order) error {
	key, err := nkeys.FromSeed([]byte(o.Seed))
	if err != nil {
		return err
	}
	source := source{stages{o.Stages, map[string]protocol.Ticket{}}, cmp.Or(o.Base, baseOID), o.Journal}
	for _, text := range o.Tokens {
		t, err := protocol.ParseToken(text)
		if err != nil {
			return err
		}
		source.tickets[t.Ticket] = protocol.Ticket{Secret: t.Secret, Expires: time.Now().Add(time.Hour)}
	}
	e, err := jetstream.Home(jetstream.Link{URL: o.URLs, Fleet: fleet, Many: 3})
	if err != nil {
		return err
	}
	log, err := journal.Open(o.Journal)
	if err != nil {
		return err
	}
	h := &home.Home{Engine: e, Key: key, Fleet: fleet, Program: "test", Source: source, Lost: lost, Again: 300 * time.Millisecond, MaxPack: 1 << 20}
	if o.Host != "" {
		bin, err := git.Find(context.Background())
		if err != nil {
			return err
		}
		host, err := git.Discover(context.Background(), bin, o.Host)
		if err != nil {
			return err
		}
		h.Packs = packsAt(host.Repo, o.Journal)
	}
	if err := h.Open(log); err != nil {
		return err
	}
	testfleet.Ready()
	go testfleet.AwaitParentThenExit()
	return h.Run(context.Background())
}

// runNode is the process of a node, whose stages take a few milliseconds.
func runNode(o order) error {
	key, err := nkeys.FromSeed([]byte(o.Seed))
	if err != nil {
		return err
	}
	public, err := key.PublicKey()
	if err != nil {
		return err
	}
	token, err := protocol.ParseToken(o.Tokens[0])
	if err != nil {
		return err
	}
	e, err := jetstream.Node(jetstream.Link{URL: o.URLs, Fleet: fleet}, public)
	if err != nil {
		return err
	}
	n := &node.Node{
		Engine: listening{e, o.Heard}, Key: key, Home: protocol.Node{Fleet: fleet, Home: token.Home, Key: public}, Program: "test",
		Classes: []string{home.AnyClass}, Slots: slots, Beat: lost / 5,
		Run: func(ctx context.Context, _ *node.Hold, _ protocol.Offer) (protocol.Result, error) {
			testwait.Pass(ctx, time.Duration(10+rand.IntN(50))*time.Millisecond)
			return protocol.Result{Base: baseOID, Ending: "done", Chain: "none"}, ctx.Err()
		},
	}
	if o.Base != "" {
		works, err := o.filesNode()
		if err != nil {
			return err
		}
		n.Run = works.run
	}
	n.Run = o.keeping(n.Run)
	testfleet.Ready()
	go testfleet.AwaitParentThenExit()
	last := ""
	testwait.Until(alone{}, o.Name+" joins", func() bool {
		a, err := n.Join(context.Background(), token, o.Name)
		if now := fmt.Sprintln(o.Name, a, err); now != last {
			fmt.Fprint(os.Stderr, now)
			last = now
		}
		return err == nil && a.Verdict == protocol.Joined
	})
	n.Work(context.Background())
	return nil
}

// alone is what a process that belongs to a test has in place of the test.
type alone struct{}

func (alone) Helper() {}
func (alone) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// running is what a node does with a stage.
type running func(context.Context, *node.Hold, protocol.Offer) (protocol.Result, error)

// keeping holds each stage back while the file Keep is there, and runs it then.
func (o order) keeping(run running) running {
	return func(ctx context.Context, h *node.Hold, offer protocol.Offer) (protocol.Result, error) {
		for ctx.Err() == nil {
			if _, err := os.Stat(o.Keep); err != nil {
				break
			}
			testwait.Pass(ctx, 20*time.Millisecond)
		}
		return run(ctx, h, offer)
	}
}

// filesNode is a node in a new directory: one that was killed begins anew.
func (o order) filesNode() (*filesNode, error) {
	bin, err := git.Find(context.Background())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(o.Heard), "node-")
	if err != nil {
		return nil, err
	}
	return newFilesNode(context.Background(), bin, dir, git.OID(o.Base))
}

// world is a fleet of processes, and the journal that they leave.
type world struct {
	t       *testing.T
	cluster *testfleet.Cluster
	lines   *testfleet.Lines // between the home and the servers
	dir     string           // of the journal
	home    order
	nodes   []order
	running map[string]*exec.Cmd
}

func newWorld(t *testing.T, count int) *world { return newWorldOf(t, count, nil) }

// newWorldOf is a fleet whose stages have the files of a repository; nil: none.
func newWorldOf(t *testing.T, count int, files *filesFleet) *world {
	c, err := testfleet.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	w := &world{t: t, cluster: c, dir: filepath.Join(t.TempDir(), "journal"), running: map[string]*exec.Cmd{}}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lines, near, err := testfleet.NewLines(c.URLs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lines.Close)
	w.lines = lines
	seed, key := newKey(t)
	w.home = order{URLs: near, Journal: w.dir, Seed: seed, Stages: count}
	base, heard := "", t.TempDir()
	if files != nil {
		base = string(files.base)
		w.home.Host, w.home.Base = files.top, base
	}
	for i := range nodes {
		token := protocol.Token{Address: "x", Home: key, Fleet: fleet, Ticket: fmt.Sprint("t", i), Secret: []byte(fmt.Sprint("the secret of node ", i))}.String()
		w.home.Tokens = append(w.home.Tokens, token)
		seed, _ := newKey(t)
		name := fmt.Sprint("node-", i)
		w.nodes = append(w.nodes, order{
			URLs: c.URLs(), Seed: seed, Tokens: []string{token}, Name: name, Base: base,
			Heard: filepath.Join(heard, name), Keep: filepath.Join(heard, name+".keep"),
		})
	}
	t.Cleanup(func() {
		for name := range w.running {
			w.kill(name)
		}
	})
	w.start("home")
	for i := range nodes {
		w.start(fmt.Sprint("node-", i))
	}
	return w
}

func newKey(t *testing.T) (seed, public string) {
	t.Helper()
	k, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Seed()
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return string(s), p
}

// start starts the home, or node-N.
func (w *world) start(name string) {
	w.t.Helper()
	variable, o := asHome, w.home
	if at, ok := strings.CutPrefix(name, "node-"); ok {
		i, err := strconv.Atoi(at)
		if err != nil {
			w.t.Fatal(err)
		}
		variable, o = asNode, w.nodes[i]
	}
	text, err := json.Marshal(o)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.running[name], err = testfleet.Again(variable + "=" + string(text)); err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
}

func (w *world) kill(name string) {
	_ = w.running[name].Process.Kill()
	_ = w.running[name].Wait()
	delete(w.running, name)
}

func (w *world) signal(name string, s syscall.Signal) {
	w.t.Helper()
	if err := w.running[name].Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

// stopHolding stops a node that keeps its stages, until another node has got one of them.
func (w *world) stopHolding(ctx context.Context, name string) {
	w.t.Helper()
	worker, grants := "", 0
	for ; ctx.Err() == nil; testwait.Pass(ctx, 100*time.Millisecond) {
		now := w.read()
		if worker == "" {
			if worker = now.held(name); worker != "" {
				grants = now.granted[worker]
				w.signal(name, syscall.SIGSTOP)
			}
			continue
		}
		if now.granted[worker] > grants {
			w.t.Logf("%s held %s", name, worker)
			return
		}
	}
	w.t.Fatalf("no grant of %s goes to another node: it held %q", name, worker)
}

// keep makes a node hold back the stages that it gets, or lets it finish them.
func (w *world) keep(name string, on bool) {
	w.t.Helper()
	for _, o := range w.nodes {
		if o.Name != name {
			continue
		}
		var err error
		if on {
			err = os.WriteFile(o.Keep, nil, 0o600)
		} else {
			err = os.Remove(o.Keep)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// outcome is what the journal says.
type outcome struct {
	granted, returned map[string]int
	holder            map[string]string // the nodes with the newest grants of stages without a result
	refused           map[string]int    // by key
	joined            map[string]string // names of nodes by key
	wrong             []string          // returns that were not the newest grant's
}

// held is a stage that a node has; "": it has none.
func (o outcome) held(name string) string {
	for worker, at := range o.holder {
		if at == name {
			return worker
		}
	}
	return ""
}

func (w *world) read() outcome {
	w.t.Helper()
	log, err := journal.Open(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	events, err := log.Events() // the chain is verified
	if err != nil {
		w.t.Fatal(err)
	}
	o := outcome{granted: map[string]int{}, returned: map[string]int{}, holder: map[string]string{}, refused: map[string]int{}, joined: map[string]string{}}
	fences := map[string]uint64{}
	for _, e := range events {
		switch e.Type {
		case home.Granted:
			var g home.Grant
			if err := json.Unmarshal(e.Data, &g); err != nil {
				w.t.Fatal(err)
			}
			o.granted[e.Worker]++
			o.holder[e.Worker] = g.Name
			fences[e.Worker] = e.Seq
		case home.Returned:
			var r home.Return
			if err := json.Unmarshal(e.Data, &r); err != nil || r.Fence != fences[e.Worker] {
				o.wrong = append(o.wrong, fmt.Sprintf("%s with fence %d, not %d (%v)", e.Worker, r.Fence, fences[e.Worker], err))
			}
			o.returned[e.Worker]++
			delete(o.holder, e.Worker)
		case home.Refused:
			var r home.Refusal
			if err := json.Unmarshal(e.Data, &r); err != nil {
				w.t.Fatal(err)
			}
			o.refused[r.Node]++
		case home.Joined:
			var m home.Member
			if err := json.Unmarshal(e.Data, &m); err != nil {
				w.t.Fatal(err)
			}
			o.joined[m.Key] = m.Name
		}
	}
	return o
}

// await waits until so many stages have their result.
func (w *world) await(ctx context.Context, want int) {
	w.t.Helper()
	for {
		o := w.read()
		if len(o.returned) >= want {
			return
		}
		if !testwait.Pass(ctx, 200*time.Millisecond) {
			w.t.Fatalf("%d of %d stages have a result", len(o.returned), want)
		}
	}
}
