package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/testmodel"
	"cordon/internal/testnet"
	"cordon/internal/view"
)

// agentsPlan has a stage for each node and one that builds on both. The client that cordon plan run names resolves conflicts.
const agentsPlan = `version: 1
plan: apart
stages:
  - {id: ask, agent: claude, task: The asking part., write: [src/way.txt], artifacts: [src/way.txt]}
  - {id: side, agent: codex, task: The side part., write: [src/side.txt], artifacts: [src/side.txt]}
  - id: last
    agent: claude
    after: [ask, side]
    reads: [ask, side]
    task: The last part.
    write: [src/last.txt]
    acceptance: ["cat src/way.txt src/side.txt | cmp - src/last.txt"]
`

// resolverPrompt is the beginning of what cordon asks a resolver.
const resolverPrompt = "Two results conflict. Your briefing names the files and both tasks"

// agentsScript is what the models do in the stages. The resolver takes out the markers, so both sides have to be there.
var agentsScript = func() testmodel.Script {
	claude := func(command string) []testmodel.Turn {
		return []testmodel.Turn{testmodel.Do(testmodel.Call{Tool: "Bash", Input: map[string]any{
			"command": command, "description": "a command", "timeout": 600_000}}), testmodel.Say("finished")}
	}
	codex := func(command string) []testmodel.Turn {
		return []testmodel.Turn{testmodel.Do(testmodel.Call{Tool: "exec_command", Input: map[string]any{"cmd": command}}), testmodel.Say("finished")}
	}
	return testmodel.Script{Sub: map[string][]testmodel.Turn{
		"The asking part.": claude("cordon ask --wait 9m 'left or right?' >src/way.txt; cordon done 'I went there.'"),
		"The side part.":   codex("echo by the side >src/side.txt; cordon done 'The side has one line.'"),
		"The last part.":   claude("cat src/way.txt src/side.txt >src/last.txt"),
		resolverPrompt: codex(`sed -i -e '/^|||||||/,/^=======/d' -e '/^<<<<<<</d' -e '/^=======/d' -e '/^>>>>>>>/d' src/way.txt; ` +
			`cordon done 'Both ways are there.'`),
	}}
}()

// agentsWorld is a home and two nodes. Each has a directory of its own, a network of its own and a model there, at the same port
// of the loopback: who asks the model of a network runs in it.
type agentsWorld struct {
	t              *testing.T
	here, one, two machine
	models         map[string]*testmodel.Model // by the name of the machine
	port           int
}

func newAgentsWorld(t *testing.T) *agentsWorld {
	w := &agentsWorld{t: t, here: newProject(t), one: newMachine(t), two: newMachine(t), models: map[string]*testmodel.Model{}}
	home := w.connect("home", &w.here)
	for name, m := range map[string]*machine{"one": &w.one, "two": &w.two} {
		node := w.connect(name, m)
		address := map[string]string{"one": "10.1.0.1", "two": "10.2.0.1"}[name]
		err := testnet.Connect(testnet.End{Network: home, Name: name, Address: netip.MustParseAddr(agentsHome)},
			testnet.End{Network: node, Name: "home", Address: netip.MustParseAddr(address)})
		if err != nil {
			t.Fatal(err)
		}
	}
	anthropic := []string{"ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL=" + w.models["one"].URL()}
	openai := []string{"OPENAI_API_KEY=test-key"}
	w.give(&w.here, "codex", openai)
	w.give(&w.one, "claude", anthropic)
	w.give(&w.two, "codex", openai)
	return w
}

// agentsHome is the address of the home in its network.
const agentsHome = "10.0.0.1"

// connect gives a machine a network with a model.
func (w *agentsWorld) connect(name string, m *machine) testnet.Network {
	w.t.Helper()
	network, err := testnet.NewNetwork()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { network.Close() })
	err = network.Do(func() error {
		model, err := testmodel.StartAt(agentsScript, w.port, nil, nil)
		w.models[name] = model
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.models[name].Close)
	m.net, w.port = network.Path(), w.models[name].Port()
	return network
}

// give installs a client on a machine, with the variables of its user's.
func (w *agentsWorld) give(m *machine, client string, variables []string) {
	w.t.Helper()
	bin, err := testmodel.Place(client, filepath.Join(m.dir, "clients"))
	if err != nil {
		w.t.Fatalf("the real client is not here: %v", err)
	}
	m.env = append(variables, "PATH="+bin+":"+programs+":"+os.Getenv("PATH"))
}

// join makes a machine a node with one client, whose user shares with it what the client needs.
func (w *agentsWorld) join(m machine, name, client string) {
	w.t.Helper()
	m.start(w.here.token(), "node", "--name", name, "--clients", client, "-").await("ready")
	m.share(m.fleetRepository(), fmt.Sprintf("port:%d", w.port))
}

// read reads what cordon prints with --json.
func (m machine) read(into any, args ...string) {
	m.t.Helper()
	out, _ := m.cordon(0, append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		m.t.Fatalf("%v in %s", err, out)
	}
}

// question waits for the first one in the inbox.
func (w *agentsWorld) question(plan *process) view.Inquiry {
	w.t.Helper()
	var inbox view.Inbox
	eventually(w.t, "a question is in the inbox", func() bool {
		over := plan.over()
		inbox = view.Inbox{}
		w.here.read(&inbox, "inbox")
		if over && len(inbox.Questions) == 0 {
			w.t.Fatalf("the plan ended without a question:\n%s", plan.tail())
		}
		return len(inbox.Questions) > 0
	})
	return inbox.Questions[0]
}

// granted are the nodes that ran workers.
func (w *agentsWorld) granted() map[string]string {
	w.t.Helper()
	var journal view.Journal
	w.here.read(&journal, "journal")
	nodes := map[string]string{}
	for _, e := range journal.Events {
		if e.Type != "+fleet.granted" {
			continue
		}
		var grant struct{ Name string }
		if err := json.Unmarshal(e.Data, &grant); err != nil {
			w.t.Fatal(err)
		}
		nodes[e.Worker] += grant.Name
	}
	return nodes
}

// asked are the stages whose clients asked the model of a machine.
func (w *agentsWorld) asked(name string) []string {
	stages := map[string]bool{}
	for _, r := range w.models[name].Requests() {
		if r.Sub != "" {
			stages[r.Sub] = true
		}
	}
	return slices.Sorted(maps.Keys(stages))
}

// TestAgentsFleet runs a plan with real clients on two nodes. One of them asks, and the operator answers at home, after they
// have changed the same file. A resolver at home brings both together, and the last stage builds on all of it.
func TestAgentsFleet(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes the networks of a home and two nodes")
	}
	w := newAgentsWorld(t)
	here := w.here
	here.commit("cordon.yaml", fmt.Sprintf("version: 1\nfilesystem: {write_roots: [src]}\n"+
		"secrets: [ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY]\nnetwork: {host_ports: [%d]}\n", w.port))
	here.commit("src/way.txt", "nowhere\n")
	here.share(".", fmt.Sprintf("port:%d", w.port))
	startHome(here, "--listen", agentsHome+":0")
	w.join(w.one, "one", "claude")
	w.join(w.two, "two", "codex")

	file := filepath.Join(here.dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(agentsPlan), 0o644); err != nil {
		t.Fatal(err)
	}
	plan := here.follow("", here.cordonCommand("plan", "run", "--merge", "--fleet", file, "--agent", "codex", "--",
		"-c", fmt.Sprintf(`model_providers.scripted={name="scripted",base_url="%s/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`, w.models["home"].URL()),
		"-c", `model_provider="scripted"`, "-c", `model="gpt-5.5"`))
	q := w.question(plan)
	eventually(t, "the other stage has landed", func() bool { // both would change the branch at once
		var shown view.Plan
		here.read(&shown, "plan", "show", "apart")
		return plan.over() || slices.ContainsFunc(shown.Stages, func(s view.StageNow) bool { return s.ID == "side" && s.State == "done" })
	})
	here.commit("src/way.txt", "as the operator says\n")
	var answer view.Answer
	here.read(&answer, "answer", q.Worker, "to the left")
	if q.Text != "left or right?" || answer.Question != q.ID {
		t.Errorf("the question was %+v, the answer is for %s", q, answer.Question)
	}
	<-plan.done
	if code := plan.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("the plan ends with %d:\n%s", code, strings.Join(plan.said, "\n"))
	}

	var shown view.Plan
	here.read(&shown, "plan", "show", "apart")
	workers := map[string]string{}
	for _, s := range shown.Stages {
		workers[s.ID] = s.Worker
		if s.State != "done" {
			t.Errorf("stage %s is %s: %s", s.ID, s.State, s.Why)
		}
	}
	if asker := here.worker(q.Worker); asker.Status != "discarded" || !strings.Contains(asker.Reason, "which resolved the conflict") {
		t.Errorf("the worker that asked is %s: %s", asker.Status, asker.Reason)
	}
	if got, want := here.git("show", "main:src/last.txt"), "as the operator says\nto the left\nby the side"; got != want {
		t.Errorf("landed %q, not %q", got, want)
	}
	want := map[string]string{q.Worker: "one", workers["side"]: "two", workers["last"]: "one"}
	if got := w.granted(); !maps.Equal(got, want) {
		t.Errorf("nodes of workers: %v, not %v", got, want)
	}
	for name, want := range map[string][]string{"home": {resolverPrompt}, "one": {"The asking part.", "The last part."}, "two": {"The side part."}} {
		if got := w.asked(name); !slices.Equal(got, want) {
			t.Errorf("%s ran %q, not %q", name, got, want)
		}
	}
	for name, results := range map[string]int{"one": 2, "two": 1} {
		if n := here.nodes()[name]; n.Returned != results || n.Refused != 0 {
			t.Errorf("of %s, %d results were taken and %d refused", name, n.Returned, n.Refused)
		}
	}
	here.cordon(0, "journal", "verify")
}
