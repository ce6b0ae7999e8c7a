package cell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/limit"
	"cordon/internal/cell/mount"
	"cordon/internal/cell/plan"
	"cordon/internal/cell/walls"
)

// initWord is how cordon starts itself inside a cell.
const initWord = "cell-init"

// init does not return in a process that is to become a cell. The packages that do not build
// cells, such as the desk's, are initialised after this one, and a cell does not wait for them.
func init() {
	if len(os.Args) == 2 && os.Args[1] == initWord {
		os.Exit(initialise())
	}
	if len(os.Args) == 2 && os.Args[1] == host.CallsWord {
		os.Exit(host.TryCalls())
	}
}

// initialise builds the cell around this process, proves it, and runs the
// worker in it. Every way out but the worker's own end is a failure.
func initialise() int {
	runtime.LockOSThread() // capabilities and namespaces belong to a thread
	debug.SetGCPercent(-1) // until the worker runs: it is over in milliseconds
	if err := inherited(); err != nil {
		fmt.Fprintln(os.Stderr, "cordon:", err)
		return 2
	}
	c := control{controlDescriptor}
	w := &warden{control: c}
	w.catchSignals() // this takes a while, and the plan is not made yet
	walls.Ahead()
	learnMessages()
	spec, held, err := readSpec(c)
	if errors.Is(err, io.EOF) {
		return 1 // cordon has given it up
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cordon:", err)
		return 2
	}
	if spec.Keep != "" && len(held) == 0 { // the layers would not be this cell's alone
		fmt.Fprintln(os.Stderr, "cordon: the cell was not given the lock of its layers")
		return 2
	}
	defer runtime.KeepAlive(held)
	w.spec = spec
	if err := w.prepare(); err != nil {
		w.fail(err)
		return 1
	}
	return w.run()
}

// deadly are the signals that would end a Go program that does not catch them, beside those
// that are passed on. Any other does nothing to it.
var deadly = []os.Signal{
	syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSTKFLT, syscall.SIGSYS, syscall.SIGPIPE,
}

// catchSignals catches every signal that the worker may send to us, and that would end us,
// and those that are passed on to it. Until the worker runs, a signal that asks for the end
// is obeyed.
func (w *warden) catchSignals() {
	w.signals, w.children, w.running = make(chan os.Signal, 16), make(chan os.Signal, 1), make(chan struct{})
	early := make(chan os.Signal, 1)
	signal.Notify(early, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		select {
		case s := <-early:
			os.Exit(128 + int(s.(syscall.Signal)))
		case <-w.running:
		}
	}()
	signal.Notify(w.signals, slices.Concat(deadly, forwarded)...)
	signal.Notify(w.children, syscall.SIGCHLD)
}

// warden is the first process of a cell: it builds it, starts the worker, and is
// the parent of all that the worker leaves behind.
type warden struct {
	spec    plan.Spec
	control control
	slave   *os.File // the worker's terminal
	layers  int      // the file system of the layers that are not kept
	program string
	killed  bool // the worker, by a signal
	guests  guests
	sockets *limit.SocketMeter // nil: no limit on memory, or the kernel does not tell

	signals, children chan os.Signal
	running           chan struct{} // closed when the worker is about to start
}

// fail tells cordon why there is no cell.
func (w *warden) fail(err error) {
	m := message{Failed: err.Error()}
	var about *plan.LayerError
	if errors.As(err, &about) {
		m.Layer = about.Layer
	}
	var program *ProgramError
	if errors.As(err, &program) {
		m.Program, m.Absent = true, program.Absent
	}
	_ = w.control.send(m) // nobody left to tell: the exit status is a failure too
}

// prepare puts up the layers one after the other, the irreversible ones last.
func (w *warden) prepare() error {
	namespaced := w.spec.Has(plan.Namespaces)
	if namespaced && os.Getpid() != 1 {
		return errors.New("not the first process of a namespace")
	}
	// What the operator's shell had open is not the worker's.
	if err := unix.CloseRange(specDescriptor, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close_range: %w", err)
	}
	if namespaced && w.spec.Limits.Memory > 0 {
		w.sockets = limit.OpenSocketMeter()
	}
	steps := []func() error{walls.NewKeyring, w.limit, w.terminal, w.enter, w.locate}
	if namespaced {
		steps = append([]func() error{loopback, w.network, w.build}, steps...)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	canary, err := walls.NewCanary(w.spec)
	if err != nil {
		return err
	}
	if namespaced {
		if err := mount.SealProc(); err != nil {
			return &plan.LayerError{Layer: plan.Namespaces, Err: err}
		}
	}
	if err := w.confine(namespaced); err != nil {
		return err
	}
	end, err := w.tryFirst() // it takes about as long as the proof
	if err != nil {
		return err
	}
	proven, err := walls.Prove(w.spec, canary)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	if err := w.control.send(message{Proven: proven, Landlock: host.LandlockVersion()}); err != nil {
		return err
	}
	_, err = w.control.wait()
	return err
}

// confine gives up everything that the worker must not have.
func (w *warden) confine(namespaced bool) error {
	if err := walls.DropCapabilities(namespaced); err != nil {
		return &plan.LayerError{Layer: plan.Namespaces, Err: err}
	}
	if err := walls.NoNewPrivileges(); err != nil {
		return &plan.LayerError{Layer: plan.Seccomp, Err: err}
	}
	// The worker has our user: without this it could read and steer us.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if w.spec.Has(plan.Landlock) {
		if err := walls.Restrict(w.spec); err != nil {
			return &plan.LayerError{Layer: plan.Landlock, Err: err}
		}
	}
	if !w.spec.Has(plan.Seccomp) {
		return nil
	}
	listener, err := walls.LoadFilter(w.spec)
	if err != nil {
		return &plan.LayerError{Layer: plan.Seccomp, Err: err}
	}
	if listener < 0 {
		return nil
	}
	defer unix.Close(listener)
	return w.control.send(message{Listener: true}, listener)
}

// limit sets what the kernel counts for each process.
func (w *warden) limit() error { return limit.SetForProcesses(w.spec) }

// over says which limit the processes of the cell have reached together.
func (w *warden) over() Reason { return Reason(limit.Reached(w.spec, rest(), w.layers, w.sockets)) }

// build makes the view.
func (w *warden) build() (err error) {
	w.layers, err = mount.Build(w.spec)
	return err
}

// enter goes where the worker starts.
func (w *warden) enter() error { return os.Chdir(w.spec.Dir) }

// locate finds the program in what the worker sees.
func (w *warden) locate() (err error) {
	if w.program, err = host.FindProgram(w.spec.Argv[0], w.spec.Env); err != nil {
		return &ProgramError{Absent: true, Err: err}
	}
	return nil
}

// terminal makes the worker's own, in the cell's own devpts.
func (w *warden) terminal() error {
	if w.spec.Terminal == [3]bool{} {
		return nil
	}
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	defer master.Close()
	w.slave = slave
	return w.control.send(message{Pty: true}, int(master.Fd()))
}

// run starts the worker and waits for it.
func (w *warden) run() int {
	if !w.spec.Has(plan.Namespaces) {
		return w.replace()
	}
	close(w.running)
	pid, err := syscall.ForkExec(w.program, w.spec.Argv, w.attributes())
	if err != nil {
		w.fail(&ProgramError{errors.Is(err, os.ErrNotExist), fmt.Errorf("%s: %w", w.spec.Argv[0], err)})
		return 1
	}
	if w.slave != nil {
		w.slave.Close()
	}
	limit.SpareThreads()
	debug.SetGCPercent(100)
	w.guests.asked = make(chan word, 16)
	go w.untilAlone()
	code, reason := w.attend(pid, w.signals, w.children)
	end := message{Ended: true, Code: code, Killed: w.killed, Reason: reason, Left: len(w.leftBehind())}
	_ = syscall.Kill(-1, syscall.SIGKILL) // the end of this process ends them too
	_ = w.control.send(end)               // cordon is gone: then so is everything here
	return 0
}

// forwarded are the signals that are meant for the worker.
var forwarded = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGTSTP,
}

// attributes are how the worker starts.
func (w *warden) attributes() *syscall.ProcAttr {
	files := [3]uintptr{0, 1, 2}
	for i := range files {
		if w.spec.Terminal[i] {
			files[i] = w.slave.Fd()
		}
	}
	return ownSession(w.spec.Dir, w.spec.Env, files, w.spec.Terminal)
}

// ownSession starts a command in a session of its own, with nothing open but the
// standard three, and on the terminal that is among them.
func ownSession(dir string, env []string, files [3]uintptr, terminal [3]bool) *syscall.ProcAttr {
	attr := &syscall.ProcAttr{Dir: dir, Env: env, Files: files[:], Sys: &syscall.SysProcAttr{Setsid: true}}
	if i := slices.Index(terminal[:], true); i >= 0 {
		attr.Sys.Setctty, attr.Sys.Ctty = true, i
	}
	return attr
}

// replace becomes the worker, where there is no namespace to look after.
func (w *warden) replace() int {
	for i := range 3 {
		if !w.spec.Terminal[i] {
			continue
		}
		if err := unix.Dup3(int(w.slave.Fd()), i, 0); err != nil {
			w.fail(err)
			return 1
		}
		_ = unix.IoctlSetInt(i, unix.TIOCSCTTY, 0) // the first of them becomes ours
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) // the exec does that anyway
	err := syscall.Exec(w.program, w.spec.Argv, w.spec.Env)
	w.fail(&ProgramError{errors.Is(err, os.ErrNotExist), fmt.Errorf("%s: %w", w.spec.Argv[0], err)})
	return 1
}

// untilAlone ends the cell with cordon, however that ends, and hands on what it
// says of visitors until then.
func (w *warden) untilAlone() {
	for {
		m, files, err := w.control.receive()
		if err == nil {
			w.guests.asked <- word{m, files}
			continue
		}
		if errors.Is(err, io.EOF) {
			os.Exit(1)
		}
		return
	}
}

// attend waits for the worker, passes signals on to it, and ends it at a limit.
// It does so from the thread that forked, which is locked: Landlock has given
// every other thread of this process a domain of its own, and none of them may
// signal the worker or look into it.
func (w *warden) attend(worker int, signals, children <-chan os.Signal) (int, Reason) {
	reason := Exited
	look, count := limit.Ticks(w.spec.Limits)
	var again <-chan time.Time // what was killed may have forked meanwhile
	for {
		over := Reason("")
		select {
		case <-children:
			if code, ended := w.reap(worker); ended {
				return code, reason
			}
		case s := <-signals:
			if slices.Contains(forwarded, s) {
				_ = syscall.Kill(-worker, s.(syscall.Signal)) // gone already is fine
			}
		case <-look:
			over = w.over()
			if len(limit.NumberedEntries("/proc")) == 0 { // not even ourselves
				over = Unwatched
			}
		case <-count:
			if len(limit.NumberedEntries("/proc")) > w.spec.Limits.Processes {
				over = w.over()
			}
		case <-again:
			_ = syscall.Kill(-1, syscall.SIGKILL)
		case asked := <-w.guests.asked:
			w.answer(asked)
		case <-w.guests.sweep:
			w.sweep()
		}
		if over != "" && reason == Exited {
			reason, again = over, time.Tick(limit.CountEvery/10)
		}
	}
}

// reap takes note of the children that have ended, and says how the worker did.
func (w *warden) reap(worker int) (code int, ended bool) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1, true // there is none left to wait for
		case pid == 0:
			return 0, false
		case pid == worker:
			w.killed = ws.Signaled()
			return exitCode(ws), true
		default:
			w.visitEnded(pid, ws)
		}
	}
}

func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// rest are the living processes of the cell but this one.
func rest() []int {
	var pids []int
	for _, pid := range limit.NumberedEntries("/proc") {
		p, ok := readStat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if pid != os.Getpid() && ok && !p.dead {
			pids = append(pids, pid)
		}
	}
	return pids
}

// loopback brings up the cell's own network, in which nothing else is.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return &plan.LayerError{Layer: plan.Namespaces, Err: err}
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return &plan.LayerError{Layer: plan.Namespaces, Err: fmt.Errorf("loopback: %w", err)}
	}
	return nil
}
