package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nkeys"

	"cordon/internal/assignment"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
)

// failingClient is a client that fails with an error.
func failingClient(why string) string {
	return `#!/bin/sh
case "$*" in *--version*) echo codex-cli 0.166.0; exit;; esac
echo '{"type":"error","message":"` + why + `"}'
exit 1
`
}

// codexNode is a machine that becomes a node with a client of the test's.
type codexNode struct{ machine }

func (n codexNode) bin() string { return filepath.Join(n.dir, "bin") }

// install replaces the client. One that runs keeps what it has begun with.
func (n codexNode) install(client string) {
	n.t.Helper()
	if err := os.MkdirAll(n.bin(), 0o755); err != nil {
		n.t.Fatal(err)
	}
	at := filepath.Join(n.bin(), "codex")
	syscall.ForkLock.RLock() // a process that another test starts would have it open for writing too: "text file busy"
	err := os.WriteFile(at+".new", []byte(client), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := os.Rename(at+".new", at); err != nil {
		n.t.Fatal(err)
	}
}

// join starts the node.
func (n codexNode) join(token string) {
	n.t.Helper()
	node := n.command("node", "--name", "one", "-")
	node.Env = append(node.Env, "PATH="+n.bin()+":"+programs+":"+os.Getenv("PATH"), "CODEX_API_KEY=none")
	n.follow(token, node).await("ready")
}

// TestRateLimit: a rate limit that the client of a stage meets on one node holds back the stages of that provider on the
// others, whichever client they use.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	here, one, two := newProject(t), codexNode{newMachine(t)}, newMachine(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0")
	one.install(failingClient("429 Too Many Requests: try again in 500s"))
	one.join(here.token())
	two.start(here.token(), "node", "--name", "two", "--clients", "opencode", "-").await("ready")

	_, said := here.cordon(6, "run", "--on", "one", "codex", "--", "x")
	if w := here.worker(nameIn(said)); w.Client == nil || len(w.Client.Limits) != 1 || !strings.Contains(w.Client.Limits[0], "429 Too Many Requests") {
		t.Errorf("the home knows of no limit: %+v\n%s", w.Client, said)
	}
	const why = "the provider openai is asked too often"
	out, _ := here.cordon(0, "run", "-d", "--fleet", "opencode", "--model", "openai/any", "--", "x")
	held := strings.TrimSpace(out)
	eventually(t, "it waits for the provider", func() bool { return strings.HasSuffix(here.worker(held).Activity, why) })
	if said := here.run("ls"); !strings.Contains(said, why) {
		t.Error(said)
	}
	// A stage of another provider is given to the node meanwhile, which does not really have the client.
	if _, said := here.cordon(6, "run", "--fleet", "opencode", "--model", "anthropic/any", "--", "x"); !strings.Contains(said, "not on the worker's PATH") {
		t.Error(said)
	}
	if w := here.worker(held); !strings.HasSuffix(w.Activity, why) {
		t.Errorf("%s: %s", w.Status, w.Activity)
	}
}

// limitedPlan has one stage, which is not tried again when it fails.
const limitedPlan = `version: 1
plan: limited
stages:
  - {id: make, task: The parts., write: [src], acceptance: ["test -e src/done"]}
`

// startLimitedPlan runs the plan on the fleet.
func startLimitedPlan(here machine) *process {
	here.t.Helper()
	file := filepath.Join(here.dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(limitedPlan), 0o644); err != nil {
		here.t.Fatal(err)
	}
	return here.follow("", here.cordonCommand("plan", "run", "--merge", "--fleet", file, "--agent", "codex"))
}

// returned are the lines of a plan that say what a node returned.
func (p *process) returned() (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.said {
		if strings.Contains(line, " returned ") {
			lines = append(lines, line)
		}
	}
	return lines
}

const limitedWord = "its provider is asked too often"

// TestRateLimitedStage: a stage of a plan that fails on a node because its provider is asked too often waits for the
// provider and goes on, which uses up no try. A stage that fails for another reason is not tried again.
func TestRateLimitedStage(t *testing.T) {
	t.Parallel()
	here, one := newProject(t), codexNode{newMachine(t)}
	_, _ = startHome(here, "--listen", "127.0.0.1:0")
	one.install(failingClient("429 Too Many Requests: try again in 10s")) // a few of these end the plan: see TestRateLimitEnds
	one.join(here.token())
	plan := startLimitedPlan(here)
	plan.await(limitedWord)
	plan.await("waits until")
	one.install(failingClient("the disk is full"))
	plan.await("make again: ")
	if code := plan.ends(); code == 0 {
		t.Error("the plan succeeds")
	}
	lines := plan.returned()
	if len(lines) == 0 || strings.Contains(lines[len(lines)-1], limitedWord) {
		t.Errorf("the last failure counts as a limit, or there is none:\n%s", strings.Join(lines, "\n"))
	}
	for _, line := range lines[:max(0, len(lines)-1)] { // it may have begun before the client was another
		if !strings.Contains(line, limitedWord) {
			t.Errorf("the stage was tried again after a failure:\n%s", strings.Join(lines, "\n"))
		}
	}
}

// TestRateLimitEnds: a node whose stages fail again and again because of their provider does not keep a plan for ever.
func TestRateLimitEnds(t *testing.T) {
	here, one := newProject(t), codexNode{newMachine(t)}
	_, _ = startHome(here, "--listen", "127.0.0.1:0")
	one.install(failingClient("429 Too Many Requests: try again in 1s"))
	one.join(here.token())
	plan := startLimitedPlan(here)
	for range 5 { // as at home
		plan.await(limitedWord)
		plan.await("make again: ")
	}
	plan.await(limitedWord)
	if code := plan.ends(); code == 0 {
		t.Error("the plan succeeds")
	}
	if more := plan.returned(); len(more) > 0 {
		t.Errorf("it goes on:\n%s", strings.Join(more, "\n"))
	}
}

// TestUnreportedRateLimit: a node says that a stage failed because of its provider, and reported no limit while the stage ran. The
// stage waits all the same, so that such a node is not asked again and again.
func TestUnreportedRateLimit(t *testing.T) {
	t.Parallel()
	here := newProject(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0")
	startLiar(here, func(_ context.Context, _ *node.Hold, o protocol.Offer) (r protocol.Result, err error) {
		_, terms, err := assignment.Open(o.Terms)
		return protocol.Result{Base: string(terms.Base), Exit: 1, Ending: "failed", Limited: true}, err
	})
	plan := startLimitedPlan(here)
	plan.await(limitedWord)
	plan.await("waits until")
}

// startLiar starts a node that says of a stage what the test wants.
func startLiar(here machine, run func(context.Context, *node.Hold, protocol.Offer) (protocol.Result, error)) {
	here.t.Helper()
	token, err := protocol.ParseToken(here.token())
	if err != nil {
		here.t.Fatal(err)
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		here.t.Fatal(err)
	}
	guest, err := connectNode(token, key)
	if err != nil {
		here.t.Fatal(err)
	}
	a, err := guest.Join(here.t.Context(), token, "liar")
	if err != nil || a.Verdict != protocol.Joined {
		here.t.Fatal(a.Say, err)
	}
	guest.Engine.Close() // the rights of a node are for its next connection
	n, err := connectNode(token, key)
	if err != nil {
		here.t.Fatal(err)
	}
	n.Run, n.Can = run, func() protocol.Can { return protocol.Can{Clients: []string{"codex"}} }
	if _, err := n.Hello(here.t.Context()); err != nil {
		here.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { n.Work(ctx) })
	here.t.Cleanup(func() {
		stop()
		work.Wait()
		n.Engine.Close()
	})
}
