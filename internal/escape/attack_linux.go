package escape

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Arena is what an attack is told: where things are on the host. It never holds
// the secret that the attack is after.
type Arena struct {
	Name    string
	Base    string            // of the fixture
	Work    string            // the attack's own tree
	Outside string            // what it must not change
	Home    string            // of the operator
	Mark    string            // what it writes, so that the host knows it again
	Args    map[string]string // what the attempt's own preparation adds
	Stage   string            // for attacks that start themselves again
}

func (a *Arena) out(name string) string  { return filepath.Join(a.Outside, name) }
func (a *Arena) in(name string) string   { return filepath.Join(a.Work, name) }
func (a *Arena) home(name string) string { return filepath.Join(a.Home, name) }

func (a *Arena) number(key string) int {
	n, err := strconv.Atoi(a.Args[key])
	if err != nil {
		panic(fmt.Sprintf("%s: no number %s: %v", a.Name, key, err))
	}
	return n
}

// The files in the attack's tree through which it speaks.
const (
	traceFile = "trace" // how far it came
	lootFile  = "loot"  // what it obtained
	stopFile  = "stop"  // from the host: enough
)

// note appends a line to the trace.
func (a *Arena) note(format string, args ...any) {
	f, err := os.OpenFile(a.in(traceFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	defer f.Close()
	fmt.Fprintf(f, format+"\n", args...)
}

// reached says that everything is prepared and the act comes now.
func (a *Arena) reached() { a.note("reached %s", a.Name) }

// leak hands out what was obtained.
func (a *Arena) leak(data []byte) error {
	f, err := os.OpenFile(a.in(lootFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(data, '\n'))
	return err
}

func (a *Arena) leakFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return a.leak(data)
}

// Main runs one attack: its name and its Arena as JSON. It is what the confined
// side of an attempt executes, and returns the exit status.
func Main(args []string) int {
	if len(args) > 0 && args[0] == victimMode {
		return victim(args[1:])
	}
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: attempt NAME ARENA")
		return 2
	}
	at, err := find(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	a := &Arena{}
	if err := json.Unmarshal([]byte(args[1]), a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if a.Stage == "" {
		a.reached()
	}
	if err := at.attack(a); err != nil {
		a.note("ended: %v", err)
		return 1
	}
	a.note("ended: done")
	return 0
}

// again starts the attack once more, at another stage and with other attributes.
func (a *Arena) again(stage string, attr *syscall.SysProcAttr) *exec.Cmd {
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

// shell makes an attack of a line of shell. The Arena's paths are its variables.
func shell(line string) func(*Arena) error {
	return func(a *Arena) error {
		cmd := exec.Command("/bin/sh", "-c", line, "sh")
		cmd.Env = append(os.Environ(), "BASE="+a.Base, "W="+a.Work, "O="+a.Outside, "MARK="+a.Mark)
		for k, v := range a.Args {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, lastLine(out))
		}
		return nil
	}
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// each runs every act and returns the first error only if none succeeded.
func each(acts ...func() error) error {
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

// overwrite puts the mark at the beginning of an open file.
func (a *Arena) overwrite(fd int) error {
	_, err := unix.Pwrite(fd, []byte(a.Mark), 0)
	return err
}

// write opens a file that exists and writes the mark into it.
func (a *Arena) write(path string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return a.overwrite(fd)
}

// writeAt does the same from an open directory.
func (a *Arena) writeAt(dir int, path string) error {
	fd, err := unix.Openat(dir, path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "openat", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return a.overwrite(fd)
}
