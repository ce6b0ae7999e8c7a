package errand

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testwait"
)

func run(t *testing.T, e Errand) (Result, string) {
	t.Helper()
	var out bytes.Buffer
	e.Output = &out
	if e.Dir == "" {
		e.Dir = t.TempDir()
	}
	if e.Limit == 0 {
		e.Limit = time.Minute
	}
	return e.Run(t.Context()), out.String()
}

func TestArguments(t *testing.T) {
	e := Errand{
		Argv: []string{"printf", "%s|", "$CORDON_SUBJECT", "x${CORDON_COMMIT}y", "$OTHER $HOME `id` $CORDON_COMMITS", "$CORDON_SUBJECT_LINE"},
		Vars: []Var{{"CORDON_SUBJECT", "a; rm -rf / $CORDON_COMMIT"}, {"CORDON_COMMIT", "abc"}, {"CORDON_SUBJECT_LINE", "longer"}},
	}
	r, out := run(t, e)
	if !r.OK() || out != "a; rm -rf / $CORDON_COMMIT|xabcy|$OTHER $HOME `id` abcS|longer|" {
		t.Errorf("%+v %q", r, out)
	}
}

// A value does not become code of a shell. The shell finds it in its environment.
func TestShellCode(t *testing.T) {
	r, out := run(t, Errand{
		Argv: []string{"sh", "-c", `echo "$CORDON_SUBJECT|$1"`, "x", "$CORDON_SUBJECT"}, Vars: []Var{{"CORDON_SUBJECT", `"; echo evil; $(echo evil) "`}},
	})
	if want := `"; echo evil; $(echo evil) "|"; echo evil; $(echo evil) "` + "\n"; !r.OK() || out != want {
		t.Errorf("%+v %q", r, out)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("CORDON_OTHER", "x")
	r, out := run(t, Errand{Argv: []string{"sh", "-c", `echo "$CORDON_ID/$GIT_DIR/$CORDON_OTHER"; cat`}, Vars: []Var{{"CORDON_ID", "calm-yak"}}, Input: "given"})
	if !r.OK() || out != "calm-yak//\ngiven" || r.Tail != out {
		t.Errorf("%+v %q", r, out)
	}
}

func TestEnds(t *testing.T) {
	if r, _ := run(t, Errand{Argv: []string{"sh", "-c", "exit 7"}}); r.OK() || r.How() != "ended with 7" {
		t.Errorf("%+v", r)
	}
	if r, _ := run(t, Errand{Argv: []string{"no-such-program"}}); r.OK() || !strings.Contains(r.How(), "was not started: no-such-program: not found on PATH") {
		t.Errorf("%+v", r)
	}
	if r, _ := run(t, Errand{Argv: []string{"sleep", "60"}, Limit: 50 * time.Millisecond}); r.OK() || r.How() != "was ended after 50ms" {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := (Errand{Argv: []string{"sleep", "60"}, Limit: time.Minute}).Run(ctx); r.OK() || r.How() != "was interrupted" {
		t.Errorf("%+v", r)
	}
	if r, _ := run(t, Errand{Argv: []string{"sh", "-c", "yes | head -c 100000"}}); len(r.Tail) != maxTail {
		t.Errorf("%d bytes are kept", len(r.Tail))
	}
}

// What a command started ends with it, with a moment to do so by itself.
func TestEndsChildren(t *testing.T) { endsChild(t, "echo begun; exec sleep 600") }
func TestEndsStubbornChildren(t *testing.T) {
	endsChild(t, "trap '' TERM; echo begun; while :; do sleep 0.1; done")
}

// A program can leave the group of the command; it does not leave the session by that.
func TestEndsOtherGroups(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only the group is told here")
	}
	endsChild(t, "exec timeout 3600 sh -c 'echo begun; exec sleep 600'")
}

func endsChild(t *testing.T, child string) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan Result, 1)
	go func() {
		ended <- Errand{Argv: []string{"sh", "-c", `sh -c "$0" >fifo & wait`, child}, Limit: time.Hour, Dir: dir}.Run(ctx)
	}()
	held, err := os.Open(filepath.Join(dir, "fifo")) // until nobody has it for writing, reading goes on
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.Read(make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if r := <-ended; r.OK() || r.How() != "was interrupted" {
		t.Errorf("%+v", r)
	}
	over := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, held); close(over) }()
	testwait.Until(t, "the child has ended", func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
}

// A program where a worker could have written it does not run. The control runs it.
func TestWrittenPrograms(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, name := range []string{own, link, "own"} {
		if r, out := run(t, Errand{Argv: []string{name}}); !r.OK() || out != "ran\n" {
			t.Errorf("%s: %+v", name, r)
		}
		if r, out := run(t, Errand{Argv: []string{name}, Written: []string{dir}}); r.OK() || out != "" || !strings.Contains(r.How(), "could have written it") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	// Nor is one found by a program that it runs.
	if r, _ := run(t, Errand{Argv: []string{"sh", "-c", "own"}, Written: []string{dir}}); r.OK() {
		t.Errorf("%+v", r)
	}
	// In a checkout neither.
	tree := t.TempDir()
	if err := os.Mkdir(filepath.Join(tree, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	inTree := filepath.Join(tree, "bin", "own")
	if err := os.WriteFile(inTree, []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r, _ := run(t, Errand{Argv: []string{inTree}, Written: []string{tree}}); r.OK() {
		t.Errorf("%+v", r)
	}
}

// A closed environment has no variable that leads into a place in which workers write.
func TestClosed(t *testing.T) {
	tree, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(tree, link); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"LIB_A": tree + "/lib", "LIB_B": "/usr/lib:" + tree, "LIB_C": link + "/x/..", "LIB_D": "--require=" + tree + "/x.js", "PLAIN": "a/b", "ELSEWHERE": "/usr/lib",
	} {
		t.Setenv(name, value)
	}
	for closed, want := range map[bool][]string{false: {"LIB_A=", "LIB_B=", "LIB_C=", "LIB_D=", "PLAIN=", "ELSEWHERE="}, true: {"PLAIN=", "ELSEWHERE="}} {
		_, out := run(t, Errand{Argv: []string{"env"}, Written: []string{tree, "/usr/not/there"}, Closed: closed})
		for _, name := range []string{"LIB_A=", "LIB_B=", "LIB_C=", "LIB_D=", "PLAIN=", "ELSEWHERE="} {
			if has := strings.Contains("\n"+out, "\n"+name); has != slices.Contains(want, name) {
				t.Errorf("closed %v: %s is there: %v", closed, name, has)
			}
		}
	}
}
