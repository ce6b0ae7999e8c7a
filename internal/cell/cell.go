// Package cell runs commands that nobody trusts: workers, and the setup and
// acceptance commands that run a worker's code.
//
// An Order says what a command may see and write. Plan turns it into a Spec,
// without touching anything; Run carries a Spec out by starting this program
// again inside new namespaces, where it builds the view, gives up everything,
// proves that it did, and only then starts the command. No other program and no
// privilege is needed for that.
//
// The parts are below: plan makes a Spec of an Order, host looks at the machine, mount
// builds the view, walls gives up rights and proves it, limit holds the limits, and
// terminal connects terminals. Here are the two processes that use them, in this
// order: the one outside that supervises, and the first one inside.
//
// The package refuses to be weaker in silence: a layer that cannot be put up ends
// the launch with its name, unless the caller has said that it may be missing,
// and then it is named all the same. It knows nothing of repositories, policies
// or leases, and never decides what a worker may do. Without an Order a command
// is run unconfined: it gets a process group of its own, ends at its time limit,
// takes its children with it, and on Linux does not outlive cordon.
package cell

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"cordon/internal/cell/host"
	"cordon/internal/cell/limit"
	"cordon/internal/cell/plan"
	"cordon/internal/cell/terminal"
)

// Command is what to run.
type Command struct {
	Argv   []string
	Dir    string
	Env    []string
	Stdin  io.Reader // nil: nothing to read
	Stdout io.Writer
	Stderr io.Writer
	Limit  time.Duration // wall time; 0: none
	// Terminal hands over the terminal that Stdin is: the command is in its
	// foreground, and an interrupt typed there is the command's.
	Terminal *os.File
	// Transcript takes what is shown on the terminal as well.
	Transcript io.Writer
	// Screen is told what is typed on; nil: nobody joins the terminal.
	Screen *terminal.Screen
	// Signals are passed on to the command; nil are none.
	Signals <-chan os.Signal
	// Cell confines the command; nil runs it unconfined.
	Cell *plan.Order
	// Grace is how long the command may take to end when it is interrupted; nil is a few
	// seconds, and none ends it at once. It is asked when that happens.
	Grace func() time.Duration
	// Seat is a process that waits for the plan already; nil starts one.
	Seat *Seat
	// Weaker lets the command run although layers are missing.
	Weaker bool
	// Serve is handed the sockets of the cell's network when the cell is proven and
	// before the command's first instruction. Its error ends the launch; what it
	// returns is called when the cell has ended.
	Serve func(Sockets) (end func(), err error)
	// Publish is handed the sockets with which servers of the cell are reached, when it is
	// proven and before Serve. As for that, its error ends the launch, and what it returns is
	// called at the end. It is not called where the command has no loopback of its own.
	Publish func(Sockets) (end func(), err error)
	// Started is told of the launch when the cell is proven and before the
	// command's first instruction. Its error ends the launch.
	Started func(Launch) error
}

// Launch is what a command was started in.
type Launch struct {
	Pid      int
	Layers   []plan.Layer
	Landlock int // the version of the kernel's interface
	Missing  []plan.Missing
	Proven   []string // acts that were tried first, with the right answer
	Private  []plan.PrivateLayer
	Door     *Door // lets visitors in; nil where there is no namespace to enter
	Memory   plan.Counting
	Tried    *Tried // the Trial of its Order; nil: there was none
}

// The variables that name a worker, and the repository it works for, in the
// environment of its processes. Names of workers are unique in a repository only.
const (
	Mark  = "CORDON_WORKER"
	Place = "CORDON_STATE"
)

// mark is the entry of the command's environment that its children inherit.
func (c Command) mark() string {
	if v := c.variable(Mark); v != "" {
		return Mark + "=" + v
	}
	return ""
}

// running counts the marks of the commands that this process runs now.
var running = struct {
	sync.Mutex
	marks map[string]int
}{marks: map[string]int{}}

// enter notes that a command runs and returns what notes its end.
func enter(mark string) (leave func()) {
	add := func(n int) {
		running.Lock()
		defer running.Unlock()
		if running.marks[mark] += n; running.marks[mark] == 0 {
			delete(running.marks, mark)
		}
	}
	add(1)
	return func() { add(-1) }
}

// others are the marks of the other commands that this process runs.
func others(mark string) []string {
	running.Lock()
	defer running.Unlock()
	var list []string
	for m := range running.marks {
		if m != mark && m != "" {
			list = append(list, m)
		}
	}
	return list
}

func (c Command) variable(name string) string { return host.Variable(c.Env, name) }

// Reason says why a command ended.
type Reason string

// The reasons.
const (
	Exited      Reason = "exited"      // by itself
	TimedOut    Reason = "time limit"  // the lease's limits.time
	Interrupted Reason = "interrupted" // the operator, or a signal to cordon
	NotStarted  Reason = "not started"
	OverBudget  Reason = "over budget" // of its stage in a plan
	Vanished    Reason = "lost"        // cordon or the machine died while it ran

	MemoryLimit  Reason = limit.Memory
	ProcessLimit Reason = limit.Processes
	FileLimit    Reason = limit.Files
	DiskLimit    Reason = limit.Disk

	// Unwatched: the processes of the cell could not be counted any more.
	Unwatched Reason = limit.Unwatched
)

// Exit is how a command ended.
type Exit struct {
	Code   int    `json:"code"` // 128+n for signal n
	Killed bool   `json:"-"`    // by a signal
	Reason Reason `json:"reason"`
	Left   int    `json:"left,omitempty"` // processes it had left behind, which were ended
	Error  string `json:"error,omitempty"`
	// Refused counts the system calls that the cell refused and that no ordinary
	// program makes.
	Refused map[string]int `json:"refused,omitempty"`
}

// OK reports whether the command ended by itself and well.
func (e Exit) OK() bool { return e.Code == 0 && e.Reason == Exited }

// Stopped reports whether somebody ended it who may let it go on.
func (e Exit) Stopped() bool { return e.Reason == Interrupted || e.Reason == OverBudget }

// grace is how long a command may take to end after SIGTERM. Tests are impatient.
var grace = 5 * time.Second

// graceAfter is how long a command may take to end when it is asked to, for a reason.
func (c Command) graceAfter(r Reason) time.Duration {
	if r == Interrupted && c.Grace != nil {
		return c.Grace()
	}
	return grace
}

// Run runs a command to its end. A command that could not be started is an
// error as well as an Exit.
func Run(ctx context.Context, c Command) (Exit, error) {
	// The kernel ties "die with the parent" to the thread that forked.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.Cell != nil {
		return runConfined(ctx, c)
	}
	return runFree(ctx, c)
}

// ProgramError says that there was a cell, but not the program to run in it.
type ProgramError struct {
	Absent bool // it is not there, rather than not to be executed
	Err    error
}

func (e *ProgramError) Error() string { return e.Err.Error() }
func (e *ProgramError) Unwrap() error { return e.Err }

// The codes of commands that did not start, as shells and container runtimes have
// them.
const (
	noCell        = 125
	notExecutable = 126
	notFound      = 127
)

func notStarted(err error) (Exit, error) {
	exit := Exit{Code: noCell, Reason: NotStarted, Error: err.Error()}
	var program *ProgramError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &program) && program.Absent:
		exit.Code = notFound
	case program != nil, errors.Is(err, os.ErrPermission):
		exit.Code = notExecutable
	}
	return exit, err
}

// runFree runs a command without a cell.
func runFree(ctx context.Context, c Command) (Exit, error) {
	adoptOrphans()
	defer enter(c.mark())()
	program, err := host.FindProgram(c.Argv[0], c.Env)
	if err != nil {
		return notStarted(err)
	}
	cmd := exec.Command(program)
	cmd.Args, cmd.Dir, cmd.Env = c.Argv, c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.SysProcAttr = attributes()
	if c.Terminal != nil {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(c.Terminal.Fd())
		defer terminal.Lend(c.Terminal)()
	}
	// A process that escaped and keeps the output open must not keep us.
	cmd.WaitDelay = 2 * time.Second
	if err := start(cmd, c); err != nil {
		return notStarted(err)
	}
	exit := Exit{Reason: supervise(ctx, cmd, c, nil)}
	exit.Left = endRest(cmd.Process.Pid, c.mark())
	_ = cmd.Wait() // the status is read from cmd.ProcessState
	exit.Code = status(cmd)
	return exit, nil
}

func start(cmd *exec.Cmd, c Command) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.Started == nil {
		return nil
	}
	if err := c.Started(Launch{Pid: cmd.Process.Pid}); err != nil {
		killGroup(cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // its status does not matter: it was ended before it was let go
		endRest(cmd.Process.Pid, c.mark())
		return err
	}
	return nil
}

// supervise waits for the end of the command's own process and brings it about
// when it is due, or when over says so.
func supervise(ctx context.Context, cmd *exec.Cmd, c Command, over <-chan Reason) Reason {
	done := make(chan struct{})
	go func() { awaitEnd(cmd); close(done) }()
	var timeout <-chan time.Time
	if c.Limit > 0 {
		t := time.NewTimer(c.Limit)
		defer t.Stop()
		timeout = t.C
	}
	var reason Reason
	for reason == "" {
		select {
		case <-done:
			return Exited
		case s := <-c.Signals:
			killGroup(cmd.Process.Pid, s.(syscall.Signal))
		case reason = <-over:
		case <-timeout:
			reason = TimedOut
		case <-ctx.Done():
			reason = Interrupted
		}
	}
	patience := c.graceAfter(reason)
	if (reason == TimedOut || reason == Interrupted) && patience > 0 {
		killGroup(cmd.Process.Pid, syscall.SIGTERM)
	} else {
		killGroup(cmd.Process.Pid, syscall.SIGKILL) // what takes too much is not asked
	}
	select {
	case <-done:
	case <-time.After(patience):
		killGroup(cmd.Process.Pid, syscall.SIGKILL)
		<-done
	}
	return reason
}

func status(cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return 1
	}
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// killGroup signals a process group. One that is gone already is fine.
func killGroup(pid int, sig syscall.Signal) {
	if err := syscall.Kill(-pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = syscall.Kill(pid, sig)
	}
}

// Shell is the argument vector that runs a command line of the policy.
func Shell(line string) []string { return []string{shell(), "-c", line} }

func shell() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}
