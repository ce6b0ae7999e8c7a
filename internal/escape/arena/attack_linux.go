package arena

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Arena is what an attack is told: where things are on the host. It never holds
// the secret that the attack is after.
type Arena struct {
	Name     string
	Confined bool              // by cordon; the control is not
	Base     string            // of the fixture
	Work     string            // the attack's own tree
	Outside  string            // what it must not change
	Home     string            // of the operator
	Mark     string            // what it writes, so that the host knows it again
	Args     map[string]string // what the attempt's own preparation adds
	Stage    string            // for attacks that start themselves again
}

// Hold keeps what the attack took. cordon sees some limits by looking, on a busy
// machine late: it then ends the run, and that is what it promises. The control has
// nobody to wait for but the host, which measures.
func (a *Arena) Hold() {
	if a.Confined {
		time.Sleep(10 * time.Second)
	}
	time.Sleep(1200 * time.Millisecond)
}

// Out is a path in what the attack must not change.
func (a *Arena) Out(name string) string { return filepath.Join(a.Outside, name) }

// In is a path in the attack's own tree.
func (a *Arena) In(name string) string { return filepath.Join(a.Work, name) }

// InHome is a path in the operator's home.
func (a *Arena) InHome(name string) string { return filepath.Join(a.Home, name) }

// Number is an argument that is one.
func (a *Arena) Number(key string) int {
	n, err := strconv.Atoi(a.Args[key])
	if err != nil {
		panic(fmt.Sprintf("%s: no number %s: %v", a.Name, key, err))
	}
	return n
}

// The files in the attack's tree through which it speaks.
const (
	TraceFile = "trace" // how far it came
	LootFile  = "loot"  // what it obtained
	StopFile  = "stop"  // from the host: enough
)

// Note appends a line to the trace.
func (a *Arena) Note(format string, args ...any) {
	f, err := os.OpenFile(a.In(TraceFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	defer f.Close()
	fmt.Fprintf(f, format+"\n", args...)
}

// Reached says that everything is prepared and the act comes now.
func (a *Arena) Reached() { a.Note("reached %s", a.Name) }

// Leak hands out what was obtained.
func (a *Arena) Leak(data []byte) error {
	f, err := os.OpenFile(a.In(LootFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(data, '\n'))
	return err
}

// LeakFile hands out the contents of a file.
func (a *Arena) LeakFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return a.Leak(data)
}

// StartAgain starts the attack once more, at another stage and with other attributes.
func (a *Arena) StartAgain(stage string, attr *syscall.SysProcAttr) *exec.Cmd {
	next := *a
	next.Stage = stage
	arena, err := json.Marshal(next)
	if err != nil {
		panic(err) // it holds strings only
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append(program(), a.Name, string(arena))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = attr
	return cmd
}

// program is what this process was started as, without the arguments of Main.
func program() []string { return os.Args[: len(os.Args)-2 : len(os.Args)-2] }

// Shell makes an attack of a line of shell. The Arena's paths are its variables.
func Shell(line string) func(*Arena) error {
	return func(a *Arena) error {
		cmd := exec.Command("/bin/sh", "-c", line, "sh")
		cmd.Env = append(os.Environ(), "BASE="+a.Base, "W="+a.Work, "O="+a.Outside, "MARK="+a.Mark)
		for k, v := range a.Args {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, LastLine(out))
		}
		return nil
	}
}

// LastLine is the last line of an output.
func LastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// Each runs every act and returns the first error only if none succeeded.
func Each(acts ...func() error) error {
	var errs []error
	for _, act := range acts {
		if err := act(); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) < len(acts) {
		return nil
	}
	return errors.Join(errs...)
}

// Overwrite puts the mark at the beginning of an open file.
func (a *Arena) Overwrite(fd int) error {
	_, err := unix.Pwrite(fd, []byte(a.Mark), 0)
	return err
}

// Write opens a file that exists and writes the mark into it.
func (a *Arena) Write(path string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return a.Overwrite(fd)
}

// WriteAt does the same from an open directory.
func (a *Arena) WriteAt(dir int, path string) error {
	fd, err := unix.Openat(dir, path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "openat", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return a.Overwrite(fd)
}

// LeakBeside hands out the contents of a file that lies beside a mount. It is no control if there
// is no mount; a cell may show nothing in its place.
func (a *Arena) LeakBeside(mount, path string) error {
	var at, above unix.Stat_t
	err := errors.Join(unix.Stat(mount, &at), unix.Stat(filepath.Dir(mount), &above))
	if err == nil && at.Dev == above.Dev {
		err = fmt.Errorf("nothing is mounted at %s", mount)
	}
	if err != nil && !a.Confined {
		return err
	}
	return a.LeakFile(path)
}

// LeakFd hands out what an open file holds.
func (a *Arena) LeakFd(fd int) error {
	b := make([]byte, 4096)
	n, err := unix.Read(fd, b)
	if err != nil {
		return err
	}
	return a.Leak(b[:n])
}

// Enter does something in another namespace, on a thread that is given up.
func Enter(fd int, kind int, act func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			result <- err
			return
		}
		if err := unix.Setns(fd, kind); err != nil {
			result <- fmt.Errorf("setns: %w", err)
			return
		}
		result <- act()
	}()
	return <-result
}

// OnThread runs an attack on one thread: a debugger is a thread, not a process.
func OnThread(attack func(*Arena) error) func(*Arena) error {
	return func(a *Arena) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return attack(a)
	}
}

// Pids are the processes that /proc shows.
func Pids() []string {
	entries, _ := os.ReadDir("/proc") // none: none is seen
	var list []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, e.Name())
		}
	}
	return list
}
