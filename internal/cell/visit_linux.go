package cell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/terminal"
)

// request is what a visitor wants to run in a cell. It travels on a sealed
// descriptor, like a plan: arguments may be long, and need not be text.
type request struct {
	Argv       []string `json:"argv"`  // nothing: a shell
	Shell      string   `json:"shell"` // the one that is wanted, if it is there
	Term       string   `json:"term"`
	Terminal   [3]bool  `json:"terminal"`
	Joined     bool     `json:"joined"` // what is written is all one
	Rows, Cols uint16
}

// maxRequest is more than the kernel takes as arguments of a program.
const maxRequest = 8 << 20

func (r *request) read(f *os.File) error {
	if fi, err := f.Stat(); err != nil || fi.Size() > maxRequest {
		return errors.New("too much for one command")
	}
	return readRequest(f, r)
}

// argv is what to run, as the cell sees it.
func (r *request) argv() []string {
	if len(r.Argv) > 0 {
		return r.Argv
	}
	if _, err := exec.LookPath(r.Shell); err == nil && r.Shell != "" {
		return []string{r.Shell}
	}
	return []string{"/bin/sh"}
}

// environ is the worker's own, with the name of the visitor's terminal.
func (r *request) environ(worker []string) []string {
	if r.Term == "" || !slices.Contains(r.Terminal[:], true) {
		return worker
	}
	env := slices.DeleteFunc(slices.Clone(worker), func(kv string) bool { return strings.HasPrefix(kv, "TERM=") })
	return append(env, "TERM="+r.Term)
}

// Visit runs a command in the cell whose door is open in a directory, beside its
// worker: Argv, or the SHELL of Env. Nothing else is taken from Env but TERM. The
// terminal and the standard three stay outside and are copied from and to. Started is
// told of an empty launch when the visitor is in.
func Visit(dir string, c Command) (Exit, error) {
	line, err := knock(dir)
	if err != nil {
		return notStarted(err)
	}
	defer unix.Close(line.fd)
	// A door that refuses does not wait to be asked: its answer is there all the same.
	if err := ask(line, c); err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return notStarted(err)
	}
	m, files, err := line.receive()
	switch {
	case err == nil && m.Refused != "":
		err = &terminal.NotAdmittedError{Why: m.Refused}
	case err == nil && m.Program:
		err = &ProgramError{m.Absent, errors.New(terminal.Printable(m.Failed))}
	case err == nil && m.Failed != "":
		err = &terminal.NotAdmittedError{Why: terminal.Printable(m.Failed)}
	case errors.Is(err, io.EOF), err == nil && m.Over:
		err = &terminal.NotAdmittedError{Why: "the worker has ended"}
	}
	if err == nil {
		err = expected(files, terminals(c), joined(c))
	}
	if err == nil && c.Started != nil {
		err = c.Started(Launch{})
	}
	if err != nil {
		closeFiles(files)
		return notStarted(err)
	}
	s := join(files, c)
	exit := attendVisit(line, c.Signals, s.lost)
	s.end()
	return exit, nil
}

// knock connects to the door in a directory.
func knock(dir string) (control, error) {
	fd, err := terminal.ConnectIn(dir, doorName, ErrNoDoor)
	return control{fd}, err
}

// ask says what is wanted.
func ask(line control, c Command) error {
	r := request{Argv: c.Argv, Shell: c.variable("SHELL"), Term: c.variable("TERM"), Terminal: terminals(c), Joined: joined(c)}
	if c.Terminal != nil {
		if size, err := unix.IoctlGetWinsize(int(c.Terminal.Fd()), unix.TIOCGWINSZ); err == nil {
			r.Rows, r.Cols = size.Row, size.Col
		}
	}
	plan, err := newPlan()
	if err != nil {
		return err
	}
	defer plan.Close()
	if err := writeRequest(plan, r); err != nil {
		return err
	}
	return line.send(message{}, int(plan.Fd()))
}

// joined reports whether a command's two outputs are one pipe.
func joined(c Command) bool {
	on := terminals(c)
	return !on[1] && !on[2] && same(c.Stdout, c.Stderr)
}

// expected refuses descriptors that are not what the cell was asked for.
func expected(files []*os.File, on [3]bool, joined bool) error {
	pipes := 3
	for _, is := range on {
		if is {
			pipes--
		}
	}
	if joined {
		pipes--
	}
	first := 0
	if slices.Contains(on[:], true) {
		first = 1
	}
	if len(files) != first+pipes {
		return fmt.Errorf("the cell handed out %d descriptors", len(files))
	}
	for i, f := range files {
		fi, err := f.Stat()
		want := os.ModeNamedPipe
		if i < first {
			want = os.ModeDevice | os.ModeCharDevice
		}
		if err != nil || fi.Mode().Type() != want {
			return errors.New("the cell sent something other than a terminal and pipes")
		}
	}
	return nil
}

// joint copies between a visitor and its command.
type joint struct {
	relay *terminal.Relay
	in    *terminal.Feed // nil: the visitor's terminal is the input
	out   []*terminal.Pump
	lost  <-chan struct{} // the visitor's terminal
}

// join begins the copying.
func join(files []*os.File, c Command) *joint {
	j := &joint{}
	on := terminals(c)
	if slices.Contains(on[:], true) {
		j.relay, files = relayTerminal(files[0], c), files[1:]
		j.lost = j.relay.Lost
	}
	if !on[0] {
		j.in, files = terminal.StartFeed(c.Stdin, files[0]), files[1:]
	}
	for i, to := range []io.Writer{c.Stdout, c.Stderr} {
		if !on[i+1] && len(files) > 0 {
			j.out = append(j.out, terminal.StartPump(files[0], closing{to, files[0]}))
			files = files[1:]
		}
	}
	return j
}

// closing closes a pipe when what comes out of it cannot be passed on, so that whoever
// writes into it hears of that.
type closing struct {
	to   io.Writer
	from *os.File
}

func (c closing) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	if err != nil {
		c.from.Close()
	}
	return n, err
}

// end shows what there is still to be shown.
func (j *joint) end() {
	j.in.End()
	for _, p := range j.out {
		p.End()
		p.From.Close()
	}
	if j.relay != nil {
		j.relay.End()
	}
}

// attendVisit waits for the end of a visit and passes signals on. A visitor whose
// terminal is gone is gone too.
func attendVisit(line control, signals <-chan os.Signal, lost <-chan struct{}) Exit {
	ended := make(chan message, 1)
	go func() {
		m, files, err := line.receive()
		closeFiles(files)
		if err != nil {
			m = message{Over: true}
		}
		ended <- m
	}()
	for {
		select {
		case m := <-ended:
			if !m.Ended {
				return Exit{Code: 128 + int(syscall.SIGKILL), Reason: Vanished}
			}
			return Exit{Code: m.Code & 0xff, Reason: Exited}
		case s := <-signals:
			if s == syscall.SIGHUP {
				return Exit{Code: 128 + int(syscall.SIGHUP), Reason: Interrupted}
			}
			_ = line.offer(message{Signal: int(s.(syscall.Signal))})
		case <-lost:
			return Exit{Code: 128 + int(syscall.SIGHUP), Reason: Interrupted}
		}
	}
}
