package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/journal"
	"cordon/internal/ledger"
)

// saysWhere is an acceptance command that says on which machine it runs.
const saysWhere = `echo "tested in $HOME"; test -e src/done`

// newTested is a project whose acceptance is this command, and whose operator lets nodes test results of others.
func newTested(t *testing.T, command string, more ...string) machine {
	m := newProject(t)
	m.write("repo/cordon.yaml", "version: 1\nfilesystem: {write_roots: [src]}\nacceptance: ['"+command+"']\n"+strings.Join(more, "\n")+"\n")
	m.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qam", "policy")
	m.write(".config/cordon/config.yaml", "fleet: {acceptance: node}\n")
	return m
}

// write writes a file of the machine's user.
func (m machine) write(name, text string) {
	m.t.Helper()
	at := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// events are those of a type in the journal of a home, which is verified.
func (m machine) events(typ string) (list []journal.Event) {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.dir, "state", "cordon", "*", "journal*"))
	if err != nil || len(found) == 0 {
		m.t.Fatal(found, err)
	}
	log, err := journal.Open(filepath.Dir(found[0]))
	if err != nil {
		m.t.Fatal(err)
	}
	all, err := log.Events()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range all {
		if e.Type == typ {
			list = append(list, e)
		}
	}
	return list
}

func read[T any](t *testing.T, e journal.Event) (data T) {
	t.Helper()
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSlowTrial: with fleet.acceptance: node, the result of one node is tested on another one, and lands or is quarantined by what that
// says. Without another node it is tested at home.
func TestSlowTrial(t *testing.T) {
	slow(t)
	here, one, two := newTested(t, saysWhere), newMachine(t), newMachine(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0", "--lost", "6s")
	one.start(here.token(), "node", "--name", "one", "-").await("ready")

	t.Run("at home without another node", func(t *testing.T) {
		_, said := here.cordon(0, "run", "--on", "one", "--", "sh", "-c", "echo 1 >src/done")
		w := here.worker(nameIn(said))
		if c := w.Gate.Checks; len(c) != 1 || c[0].Node != "" || c[0].Output != "tested in "+here.dir+"\n" {
			t.Errorf("%+v", c)
		}
		if !strings.Contains(said, "at home: no node is ready but one, which made the result") {
			t.Error(said)
		}
		if n := len(here.events(ledger.TrialOffered)); n != 0 {
			t.Errorf("it was offered %d times", n)
		}
	})

	tester := two.start(here.token(), "node", "--name", "two", "-")
	tester.await("ready")
	t.Run("on the other node", func(t *testing.T) {
		_, said := here.cordon(0, "run", "--on", "one", "--", "sh", "-c", "echo 2 >src/done")
		id := nameIn(said)
		w := here.worker(id)
		if c := w.Gate.Checks; w.Status != "merged" || len(c) != 1 || c[0].Node != "two" || c[0].Output != "tested in "+two.dir+"\n" {
			t.Errorf("%s: %+v", w.Status, c)
		}
		if strings.Contains(said, here.dir) || !strings.Contains(said, "tested by two") {
			t.Errorf("something was tested at home:\n%s", said)
		}
		granted, returned := here.events(ledger.TrialGranted), here.events(ledger.TrialReturned)
		if len(granted) != 1 || len(returned) != 1 {
			t.Fatalf("%d grants, %d verdicts", len(granted), len(returned))
		}
		g, r := read[ledger.Grant](t, granted[0]), read[ledger.Return](t, returned[0])
		if granted[0].Worker != id || g.Name != "two" || g.Node != here.nodes()["two"].Key || r.Node != g.Node || r.Fence != granted[0].Seq {
			t.Errorf("%+v %+v", g, r)
		}
		if tree := here.git("rev-parse", "main^{tree}"); r.Verdict == nil || r.Verdict.Tree != tree {
			t.Errorf("%s was tested, not %s", r.Verdict.Tree, tree)
		}
		if out, _ := here.cordon(0, "logs", id); !strings.Contains(out, "acceptance on two") {
			t.Errorf("the transcript does not say who tested:\n%s", out)
		}
	})
	t.Run("the other way round", func(t *testing.T) {
		_, said := here.cordon(0, "run", "--on", "two", "--", "sh", "-c", "echo 3 >src/done")
		if c := here.worker(nameIn(said)).Gate.Checks; len(c) != 1 || c[0].Node != "one" {
			t.Errorf("%+v", c)
		}
	})
	tip := here.git("rev-parse", "main")
	t.Run("fails on the other node", func(t *testing.T) {
		_, said := here.cordon(4, "run", "--on", "one", "--", "sh", "-c", "rm src/done; echo x >src/more")
		w := here.worker(nameIn(said))
		if c := w.Gate.Checks; len(c) != 1 || c[0].Node != "two" || c[0].Code != 1 || c[0].Output != "tested in "+two.dir+"\n" {
			t.Errorf("%+v", c)
		}
		if w.Status != "quarantined" || !strings.Contains(strings.Join(w.Reasons, " "), "test -e src/done") {
			t.Errorf("%s: %v", w.Status, w.Reasons)
		}
	})
	t.Run("a node that refuses", func(t *testing.T) { // its operator gives workers less than the policy asks for
		two.write(".config/cordon/config.yaml", "rights: {limits: {time: 1s}}\n")
		_, said := here.cordon(0, "run", "--on", "one", "--", "sh", "-c", "echo 4 >src/done")
		if c := here.worker(nameIn(said)).Gate.Checks; len(c) != 1 || c[0].Node != "" || !strings.Contains(said, "at home: two could not test it:") {
			t.Errorf("%+v\n%s", c, said)
		}
		two.write(".config/cordon/config.yaml", "version: 1\n")
		tip = here.git("rev-parse", "main")
	})
	t.Run("a plan of both nodes", func(t *testing.T) {
		plan := filepath.Join(here.dir, "plan.yaml")
		here.write("plan.yaml", "version: 1\nplan: pair\nstages:\n  - {id: a, task: write a, write: [src/a]}\n  - {id: b, task: write b, write: [src/b]}\n")
		here.cordon(0, "plan", "run", "--fleet", plan, "--", "sh", "-c", `d=src/$(cordon briefing | grep -o 'write [ab]$' | cut -c7); mkdir -p $d; echo x >$d/x`)
		for _, e := range here.events(ledger.TrialGranted) {
			for _, r := range here.events(ledger.Returned) {
				if r.Worker == e.Worker && read[ledger.Return](t, r).Node == read[ledger.Grant](t, e).Node {
					t.Errorf("%s was tested by the node that made it", e.Worker)
				}
			}
		}
		tip = here.git("rev-parse", "main")
	})
	t.Run("setup fails on the other node", func(t *testing.T) {
		setup := `test "$HOME" != ` + two.dir
		here.write("repo/cordon.yaml", "version: 1\nfilesystem: {write_roots: [src]}\nsetup: ['"+setup+"']\nacceptance: ['true']\n")
		here.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qam", "setup")
		_, said := here.cordon(4, "run", "--on", "one", "--", "sh", "-c", "echo setup >src/done")
		if c := here.worker(nameIn(said)).Gate.Checks; len(c) != 1 || c[0].Node != "two" || c[0].Command != "setup: "+setup || c[0].Code != 1 {
			t.Errorf("%+v\n%s", c, said)
		}
	})
	t.Run("setup and paths", func(t *testing.T) {
		here.write("repo/cordon.yaml", `version: 1
filesystem: {write_roots: [src], scratch: [build]}
setup: ["mkdir -p build && echo prepared >build/prepared"]
acceptance:
  - {run: "test ! -e cordon.yaml && test -e build/prepared && cat src/done", paths: [src]}
  - test -e build/prepared && test -e cordon.yaml
`)
		here.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qam", "paths")
		_, said := here.cordon(0, "run", "--on", "one", "--", "sh", "-c", "echo paths >src/done")
		c := here.worker(nameIn(said)).Gate.Checks
		if len(c) != 2 || c[0].Node != "two" || c[1].Node != "two" || !strings.Contains(c[0].Command, "test -e cordon.yaml") || c[1].Output != "paths\n" {
			t.Errorf("%+v\n%s", c, said)
		}
		if out, _ := here.cordon(0, "show", nameIn(said)); !strings.Contains(out, "ended with 0 on two, which says so") {
			t.Error(out)
		}
	})
	t.Run("the setting is the operator's", func(t *testing.T) {
		here.write(".config/cordon/config.yaml", "version: 1\n")
		before := len(here.events(ledger.TrialOffered))
		_, said := here.cordon(0, "run", "--on", "one", "--", "sh", "-c", "echo 5 >src/done")
		if c := here.worker(nameIn(said)).Gate.Checks; len(c) != 2 || c[0].Node+c[1].Node != "" || strings.Contains(said, "at home") {
			t.Errorf("%+v\n%s", c, said)
		}
		if n := len(here.events(ledger.TrialOffered)); n != before {
			t.Errorf("it was offered %d times", n-before)
		}
		tip = here.git("rev-parse", "main")
	})
	if now := here.git("rev-parse", "main"); now != tip {
		t.Errorf("main has moved to %s", now)
	}
	for name, n := range here.nodes() {
		if n.Refused != 0 || len(n.Holds) != 0 {
			t.Errorf("%s: %d refused, holds %v", name, n.Refused, n.Holds)
		}
	}
	here.cordon(0, "journal", "verify")
}
