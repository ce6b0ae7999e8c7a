package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/view"
)

// newProject is a machine with a repository that has something in it.
func newProject(t *testing.T, env ...string) machine {
	m := newHome(t, env...)
	for name, text := range projectFiles() {
		at := filepath.Join(m.in, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.git("symbolic-ref", "HEAD", "refs/heads/main")
	m.git("add", ".")
	m.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qm", "begin")
	return m
}

// git runs git in the repository and returns what it prints.
func (m machine) git(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env, cmd.Dir = m.environ(), m.in
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (m machine) cordonCommand(args ...string) *exec.Cmd {
	return m.program(filepath.Join(programs, "cordon"), args...)
}

// cordon runs cordon on the machine, which ends with a code, and returns what it prints.
func (m machine) cordon(code int, args ...string) (out, said string) {
	m.t.Helper()
	cmd := m.cordonCommand(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		m.t.Fatalf("cordon %v ends with %d, not %d (%v):\n%s%s", args, got, code, err, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// worker is a worker as cordon shows it.
func (m machine) worker(id string) (w view.OneWorker) {
	m.t.Helper()
	out, _ := m.cordon(0, "show", "--json", id)
	if err := json.Unmarshal([]byte(out), &w); err != nil {
		m.t.Fatal(err)
	}
	return w
}

// got is how many bytes of a base a node was sent, by what it says.
func (p *process) got(stage string) int {
	p.t.Helper()
	line := p.await(stage + ": got")
	n, err := strconv.Atoi(regexp.MustCompile(`got (\d+) bytes`).FindStringSubmatch(line)[1])
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// nameIn is the name of the worker that cordon run speaks of.
func nameIn(said string) string { return strings.Fields(said)[0] }

// fleetRepository is where a node runs its stages.
func (m machine) fleetRepository() string {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.dir, "data/cordon/fleet/*/repository.git"))
	if err != nil || len(found) != 1 {
		m.t.Fatal(found, err)
	}
	return found[0]
}

// sleeps reports whether a worker runs on a node.
func sleeps(t *testing.T, m machine) bool {
	t.Helper()
	out, _ := m.cordon(0, "-C", m.fleetRepository(), "ls", "--json")
	var all view.Workers
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	for _, w := range all.Workers {
		if w.Status == "running" {
			return true
		}
	}
	return false
}

// TestAnswerWithoutHome kills the home while a worker on a node waits for an answer, which the operator gives before the home
// is there again. The node gets the answer, and its work is taken: nothing runs twice.
func TestAnswerWithoutHome(t *testing.T) {
	here, one := newProject(t), newMachine(t)
	home, address := startHome(here, "--listen", ownLoopback())
	one.start(here.token(), "node", "--name", "one", "-").await("ready")
	out, _ := here.cordon(0, "run", "-d", "--fleet", "--", "sh", "-c", `cordon ask --wait 10m "which way?" >src/done`)
	id := strings.TrimSpace(out)
	eventually(t, "its question comes", func() bool { return len(here.worker(id).Questions) == 1 })
	home.kill()
	here.cordon(0, "answer", id, "left")
	startHome(here, "--listen", address)
	here.cordon(0, "wait", id)
	if w := here.worker(id); w.Status != "merged" || !strings.Contains(here.git("show", "main:src/done"), "left") {
		t.Errorf("%s: %v", w.Status, w.Reasons)
	}
	if n := here.nodes()["one"]; n.Returned != 1 || n.Refused != 0 {
		t.Errorf("%d results were taken, %d refused", n.Returned, n.Refused)
	}
}

// TestStageSurvives kills the home and the session that waits for a stage: it lands, and lands once.
func TestStageSurvives(t *testing.T) {
	here, one := newProject(t), newMachine(t)
	home, address := startHome(here, "--listen", ownLoopback()) // a node that it has missed for long would begin again, and ask again
	one.start(here.token(), "node", "--name", "one", "-").await("ready")
	out, _ := here.cordon(0, "run", "-d", "--fleet", "--", "sh", "-c", `cordon ask --wait 10m "shall I go on?" >/dev/null; echo "$HOME" >>src/done`)
	id := strings.TrimSpace(out)
	eventually(t, "it asks", func() bool { return len(here.worker(id).Questions) == 1 })
	if err := syscall.Kill(here.worker(id).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	home.kill()
	startHome(here, "--listen", address)
	here.cordon(0, "answer", id, "yes")
	here.cordon(0, "resume", id)
	if at := here.git("show", "main:src/done"); at != one.dir {
		t.Errorf("it ran in %s", at)
	}
	if n := here.git("rev-list", "--count", "main"); n != "2" {
		t.Errorf("main has %s commits", n)
	}
	here.cordon(0, "journal", "verify")
}
