package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/fleet/protocol"
	"cordon/internal/journal"
	"cordon/internal/testfleet"
	"cordon/internal/testground"
)

// TestFleetLandsAll runs a plan over three servers and eight nodes, with real workers in cells and the real gate, while
// everything goes wrong once. Each stage lands, and lands once; every result that a node was refused is in the journal; nothing is left behind.
func TestFleetLandsAll(t *testing.T) {
	count, limit := 32, 15*time.Minute
	if testground.Wanted() == testground.Full {
		count, limit = 300, 90*time.Minute
	}
	f := newFullFleet(t, count, limit)
	f.run([]fault{
		{0, "a node that sends a result is cut off past its grant", f.cutNode},
		{5, "the server that leads is killed", f.killLeader},
		{20, "a node is killed, and comes back", func() { f.strike("killed", f.killNode, func(*fullNode) {}) }},
		{30, "a node is stopped past its grant", func() {
			f.strike("stopped", send(syscall.SIGSTOP), send(syscall.SIGCONT))
		}},
		{45, "the server comes back: nodes have got new stages without it", func() { f.must(f.cluster.Start(f.killed)) }},
		{50, "the engine loses everything", func() { f.must(f.cluster.Lose()) }},
		{60, "the home is killed, and comes back", func() { f.home.kill(); f.startHome() }},
		{70, "the home and the servers are parted", f.cutHome},
	})
	f.check(f.read())
	f.endAll()
}

const (
	fullNodes = 8
	fullLost  = 3 * beat
)

// fullPolicy lets workers write below src. Each stage has its own acceptance command.
const fullPolicy = `version: 1
filesystem:
  write_roots: [src]
`

// fullWork writes the name of the stage into a file of that name. A stage whose work counts twice has two lines there. A large result takes a
// while to send.
const fullWork = `s=$(cordon briefing | grep -o 'write stage-[0-9]*' | head -n 1); s=${s#write }; echo "$s" >>"src/$s"
if cordon briefing | grep -q 'and a large file'; then head -c 3000000 /dev/urandom >"src/$s.large"; fi`

// large reports whether the result of a stage is large: some after the middle.
func (f *fullFleet) large(i int) bool { return i >= f.count/2 && i < f.count/2+3 }

// fullNode is a node of its own directory and its own line to the servers.
type fullNode struct {
	machine
	*process
	name, key string
	lines     *testfleet.Lines
	before    []string // what it said before it was killed
	away      bool     // it is the victim of a fault
}

// saidAll is all that the node has said.
func (n *fullNode) saidAll() []string {
	n.process.mu.Lock()
	defer n.process.mu.Unlock()
	return slices.Concat(n.before, n.process.said)
}

// says counts the lines that hold a text.
func (n *fullNode) says(text string) (count int) {
	for _, line := range n.saidAll() {
		if strings.Contains(line, text) {
			count++
		}
	}
	return count
}

// packs are those that the node has not got rid of yet: results, once it has the base of its stage.
func (n *fullNode) packs() bool {
	found, err := filepath.Glob(filepath.Join(n.dir, "data/cordon/fleet/*/packs/*.pack"))
	return err == nil && len(found) > 0
}

// send sends a signal to a node.
func send(s syscall.Signal) func(*fullNode) {
	return func(n *fullNode) {
		if err := n.cmd.Process.Signal(s); err != nil {
			n.machine.t.Fatal(err)
		}
	}
}

// fullFleet is a fleet of processes that work on one plan.
type fullFleet struct {
	t        *testing.T
	here     machine
	count    int
	late     time.Time
	cluster  *testfleet.Cluster
	killed   int              // the server
	lines    *testfleet.Lines // between the home and the servers
	near     string           // where the home reaches them
	home     *process
	nodes    []*fullNode
	plan     *process
	state    string // of the home's repository
	fleet    string
	begin    string // the commit that the plan begins with
	unproven []effect
}

// effect is what a fault has to lead to. Seen acts on what the journal says, and reports whether it is there.
type effect struct {
	what string
	seen func(outcome) bool
}

// fault happens after so many percent of the results.
type fault struct {
	after int
	what  string
	do    func()
}

func newFullFleet(t *testing.T, count int, limit time.Duration) *fullFleet {
	f := &fullFleet{t: t, here: newProject(t), count: count, late: time.Now().Add(limit)}
	f.must(os.WriteFile(filepath.Join(f.here.in, "cordon.yaml"), []byte(fullPolicy), 0o644))
	f.here.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qam", "policy")
	f.begin = f.here.git("rev-parse", "main")
	c, err := testfleet.New(t.TempDir())
	f.must(err)
	t.Cleanup(c.Stop)
	f.cluster = c
	f.lines, f.near = f.newLines()
	f.startHome()
	f.state = filepath.Dir(filepath.Dir(f.here.file("*/fleet/key")))
	for i := range fullNodes {
		f.join(fmt.Sprint("node-", i))
	}
	for _, n := range f.nodes {
		n.await("ready")
	}
	return f
}

func (f *fullFleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fullFleet) newLines() (*testfleet.Lines, string) {
	f.t.Helper()
	lines, near, err := testfleet.NewLines(f.cluster.URLs())
	f.must(err)
	f.t.Cleanup(lines.Close)
	return lines, near
}

func (f *fullFleet) startHome() {
	f.t.Helper()
	f.home, _ = startHome(f.here, "--url", f.near, "--address", f.cluster.URLs(), "--lost", fullLost.String())
}

// join starts a node that reaches the servers by a line of its own.
func (f *fullFleet) join(name string) {
	f.t.Helper()
	token, err := protocol.ParseToken(f.here.token())
	f.must(err)
	f.fleet = token.Fleet
	n := &fullNode{machine: newMachine(f.t), name: name}
	n.lines, token.Address = f.newLines()
	n.process = n.start(token.String(), "node", "--name", name, "-")
	n.await("joined as")
	n.key, err = n.machine.key(".fleet/*/key").PublicKey()
	f.must(err)
	f.nodes = append(f.nodes, n)
}

// writePlan writes a plan of stages that do not wait for each other.
func (f *fullFleet) writePlan() string {
	f.t.Helper()
	text := fmt.Sprintf("version: 1\nplan: full\nparallel: %d\nstages:\n", 2*fullNodes)
	for i := range f.count {
		name := fmt.Sprint("stage-", i)
		task := "write " + name
		if f.large(i) {
			task += " and a large file"
		}
		text += fmt.Sprintf("  - {id: %s, task: %s, write: [src/%[1]s, src/%[1]s.large], acceptance: [grep -qx %[1]s src/%[1]s]}\n", name, task)
	}
	at := filepath.Join(f.here.dir, "plan.yaml")
	f.must(os.WriteFile(at, []byte(text), 0o644))
	return at
}

// run runs the plan to its end, with the faults in their order.
func (f *fullFleet) run(faults []fault) {
	f.t.Helper()
	f.plan = f.here.follow("", f.here.cordonCommand("plan", "run", "--merge", "--fleet", f.writePlan(), "--", "sh", "-c", fullWork))
	began := time.Now()
	for _, one := range faults {
		f.until(one.what, func(o outcome) bool { return len(o.returned) >= f.count*one.after/100 })
		f.t.Logf("%4.0fs, after %d%%: %s", time.Since(began).Seconds(), one.after, one.what)
		one.do()
	}
	f.until("all stages land", func(o outcome) bool { return o.landed() >= f.count && len(f.unproven) == 0 })
	if code := f.plan.ends(); code != 0 {
		f.t.Errorf("the plan ends with %d:\n%s", code, f.plan.tail())
	}
	f.t.Logf("%4.0fs: all %d have landed", time.Since(began).Seconds(), f.count)
}

// until waits until the journal says something, and meanwhile lets the faults have their effects. It looks again whenever something has
// happened: to read and verify the whole journal takes a while.
func (f *fullFleet) until(what string, holds func(outcome) bool) {
	f.t.Helper()
	for {
		seen, ended := f.news(), f.plan.over()
		o := f.read()
		due := f.unproven
		f.unproven = nil
		for _, e := range due {
			if !e.seen(o) {
				f.unproven = append(f.unproven, e)
			}
		}
		if holds(o) {
			return
		}
		if ended || time.Now().After(f.late) {
			for _, e := range f.unproven {
				f.t.Errorf("this had no effect: %s", e.what)
			}
			f.t.Fatalf("before %q: %d of %d stages have a result, %d have landed, the plan has ended: %v\n%s",
				what, len(o.returned), f.count, o.landed(), ended, f.plan.tail())
		}
		eventually(f.t, "something happens before "+what, func() bool { return f.news() != seen || f.plan.over() })
	}
}

// news changes with each event of the journal, each line that a node says and each pack that it has, and with what waits at home.
func (f *fullFleet) news() string {
	head, _ := os.ReadFile(filepath.Join(f.state, journal.HeadFile)) // what is not there is no news
	waiting, _ := os.ReadFile(filepath.Join(f.state, "fleet/waiting.json"))
	text := string(head) + string(waiting)
	for _, n := range f.nodes {
		text += fmt.Sprint(" ", len(n.saidAll()), n.packs())
	}
	return text
}

func (f *fullFleet) killLeader() {
	f.t.Helper()
	var err error
	f.killed, err = f.cluster.Leader(f.t.Context(), "cordon-"+f.fleet)
	f.must(err)
	f.cluster.Kill(f.killed)
}

func (f *fullFleet) killNode(n *fullNode) {
	n.kill()
	n.before = n.saidAll()
	n.process = n.start("", "node")
}

// held is a stage that a node works on, which is no fault's victim. It has the base.
func (f *fullFleet) held(o outcome) (victim *fullNode, worker string) {
	for _, n := range f.nodes {
		for worker, at := range o.holder {
			if at == n.key && !n.away && n.says(worker+": got") > 0 {
				return n, worker
			}
		}
	}
	return nil, ""
}

// strike hits a node that works on a stage, and heals it when the stage was granted again. If its result was already on its way, it
// hits another.
func (f *fullFleet) strike(what string, hit, heal func(*fullNode)) {
	f.strikePicked(what, f.held, hit, heal)
}

// strikePicked hits a node of a certain kind.
func (f *fullFleet) strikePicked(what string, pick func(outcome) (*fullNode, string), hit, heal func(*fullNode)) {
	var n *fullNode
	var worker string
	grants := 0
	f.unproven = append(f.unproven, effect{what, func(o outcome) bool {
		if n == nil {
			if n, worker = pick(o); n != nil {
				hit(n)
				grants, n.away = o.granted[worker], true
			}
			return false
		}
		again := o.granted[worker] > grants
		if !again && o.returned[worker] == 0 {
			return false
		}
		f.t.Logf("%s was %s with %s; granted again: %v", n.name, what, worker, again)
		heal(n)
		n.away = false
		n = nil
		return again
	}})
}

// sending is a node that sends a result. That takes a moment, so it is waited for.
func (f *fullFleet) sending(outcome) (victim *fullNode, worker string) {
	eventually(f.t, "a node sends a result", func() bool {
		for _, n := range f.nodes {
			said := n.saidAll()
			last := said[max(0, len(said)-1):]
			if w, _, got := strings.Cut(strings.Join(last, ""), ": got "); got && !n.away && n.packs() {
				victim, worker = n, w
				return true
			}
		}
		return f.plan.over()
	})
	return victim, worker
}

// cutNode cuts a node off while it sends a result, until another node has got the stage. Then the journal says that the result was refused. If the
// node was told of its loss before it had sent more, it takes another stage, and another node is cut off.
func (f *fullFleet) cutNode() {
	f.strikePicked("cut off", f.sending, func(n *fullNode) { n.lines.Cut() }, func(n *fullNode) {
		begun, refused := n.says(": got"), f.read().refused[n.key]
		n.lines.Join()
		f.unproven = append(f.unproven, effect{"a result is refused", func(o outcome) bool {
			switch {
			case o.refused[n.key] > refused:
				return true
			case n.says(": got") > begun:
				f.cutNode()
				return true
			}
			return false
		}})
	})
}

// cutHome parts the home from the servers until it believes that a stage has lost its node. The stage has its result when they are
// together again.
func (f *fullFleet) cutHome() {
	f.t.Helper()
	for arrived := true; arrived; {
		var n *fullNode
		var worker string
		f.until("a node has a stage", func(o outcome) bool { n, worker = f.held(o); return n != nil })
		f.lines.Cut()
		f.until("the home misses its node", func(o outcome) bool {
			waiting, _ := os.ReadFile(filepath.Join(f.state, "fleet/waiting.json"))
			arrived = o.returned[worker] > 0
			return arrived || strings.Contains(string(waiting), `"`+worker+`"`)
		})
		f.lines.Join()
		f.until("it has its result", func(o outcome) bool { return o.returned[worker] > 0 })
	}
}

// endAll ends the home and the nodes as an operator does. No process of theirs is left.
func (f *fullFleet) endAll() {
	f.t.Helper()
	all := map[string]*process{"home": f.home}
	dirs := []string{f.here.dir}
	for _, n := range f.nodes {
		all[n.name] = n.process
		dirs = append(dirs, n.dir)
	}
	left := processesOf(dirs)
	if n := strings.Count(left, "\n"); n < len(all) { // the control
		f.t.Errorf("only %d processes are found:\n%s", n, left)
	}
	for _, p := range all {
		f.must(p.cmd.Process.Signal(syscall.SIGTERM))
	}
	for name, p := range all {
		if code := p.ends(); code != 0 {
			f.t.Errorf("%s ends with %d:\n%s", name, code, p.tail())
		}
	}
	defer func() {
		if left != "" {
			f.t.Log(left)
		}
	}()
	eventually(f.t, "no process is left", func() bool {
		left = processesOf(dirs)
		return left == ""
	})
}
