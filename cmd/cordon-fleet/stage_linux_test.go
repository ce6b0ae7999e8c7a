package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
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

// stagePolicy lets workers write below src, and lands what has the file src/done.
const stagePolicy = `version: 1
filesystem:
  write_roots: [src]
  deny_read: [secret]
acceptance: ["test -e src/done"]
`

// newProject is a machine with a repository that has something in it.
func newProject(t *testing.T, env ...string) machine {
	m := newHome(t, env...)
	large := make([]byte, 300_000)
	rand.Read(large)
	for name, text := range map[string]string{
		"cordon.yaml": stagePolicy, "src/large": base64.StdEncoding.EncodeToString(large), "src/old": "old\n", "secret/key": "hidden\n",
	} {
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

// TestStage runs the commands of workers on a node, as processes with homes of their own: what lands, what is
// quarantined, what is refused and what is stopped is decided at home.
func TestStage(t *testing.T) {
	t.Parallel()
	here, one := newProject(t), newMachine(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0", "--lost", "6s")
	node := one.start(here.token(), "node", "--name", "one", "-")
	node.await("ready")
	var first int

	t.Run("lands", func(t *testing.T) {
		_, said := here.cordon(0, "run", "--on", "one", "--", "sh", "-c",
			`echo "$HOME" >src/done; rm src/old; ln -s done src/link; printf '#!/bin/sh\n' >src/tool; chmod +x src/tool; test ! -s secret/key`)
		if first = node.got(nameIn(said)); first < 200_000 {
			t.Errorf("the node got %d bytes of the base", first)
		}
		if at := here.git("show", "main:src/done"); at != one.dir {
			t.Errorf("it ran in the home %s, not %s", at, one.dir)
		}
		changed := here.git("diff", "--raw", "--no-abbrev", "main~1", "main")
		for _, want := range []string{"src/done", "D\tsrc/old", "120000", "src/link", "100755"} {
			if !strings.Contains(changed, want) {
				t.Errorf("the landing lacks %s:\n%s", want, changed)
			}
		}
		if w := here.worker(nameIn(said)); w.Status != "merged" || !strings.Contains(strings.Join(w.Command, " "), "src/done") {
			t.Errorf("%s: %v", w.Status, w.Command)
		}
	})
	tip := here.git("rev-parse", "main")
	t.Run("quarantined", func(t *testing.T) {
		_, said := here.cordon(4, "run", "--fleet", "--", "sh", "-c", "echo more >>src/done; echo x >outside")
		if second := node.got(nameIn(said)); second*100 >= first {
			t.Errorf("the second stage was sent %d bytes, the first %d", second, first)
		}
		if w := here.worker(nameIn(said)); !strings.Contains(strings.Join(w.Reasons, " "), "outside") {
			t.Errorf("%v", w.Reasons)
		}
	})
	t.Run("fails", func(t *testing.T) {
		_, said := here.cordon(6, "run", "--on", "one", "--", "sh", "-c", "echo x >>src/done; exit 7")
		if w := here.worker(nameIn(said)); w.Exit == nil || w.Exit.Code != 7 {
			t.Errorf("%+v", w.Exit)
		}
	})
	t.Run("is not accepted at home, and tries again", func(t *testing.T) {
		_, said := here.cordon(4, "run", "--on", "one", "--", "sh", "-c",
			`if test -n "$CORDON_FEEDBACK"; then grep -c 'test -e src/done' "$CORDON_FEEDBACK" >src/done; else rm src/done; fi; echo x >>src/kept`)
		id := nameIn(said)
		if w := here.worker(id); !strings.Contains(strings.Join(w.Reasons, " "), "test -e src/done") {
			t.Errorf("%v", w.Reasons)
		}
		here.cordon(0, "resume", id)
		if kept := here.git("show", "main:src/kept"); kept != "x\nx" {
			t.Errorf("the second attempt began with %q", kept)
		}
		tip = here.git("rev-parse", "main")
	})
	t.Run("refused", func(t *testing.T) {
		servers := filepath.Join(here.dir, "servers.json")
		if err := os.WriteFile(servers, []byte(`{"mcpServers": {"x": {"command": "true", "env": {"KEY": "secret"}}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"--mcp", servers, "claude", "--", "x"}, {"--keep-history", "--", "true"}} {
			if _, said := here.cordon(3, append([]string{"run", "--on", "one"}, args...)...); !strings.Contains(said, "on a node cannot use") {
				t.Error(said)
			}
		}
	})
	t.Run("no node can run it", func(t *testing.T) {
		const why = "no node can run it: one does not have the client pi"
		out, _ := here.cordon(0, "run", "-d", "--fleet", "pi", "--", "x")
		id := strings.TrimSpace(out)
		eventually(t, "cordon show does not say why", func() bool { return here.worker(id).Activity == why })
		if said := here.run("ls"); !strings.Contains(said, why) || !strings.Contains(said, "0 of 1") {
			t.Error(said)
		}
		here.cordon(0, "stop", id)
		eventually(t, "it still waits", func() bool { return !strings.Contains(here.run("ls"), id) })
		waits := here.follow("", here.cordonCommand("run", "--on", "one", "pi", "--", "x"))
		waits.await(why)
	})
	t.Run("cannot run there", func(t *testing.T) { // the node says that it has a client which is not on the PATH of its workers
		bold := newMachine(t)
		p := bold.start(here.token(), "node", "--name", "bold", "--clients", "pi", "-")
		p.await("ready")
		_, said := here.cordon(6, "run", "--fleet", "pi", "--", "x")
		if !strings.Contains(said, "not on the worker's PATH") {
			t.Error(said)
		}
		here.run("rm", "bold")
		p.ends()
	})
	t.Run("prints and asks", func(t *testing.T) {
		out, _ := here.cordon(0, "run", "-d", "--on", "one", "--", "sh", "-c",
			`echo it begins; cordon ask --wait 100s "which way?" >src/answer; echo it goes on; cat src/answer`)
		id := strings.TrimSpace(out)
		eventually(t, "its output does not come", func() bool {
			out, _ := here.cordon(0, "logs", id)
			return strings.Contains(out, "it begins")
		})
		eventually(t, "its question does not come", func() bool { return len(here.worker(id).Questions) == 1 })
		if q := here.worker(id).Questions[0]; q.Text != "which way?" || q.ID != "q1" {
			t.Errorf("%+v", q)
		}
		here.cordon(0, "answer", "--", id, "-left")
		here.cordon(0, "wait", id)
		if got := here.git("show", "main:src/answer"); !strings.Contains(got, "-left") {
			t.Errorf("it heard %q", got)
		}
		if out, _ := here.cordon(0, "logs", id); strings.Count(out, "\nit begins\n") != 1 || !strings.Contains(out, "it goes on") {
			t.Errorf("its output:\n%s", out)
		}
		tip = here.git("rev-parse", "main")
	})
	t.Run("plan", func(t *testing.T) {
		text := `version: 1
plan: two-steps
stages:
  - {id: first, task: write a, write: [src]}
  - {id: second, task: write b, write: [src], after: [first]}
`
		if err := os.WriteFile(filepath.Join(here.dir, "plan.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		here.cordon(0, "plan", "run", "--fleet", filepath.Join(here.dir, "plan.yaml"), "--", "sh", "-c",
			`cordon briefing | grep -o 'write [ab]$' >>src/steps; echo "$HOME" >>src/steps`)
		if got := here.git("show", "main:src/steps"); got != "write a\n"+one.dir+"\nwrite b\n"+one.dir {
			t.Errorf("the stages wrote %q", got)
		}
		tip = here.git("rev-parse", "main")
	})
	t.Run("stopped", func(t *testing.T) {
		out, _ := here.cordon(0, "run", "-d", "--on", "one", "--", "sleep", "1000")
		id := strings.TrimSpace(out)
		eventually(t, "it does not run", func() bool { return here.worker(id).Status == "running" })
		node.got(id)
		here.cordon(0, "stop", id)
		if w := here.worker(id); w.Status != "ready" {
			t.Errorf("stopped: %s", w.Status)
		}
		eventually(t, "the node goes on with it", func() bool { return !sleeps(t, one) })
	})
	t.Run("for a node that is not there", func(t *testing.T) {
		two := newMachine(t)
		two.start(here.token(), "node", "--name", "two", "-").await("ready")
		refused := func(say string, args ...string) {
			t.Helper()
			_, said := here.cordon(3, args...)
			if !strings.Contains(said, say) || !strings.Contains(said, "cordon fleet join") {
				t.Error(said)
			}
		}
		plan := filepath.Join(here.dir, "plan.yaml")
		refused("has no node three; it has one, two", "run", "--on", "three", "--", "true")
		refused("has no node three; it has one, two", "plan", "run", plan, "--on", "three", "--", "true")
		here.run("drain", "two")
		waits := here.follow("", here.cordonCommand("run", "--on", "two", "--", "true"))
		id := nameIn(waits.await("two is draining"))
		here.run("rm", "two")
		waits.await("has removed the node two; it has one")
		if code, w := waits.ends(), here.worker(id); code != 3 || w.Status != "ready" {
			t.Errorf("it ends with %d, %s", code, w.Status)
		}
		refused("has removed the node two; it has one", "run", "--on", "two", "--", "true")
	})
	if now := here.git("rev-parse", "main"); now != tip {
		t.Errorf("main has moved to %s", now)
	}
	if err := node.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := node.ends(); code != 0 {
		t.Errorf("the node ends with %d", code)
	}
}

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

// TestSlowAnswerWithoutHome kills the home while a worker on a node waits for an answer, which the operator gives before the home
// is there again. The node gets the answer, and its work is taken: nothing runs twice.
func TestSlowAnswerWithoutHome(t *testing.T) {
	slow(t)
	here, one := newProject(t), newMachine(t)
	home, address := startHome(here, "--listen", "127.0.0.1:0", "--lost", "1m")
	one.start(here.token(), "node", "--name", "one", "-").await("ready")
	out, _ := here.cordon(0, "run", "-d", "--fleet", "--", "sh", "-c", `cordon ask --wait 10m "which way?" >src/done`)
	id := strings.TrimSpace(out)
	eventually(t, "its question does not come", func() bool { return len(here.worker(id).Questions) == 1 })
	home.kill()
	here.cordon(0, "answer", id, "left")
	startHome(here, "--listen", address, "--lost", "1m")
	here.cordon(0, "wait", id)
	if w := here.worker(id); w.Status != "merged" || !strings.Contains(here.git("show", "main:src/done"), "left") {
		t.Errorf("%s: %v", w.Status, w.Reasons)
	}
	if n := here.nodes()["one"]; n.Returned != 1 || n.Refused != 0 {
		t.Errorf("%d results were taken, %d refused", n.Returned, n.Refused)
	}
}

// TestSlowStageSurvives kills the node that has a stage, and then the home and the session that waits for another one: each
// lands, and lands once.
func TestSlowStageSurvives(t *testing.T) {
	slow(t)
	here := newProject(t)
	home, address := startHome(here, "--listen", "127.0.0.1:0", "--lost", "6s")
	nodes := map[string]*process{}
	machines := map[string]machine{}
	for _, name := range []string{"one", "two"} {
		machines[name] = newMachine(t)
		nodes[name] = machines[name].start(here.token(), "node", "--name", name, "-")
		nodes[name].await("ready")
	}
	runs := func(id string) (name string) {
		eventually(t, "no node has it", func() bool {
			for _, n := range here.nodes() {
				if len(n.Holds) > 0 {
					name = n.Name
				}
			}
			return name != "" && here.worker(id).Status == "running"
		})
		return name
	}

	// asks waits until its worker has asked so often: whether it goes on is up to the test.
	asks := func(id string, count int) {
		eventually(t, "it does not ask", func() bool { return len(here.worker(id).Questions) == count })
	}
	work := `cordon ask --wait 10m "shall I go on?" >/dev/null; echo "$HOME" >>src/done`

	out, _ := here.cordon(0, "run", "-d", "--fleet", "--", "sh", "-c", work)
	id := strings.TrimSpace(out)
	killed := runs(id)
	asks(id, 1)
	nodes[killed].kill()
	other := map[string]string{"one": "two", "two": "one"}[killed]
	nodes[other].got(id)
	asks(id, 2)
	here.cordon(0, "answer", id, "q2", "yes")
	here.cordon(0, "wait", id)
	if w := here.worker(id); w.Status != "merged" || here.git("show", "main:src/done") != machines[other].dir {
		t.Errorf("%s: %s", w.Status, here.git("show", "main:src/done"))
	}
	eventually(t, "the worker of the killed node goes on", func() bool { return !sleeps(t, machines[killed]) })

	out, _ = here.cordon(0, "run", "-d", "--fleet", "--", "sh", "-c", work)
	id = strings.TrimSpace(out)
	runs(id)
	asks(id, 1)
	if err := syscall.Kill(here.worker(id).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	home.kill()
	startHome(here, "--listen", address, "--lost", "6s")
	here.cordon(0, "answer", id, "yes")
	here.cordon(0, "resume", id)
	if n := here.git("rev-list", "--count", "main"); n != "3" {
		t.Errorf("main has %s commits", n)
	}
	here.cordon(0, "journal", "verify")
}
