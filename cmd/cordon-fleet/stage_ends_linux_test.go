package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// waits is a command that goes on until its question is answered.
const waits = `cordon ask --wait 10m "shall I go on?" >/dev/null; echo "$HOME" >>src/done`

// aside is a project with a home and a node that works on a stage which waits.
type aside struct {
	here, one machine
	node      *process
	id        string
}

func newAside(t *testing.T, more ...string) aside {
	t.Parallel()
	a := aside{here: newProject(t), one: newMachine(t)}
	short := strings.Replace(stagePolicy, "version: 1\n", "version: 1\nexpires: 80s\n", 1)
	if err := os.WriteFile(filepath.Join(a.here.dir, "short.yaml"), []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	startHome(a.here, "--listen", "127.0.0.1:0")
	a.node = a.one.start(a.here.token(), "node", "--name", "one", "-")
	a.node.await("ready")
	out, _ := a.here.cordon(0, append(append([]string{"run", "-d", "--fleet"}, more...), "--", "sh", "-c", waits)...)
	a.id = strings.TrimSpace(out)
	a.node.got(a.id)
	eventually(t, "a worker runs on the node", func() bool { return sleeps(t, a.one) })
	return a
}

// ended waits until the node has ended its worker and the home has removed all packs. Main has not moved.
func (a aside) ended(t *testing.T) {
	t.Helper()
	eventually(t, "the worker has ended", func() bool { return !sleeps(t, a.one) })
	eventually(t, "no pack is left", func() bool {
		left, err := filepath.Glob(filepath.Join(a.here.dir, "state/cordon/*/fleet/*/*.p*"))
		return err == nil && len(left) == 0
	})
	if n := a.here.git("rev-list", "--count", "main"); n != "1" {
		t.Errorf("main has %s commits", n)
	}
}

// A lease that expires while its stage runs ends the stage.
func TestStageExpires(t *testing.T) {
	a := newAside(t, "--policy", "../short.yaml")
	eventually(t, "the journal says why it ends", func() bool {
		out, _ := a.here.cordon(0, "journal")
		return strings.Contains(out, "its lease has expired")
	})
	eventually(t, "it has ended at home", func() bool { return a.here.worker(a.id).Status != "running" })
	a.ended(t)
}

// A worker can be discarded while its stage runs, once nobody waits for it.
func TestStageDiscarded(t *testing.T) {
	a := newAside(t)
	if _, said := a.here.cordon(3, "discard", "--yes", a.id); said == "" {
		t.Error("it is refused without a reason")
	}
	a.discard(t)
}

// discard ends the session at home and discards its worker, and waits until the stage has ended.
func (a aside) discard(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(a.here.worker(a.id).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its session has ended", func() bool { return a.here.worker(a.id).Status != "running" })
	a.here.cordon(0, "discard", "--yes", a.id)
	a.ended(t)
}

// A node that is removed while it has a stage ends with it, and the next node gets the stage.
func TestNodeRemoved(t *testing.T) {
	a := newAside(t)
	two := newMachine(t)
	other := two.start(a.here.token(), "node", "--name", "two", "-")
	other.await("ready")
	a.here.run("rm", "one")
	if code := a.node.ends(); code != 3 {
		t.Errorf("the removed node ends with %d", code)
	}
	eventually(t, "the worker has ended", func() bool { return !sleeps(t, a.one) })
	other.got(a.id)
	eventually(t, "it lands", func() bool {
		w := a.here.worker(a.id)
		for _, q := range w.Questions { // the first may be that of the removed node
			a.here.cordon(0, "answer", a.id, q.ID, "yes")
		}
		return w.Status == "merged"
	})
	if at := a.here.git("show", "main:src/done"); at != two.dir {
		t.Errorf("it ran in %s", at)
	}
}

// A node refuses a stage without a cell, and one that needs more than its operator gives workers,
// whatever its home says.
func TestNodeRefusesNoCell(t *testing.T) {
	a := newAside(t)
	repository := a.one.fleetRepository()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(repository), "stages", a.id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var assigned map[string]any
	if err := json.Unmarshal(text, &assigned); err != nil {
		t.Fatal(err)
	}
	assigned["command"] = []string{"true"}
	run := func(code int, isolation string) string {
		terms := assigned["terms"].(string)
		changed := strings.Replace(terms, `"isolation":"strict"`, `"isolation":"`+isolation+`"`, 1)
		if (changed == terms) != (isolation == "strict") {
			t.Fatalf("the terms are %s", terms)
		}
		assigned["terms"] = changed
		defer func() { assigned["terms"] = terms }()
		text, err := json.Marshal(assigned)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(a.one.dir, isolation+".json")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, said := a.one.cordon(code, "-C", repository, "run", "--terms", at)
		return said
	}
	run(0, "strict") // the control
	if said := run(3, "none"); !strings.Contains(said, "isolation: none cannot run on a node") {
		t.Error(said)
	}
	if said := run(3, "degraded"); !strings.Contains(said, "cordon config share isolation:degraded") {
		t.Error(said) // the consent of the home's operator is for the home
	}
	a.one.write(".config/cordon/config.yaml", "rights: {isolation: degraded}\n")
	run(0, "degraded")
	a.one.write(".config/cordon/config.yaml", "rights: {limits: {time: 1s}}\n")
	if said := run(3, "strict"); !strings.Contains(said, "needs more than the rights in the configuration of this node allow") {
		t.Error(said)
	}
	a.discard(t) // the stage would still write while its machine is removed
}
