package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

// asking is a client that asks the real hook, with a warrant of its own.
type asking struct {
	t                            *testing.T
	dir, tree, warrant, decision string
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	dir := t.TempDir()
	a := &asking{t, dir, filepath.Join(dir, "tree"), filepath.Join(dir, "warrant.json"), filepath.Join(dir, "decisions")}
	if err := os.Mkdir(a.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	a.grant(time.Now(), nil)
	return a
}

// grant writes a warrant of an hour, with something before it.
func (a *asking) grant(begins time.Time, before []byte) {
	a.t.Helper()
	s, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brave-otter", Branch: "b", Base: git.OID(strings.Repeat("1", 40)), Target: "refs/heads/main",
			Created: begins, Expires: begins.Add(time.Hour), Executed: []string{}, Source: "test", Policy: policy.Default(),
		},
		Place: lease.Place{Worktree: a.tree, Home: filepath.Join(a.dir, "home")},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	w := guard.NewWarrant(s)
	w.Hosts, w.State, w.Private, w.Journal = []string{filepath.Join(a.dir, "host")}, filepath.Join(a.dir, "state"), true, a.decision
	b, err := json.Marshal(w)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(a.warrant, append(before, b...), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// input is what Claude says about a call.
func (a *asking) input(tool string, input map[string]any) io.Reader {
	a.t.Helper()
	b, err := json.Marshal(map[string]any{"session_id": "s", "cwd": a.tree, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input})
	if err != nil {
		a.t.Fatal(err)
	}
	return bytes.NewReader(b)
}

func (a *asking) runs(command string) io.Reader {
	return a.input("Bash", map[string]any{"command": command})
}

// hook is the hook, not yet started.
func (a *asking) hook(in io.Reader, more ...string) *exec.Cmd {
	cmd := exec.Command("cordon", append([]string{"hook", "--client", "claude", "--lease", a.warrant}, more...)...)
	cmd.Stdin = in
	return cmd
}

// try runs the hook. It must end by itself, and soon.
func (a *asking) try(cmd *exec.Cmd) outcome {
	a.t.Helper()
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	end := time.AfterFunc(8*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // how it ended is in ProcessState
	end.Stop()
	return ended(cmd, out.String(), errs.String())
}

// denied wants a denial that every client obeys.
func (a *asking) denied(what string, cmd *exec.Cmd, says string) {
	a.t.Helper()
	heard := cmd.Stderr == nil
	const inJSON = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",`
	if o := a.try(cmd); o.code != 2 || o.out != "" && !strings.HasPrefix(o.out, inJSON) || heard && (!strings.HasPrefix(o.err, "BLOCKED: ") || !strings.Contains(o.err, says)) {
		a.t.Errorf("%s: %+v", what, o)
	}
}

// recorded are the decisions so far.
func (a *asking) recorded() (list []guard.Record) {
	a.t.Helper()
	b, err := os.ReadFile(a.decision)
	if err != nil {
		return nil
	}
	if _, err := guard.ReadRecords(bytes.NewReader(b), func(r guard.Record) { list = append(list, r) }); err != nil {
		a.t.Fatal(err)
	}
	return list
}

// broken is a pipe that nobody reads.
func broken(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

const (
	harmless  = "ls"
	forbidden = "touch /usr/x"
	doubtful  = `rm -rf "$X"`
)

// A hook that dies of a signal has allowed the call.
func TestHookWithNobodyToTell(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	a.denied("the control", a.hook(a.runs(forbidden)), "")
	if o := a.try(a.hook(a.runs(doubtful), "--interactive")); o.code != 0 || !strings.Contains(o.out, `"ask"`) {
		t.Errorf("the control: %+v", o)
	}
	deaf := a.hook(a.runs(forbidden))
	deaf.Stderr = broken(t)
	a.denied("a denial", deaf, "")
	deaf = a.hook(a.runs(doubtful), "--interactive")
	deaf.Stdout = broken(t)
	a.denied("a question", deaf, "")
	deaf = exec.Command("cordon", "--json", "hook", "--client", "claude")
	deaf.Stderr = broken(t)
	a.denied("called wrongly", deaf, "")
}

// A question that goes nowhere is not asked; silence needs no ear.
func TestHookWithoutStdout(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for _, row := range []struct {
		command, to string
		code        int
	}{
		{doubtful, ">&-", 2}, {doubtful, ">/dev/null", 2}, {doubtful, ">/dev/full", 2}, {doubtful, "", 0},
		{harmless, ">&-", 0}, {harmless, ">/dev/null", 0}, {forbidden, ">&-", 2}, {forbidden, "2>&-", 2},
	} {
		cmd := exec.Command("sh", "-c", `exec cordon hook --client claude --interactive --lease "$1" `+row.to, "sh", a.warrant)
		cmd.Stdin = a.runs(row.command)
		if o := a.try(cmd); o.code != row.code {
			t.Errorf("%s %s: %+v", row.command, row.to, o)
		}
	}
}

// A hook that waits to be heard is taken for a yes when the client gives up.
func TestHookIntoAFullPipe(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, 4<<20)); err == nil {
		t.Fatalf("a pipe has room for %d bytes", n)
	}
	cmd := a.hook(a.runs(forbidden))
	cmd.Stderr = w
	a.denied("a denial", cmd, "")
}

// What has the name of a warrant is not read without an end.
func TestHookReadsAWarrantOnly(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	ours := a.warrant
	link, pipe := filepath.Join(a.dir, "link"), filepath.Join(a.dir, "pipe")
	if err := os.Symlink(ours, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	a.warrant = link
	if o := a.try(a.hook(a.runs(harmless))); o.code != 0 || o.err != "" {
		t.Errorf("a link: %+v", o)
	}
	for _, name := range []string{"/dev/zero", pipe, a.dir} {
		a.warrant = name
		a.denied(name, a.hook(a.runs(harmless)), "not a regular file")
	}
	a.warrant = ours
	a.grant(time.Now(), bytes.Repeat([]byte(" "), 1000))
	if o := a.try(a.hook(a.runs(harmless))); o.code != 0 {
		t.Errorf("the control: %+v", o)
	}
	a.grant(time.Now(), bytes.Repeat([]byte(" "), 1<<20))
	a.denied("a large one", a.hook(a.runs(harmless)), "larger than")
}

// A denial is recorded wherever the warrant says where to.
func TestHookRecordsItsFailures(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	silent, talks, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer talks.Close() // until then the hook waits for an input that does not come
	rows := []struct {
		what   string
		begins time.Duration
		cmd    *exec.Cmd
		says   string
	}{
		{"the control", 0, a.hook(a.runs(forbidden)), ""},
		{"a deadline", 0, a.hook(silent), "it took too long"},
		{"an argument", 0, a.hook(a.runs(harmless), "--nonsense", "x"), "unknown argument"},
		{"a client", 0, exec.Command("cordon", "hook", "--client", "nobody", "--lease", a.warrant), "unknown client"},
		{"no client", 0, exec.Command("cordon", "hook", "--lease", a.warrant), "needs --client"},
		{"an end", -2 * time.Hour, a.hook(a.runs(harmless)), "has expired"},
		{"a beginning", time.Hour, a.hook(a.runs(harmless)), "has not begun"},
		{"an input", 0, a.hook(strings.NewReader("{")), "not JSON"},
	}
	for i, row := range rows {
		a.grant(time.Now().Add(row.begins), nil)
		a.denied(row.what, row.cmd, row.says)
		list := a.recorded()
		if len(list) != i+1 || list[i].Verdict != guard.Deny || !strings.Contains(list[i].Reason, row.says) {
			t.Fatalf("%s: recorded %+v", row.what, list)
		}
	}
}

// Whatever stands before it, the hook answers as one.
func TestHookCalledOtherwise(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for _, args := range [][]string{
		{"hook"},
		{"--json", "hook"},
		{"--json", "hook", "--client", "codex", "--lease", a.warrant},
		{"--json", "hook", "--client", "codex", "--lease", a.warrant, "--help"},
		{"--json", "hook", "--nonsense"},
		{"--json", "hook", "more", "words"},
		{"-C", a.dir, "hook", "--client", "codex"},
	} {
		cmd := exec.Command("cordon", args...)
		cmd.Stdin = a.runs(harmless)
		a.denied(strings.Join(args, " "), cmd, "is called as cordon hook")
	}
	if o := a.try(exec.Command("cordon", "hook", "--help")); o.code != 0 || !strings.Contains(o.out, "--interactive") {
		t.Errorf("the help: %+v", o)
	}
}

// An agent is told what is wrong with its call, and is not sent to the operator.
func TestHookTellsAnAgentOfItsSlip(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for _, row := range []struct {
		tool  string
		input map[string]any
		says  string
	}{
		{"Write", map[string]any{"content": "x"}, "Write names no file"},
		{"Bash", map[string]any{"command": []string{"ls"}}, `"command" is not text`},
		{"Write", map[string]any{"file_path": "x", "content": strings.Repeat("x", 2<<20)}, "too long to be judged"},
	} {
		o := a.try(a.hook(a.input(row.tool, row.input)))
		if o.code != 2 || !strings.Contains(o.err, row.says) || !strings.Contains(o.err, "repeat the call with") || strings.Contains(o.err, "operator") {
			t.Errorf("%s: %+v", row.says, o)
		}
	}
	o := a.try(a.hook(strings.NewReader("{")))
	if o.code != 2 || !strings.Contains(o.err, "tell the operator") || strings.Count(o.err, "judged") != 1 {
		t.Errorf("a client that cannot speak: %+v", o)
	}
}
