package cell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cordon/internal/cell/plan"
)

func TestConfinedExitCodes(t *testing.T) {
	r := newRoom(t)
	for line, want := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 2": 2, "exit 77": 77, "exit 125": 125, "exit 127": 127, "exit 128": 128, "exit 255": 255,
		"kill -TERM $$": 143, "kill -KILL $$": 137, "kill -SEGV $$": 139, "kill -HUP $$": 129,
	} {
		exit, out, err := r.run("sh", "-c", line)
		if err != nil || exit.Code != want || exit.Reason != Exited || exit.Left != 0 {
			t.Errorf("%s: %+v, %v\n%s", line, exit, err, out)
		}
	}
}

func TestConfinedArguments(t *testing.T) {
	r := newRoom(t)
	args := []string{"two words", "a\nline", "", "-n", "$HOME", "`id`", "\xff\xfe not text", "\\", "é", strings.Repeat("long ", 5000), ""}
	want := strings.Join(args, "\x00") + "\x00"
	exit, out, err := r.run(append([]string{"sh", "-c", `for a; do printf '%s\0' "$a"; done`, "sh"}, args...)...)
	if err != nil || !exit.OK() || out != want {
		t.Errorf("%+v, %v: %.200q", exit, err, out)
	}
}

// A Spec is handed over as JSON, which has no place for bytes that are no text.
func TestConfinedEnvironmentAndNames(t *testing.T) {
	r := newRoom(t)
	dir := filepath.Join(r.tree, "sub dir\xff\n.")
	r.put(filepath.Join(dir, "here"), "x")
	r.command.Dir = dir
	r.command.Env = append(r.command.Env, "ODD=\xff=\n ", "EMPTY=", "no assignment")
	exit, out, err := r.run("sh", "-c", `cat here; test -z "$EMPTY" && printf %s "$ODD"`)
	if err != nil || !exit.OK() || out != "x\xff=\n " {
		t.Errorf("%+v, %v: %q", exit, err, out)
	}
}

func TestConfinedStdin(t *testing.T) {
	r := newRoom(t)
	file, err := os.Open(r.put(filepath.Join(r.outside, "in"), "from a file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pipe, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	go func() { _, _ = io.WriteString(write, "from a pipe"); write.Close() }()
	for name, c := range map[string]struct {
		in   io.Reader
		want string
	}{
		"nothing": {nil, ""}, "a reader": {strings.NewReader(strings.Repeat("x", 1<<20)), strings.Repeat("x", 1<<20)},
		"a file": {file, "from a file"}, "a pipe": {pipe, "from a pipe"},
	} {
		r.command.Stdin = c.in
		if out := r.sh("cat"); out != c.want {
			t.Errorf("%s: %d bytes, want %d", name, len(out), len(c.want))
		}
	}
}

// A worker that does not read must not keep anybody waiting for what was typed.
func TestConfinedStdinThatIsNotRead(t *testing.T) {
	r := newRoom(t)
	in, write := io.Pipe()
	defer write.Close()
	r.command.Stdin = in
	began := time.Now()
	exit, _, err := r.run("true")
	if took := time.Since(began); exit.Code != 0 || took > 60*time.Second { // what is typed never ends
		t.Errorf("%+v, %v after %v", exit, err, took)
	}
}

func TestConfinedOutputIsWhole(t *testing.T) {
	r := newRoom(t)
	for range 3 {
		if out := r.sh("head -c 9000000 /dev/zero; printf end"); len(out) != 9000003 || !strings.HasSuffix(out, "end") {
			t.Errorf("%d bytes", len(out))
		}
	}
	var out, errs bytes.Buffer
	r.command.Stdout, r.command.Stderr = &out, &errs
	r.sh("echo out; echo err >&2")
	if out.String() != "out\n" || errs.String() != "err\n" {
		t.Errorf("%q and %q", out.String(), errs.String())
	}
}

// An operator's log that a worker writes to is not the worker's to empty.
func TestConfinedOutputToAFile(t *testing.T) {
	r := newRoom(t)
	const line = `echo one; true >/proc/self/fd/1; echo two`
	for confined, want := range map[bool]string{true: "one\ntwo\n", false: "two\n"} {
		file, err := os.OpenFile(filepath.Join(r.outside, "log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		r.command.Stdout = file
		run := r.free
		if confined {
			run = r.run
		}
		exit, _, err := run("sh", "-c", line)
		if got := r.read(file.Name()); err != nil || !exit.OK() || got != want {
			t.Errorf("confined %v: %+v, %v: %q", confined, exit, err, got)
		}
		file.Close()
	}
}

func TestConfinedUmask(t *testing.T) {
	r := newRoom(t)
	defer syscall.Umask(syscall.Umask(0o027))
	if out := r.sh("umask; touch f; stat -c %a f"); out != "0027\n640\n" {
		t.Errorf("%q", out)
	}
}

func TestConfinedDescriptors(t *testing.T) {
	r := newRoom(t)
	leak, err := os.Open(r.put(filepath.Join(r.outside, "leak"), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, leak.Fd(), syscall.F_SETFD, 0); errno != 0 { // as a careless shell would
		t.Fatal(errno)
	}
	open := func(out string) []string { return strings.Fields(strings.TrimSpace(out)) }
	// The control first: starting a cell closes it to everything that is started later.
	if _, out, err := r.free("sh", "-c", "ls /proc/$$/fd"); err != nil || len(open(out)) == 3 {
		t.Errorf("the control shows nothing: without a cell it is %v, %v", open(out), err)
	}
	if got := open(r.sh("ls /proc/$$/fd")); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("descriptors in the cell: %v", got)
	}
}

func TestConfinedProgramThatIsNone(t *testing.T) {
	r := newRoom(t)
	r.put(filepath.Join(r.tree, "plain"), "x")
	r.put(filepath.Join(r.tree, "empty"), "")
	if err := os.Chmod(filepath.Join(r.tree, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.command.Started = func(Launch) error { return nil }
	for program, want := range map[string]struct {
		code int
		word string
	}{
		"no-such-program": {127, "not found"}, "./absent": {127, "no such file"}, ".": {127, "not found"},
		"./plain": {126, "permission denied"}, "./empty": {126, "exec format"},
	} {
		exit, out, err := r.run(program)
		if err == nil || exit.Reason != NotStarted || exit.Code != want.code || !strings.Contains(err.Error(), want.word) {
			t.Errorf("%s: %+v, %v %q", program, exit, err, out)
		}
	}
	if _, _, err := r.run("no-such-program"); err != nil && !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("the error does not name it: %v", err)
	}
}

// What is started as a daemon is gone when its command is, and counted.
func TestConfinedDaemons(t *testing.T) {
	for name, line := range map[string]string{
		"in the group":    `sleep %s & sleep 0.05`,
		"another session": `setsid sleep %s & sleep 0.05`,
		"forked twice":    `setsid sh -c '(setsid sleep %s & ) & ' & sleep 0.1`,
		"deaf":            `setsid sh -c 'trap "" TERM HUP INT; while :; do sleep %s; done' & sleep 0.05`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
			exit, out, err := r.run("sh", "-c", fmt.Sprintf(line, mark)+`; grep -la `+mark+` /proc/[0-9]*/cmdline >seen; exit 3`)
			if err != nil || exit.Code != 3 || exit.Reason != Exited || exit.Left == 0 {
				t.Errorf("%+v, %v\n%s", exit, err, out)
			}
			if r.read(filepath.Join(r.tree, "seen")) == "" {
				t.Error("the daemon never ran: this shows nothing")
			}
			if n := withArgument(t, mark); n != 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

// A daemon that keeps the output open keeps nobody waiting.
func TestConfinedDaemonWithTheOutput(t *testing.T) {
	r := newRoom(t)
	began := time.Now()
	r.sh(`setsid sh -c 'while :; do sleep 600; done' & echo started`)
	if took := time.Since(began); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestConfinedTimeLimit(t *testing.T) {
	for name, line := range map[string]string{
		"willing": `exec sleep %s`, "deaf": `trap "" TERM; while :; do sleep %s; done`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
			r.command.Limit = time.Second // it counts from before the cell is built, and the command is to run when it is over
			exit, _, err := r.run("sh", "-c", fmt.Sprintf(line, mark))
			if err != nil || exit.Reason != TimedOut || exit.OK() || exit.Code <= 128 {
				t.Errorf("%+v, %v", exit, err)
			}
			if n := withArgument(t, mark); n != 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

// The command's own handler runs, and what it makes of the signal counts.
func TestConfinedSignals(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			signals := make(chan os.Signal, 1)
			r.command.Signals = signals
			b := r.beginShell(`trap 'echo handled; exit 42' ` + name + `; echo 1 >ready; while :; do sleep 0.01; done`)
			r.appears(b, "ready")
			signals <- sig
			exit, out, err := b.end()
			if err != nil || exit.Code != 42 || exit.Reason != Exited || !strings.Contains(out, "handled") {
				t.Errorf("%+v, %v %q", exit, err, out)
			}
		})
	}
}

func TestConfinedInterrupted(t *testing.T) {
	r := newRoom(t)
	ctx, cancel := context.WithCancel(t.Context())
	b := r.begin(ctx, r.patient())
	r.appears(b, "ready")
	cancel()
	exit, _, err := b.end()
	if err != nil || exit.Reason != Interrupted || exit.Code != 0 || exit.OK() {
		t.Errorf("%+v, %v", exit, err)
	}
}

// patient is a command that ends by itself when it is asked to, however long that takes; it says in ready that it listens.
func (r *room) patient() Command {
	c := r.command
	c.Argv = []string{"sh", "-c", `trap 'exit 0' TERM; echo 1 >ready; while :; do sleep 0.01; done`}
	c.Grace = func() time.Duration { return time.Minute }
	return c
}

// A command without a cell that ends, such as one that asks a client for its version, ends what it left and
// none of the cells that run beside it.
func TestConfinedBesideAFreeCommand(t *testing.T) {
	r := newRoom(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, started := r.patient(), make(chan struct{})
	c.Started = func(Launch) error { close(started); return nil }
	b := r.begin(ctx, c)
	select {
	case <-started:
	case <-b.ended:
		t.Fatalf("it did not start: %+v, %v", b.exit, b.err)
	}
	if exit, _ := shellIn(t, t.TempDir(), `setsid sleep 600 &`); exit.Left != 1 {
		t.Errorf("the command left %d processes, want 1", exit.Left)
	}
	r.appears(b, "ready")
	cancel()
	if exit, _, err := b.end(); err != nil || exit.Reason != Interrupted || exit.Code != 0 {
		t.Errorf("the cell ended otherwise: %+v, %v", exit, err)
	}
}

// The launch is told before the first instruction, and can be refused.
func TestConfinedLaunch(t *testing.T) {
	r := newRoom(t)
	var told Launch
	r.command.Started = func(l Launch) error {
		told = l
		if r.read(filepath.Join(r.tree, "ran")) != "" {
			t.Error("the command has run already")
		}
		return nil
	}
	r.sh("echo 1 >ran")
	if told.Pid == 0 || !slices.Equal(told.Layers, plan.Every()) || told.Missing != nil || told.Landlock == 0 {
		t.Errorf("%+v", told)
	}
	for _, act := range []string{"write outside", "connect socket", "connect tcp", "signal parent", "capability", "landlock canary",
		"seccomp canary", "write inside"} {
		if !slices.Contains(told.Proven, act) {
			t.Errorf("%q is not proven: %v", act, told.Proven)
		}
	}
	no := errors.New("not this time")
	r.command.Started = func(Launch) error { return no }
	exit, _, err := r.run("sh", "-c", "echo 2 >ran")
	if !errors.Is(err, no) || exit.Reason != NotStarted || r.read(filepath.Join(r.tree, "ran")) != "1\n" {
		t.Errorf("%+v, %v: the command has run although nobody let it", exit, err)
	}
}

func TestConfinedInParallel(t *testing.T) {
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			r := newRoom(t)
			for range 2 {
				exit, out, err := r.run("sh", "-c", fmt.Sprintf("echo %d >mine; cat mine; exit %d", i, i+10))
				if err != nil || exit.Code != i+10 || out != fmt.Sprintf("%d\n", i) {
					t.Errorf("cell %d: %+v, %v %q", i, exit, err, out)
				}
			}
		})
	}
	all.Wait()
}

// Nothing of a cell is mounted on the host, while it runs and afterwards.
func TestConfinedMountsAreTheCells(t *testing.T) {
	mounts := func() string {
		b, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := mounts()
	r := newRoom(t)
	r.command.Started = func(Launch) error {
		if mounts() != before {
			t.Error("the host has other mounts while it runs")
		}
		return nil
	}
	if inside := r.sh("cat /proc/self/mountinfo"); strings.Count(inside, "\n") < 5 {
		t.Errorf("the cell has no mounts of its own: %s", inside)
	}
	if mounts() != before {
		t.Error("the host has other mounts afterwards")
	}
}

// The internal mode is not a command.
func TestInitRefusesWithoutItsDescriptors(t *testing.T) {
	plain, err := os.Create(filepath.Join(t.TempDir(), "plan"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.WriteString(`{"argv":["true"]}`); err != nil {
		t.Fatal(err)
	}
	memory, err := newPlan()
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if err := writeSealed(memory, plan.Spec{Argv: []string{"true"}, Dir: "/"}.Pack()); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	stream, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(stream[0]), "stream")
	defer socket.Close()
	defer syscall.Close(stream[1])
	for name, files := range map[string][]*os.File{
		"bare": nil, "a plain file for the plan": {plain, read}, "a plan without a line to cordon": {memory}, "a pipe for that line": {memory, read},
		"a stream for that line": {memory, socket}, "a pipe for the plan": {read, read},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Args, cmd.ExtraFiles = []string{"cordon", initWord}, files
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasPrefix(string(out), "cordon: ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A cell in which something that must fail succeeds never starts its command. Here a file that has
// to be hidden is shown.
func TestWrongProofStartsNothing(t *testing.T) {
	r := newRoom(t)
	secret, started := r.put(filepath.Join(r.outside, "secret"), "theirs"), false
	r.order.Canaries = []string{secret}
	r.command.Started = func(Launch) error { started = true; return nil }
	exit, out, err := r.run("sh", "-c", "echo x >ran")
	if err == nil || exit.Reason != NotStarted || !strings.Contains(err.Error(), "proof failed: read hidden was not refused") {
		t.Errorf("%+v, %v %s", exit, err, out)
	}
	if started || r.read(filepath.Join(r.tree, "ran")) != "" {
		t.Error("the command has run")
	}
	r.order.Hide = []string{secret} // the control
	if r.sh("echo x >ran"); !started || r.read(filepath.Join(r.tree, "ran")) != "x\n" {
		t.Error("with a right proof it does not run")
	}
}

// A hidden directory that shows something else than what was placed in it starts nothing.
func TestHiddenDirectoriesAreProven(t *testing.T) {
	r := newRoom(t)
	closed := filepath.Join(r.outside, "closed")
	r.put(filepath.Join(closed, "placed/file"), "for the worker")
	r.order.Hide = []string{closed}
	r.order.Bind = append(r.order.Bind, plan.Bind{From: closed + "/placed", At: closed + "/placed"})
	if out := r.sh("ls -A $OUTSIDE/closed; cat $OUTSIDE/closed/placed/file"); out != "placed\nfor the worker" { // the control
		t.Errorf("%q", out)
	}
	c, o := r.command, r.order
	c.Cell, c.Argv = &o, []string{"sh", "-c", "echo x >ran"}
	order, host, err := complete(c)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Plan(order, host)
	if err != nil {
		t.Fatal(err)
	}
	for i, op := range spec.View {
		if op.Do == plan.Mask && op.At == closed {
			spec.View[i].Make = append(spec.View[i].Make, "other")
		}
	}
	exit, err := launch(t.Context(), c, spec, nil)
	if err == nil || exit.Reason != NotStarted || !strings.Contains(err.Error(), "proof failed: look into hidden: "+closed+"/other is seen") {
		t.Errorf("%+v, %v", exit, err)
	}
	if r.read(filepath.Join(r.tree, "ran")) != "" {
		t.Error("the command has run")
	}
}
