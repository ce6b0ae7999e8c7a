package cell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/limit"
)

// guests are the visits that the first process of a cell looks after. Everything
// about them is done by the thread that forked the worker: see attend.
type guests struct {
	asked  chan word
	in     map[int]int       // a command's process, which leads its session → the number of its visit
	ending map[int]time.Time // sessions that are over → when they are ended
	sweep  <-chan time.Time
}

// graceOfVisit is how long what a visitor leaves behind may take to end.
const graceOfVisit = time.Second

// answer does what cordon asks for a visitor.
func (w *warden) answer(asked word) {
	defer closeFiles(asked.files)
	if len(asked.files) == 1 && asked.Visit > 0 {
		if err := w.welcome(asked.Visit, asked.files[0]); err != nil {
			m := message{Visit: asked.Visit, Failed: err.Error()}
			var program *ProgramError
			if errors.As(err, &program) {
				m.Program, m.Absent = true, program.Absent
			}
			_ = w.control.send(m)
		}
		return
	}
	for pid, number := range w.guests.in {
		switch {
		case number != asked.Visit:
		case asked.Gone:
			w.hangUp(pid)
		case asked.Signal > 0:
			_ = syscall.Kill(-pid, syscall.Signal(asked.Signal)) // gone already is fine
		}
	}
}

// welcome starts a visitor's command beside the worker, and hands out the other
// ends of what it reads and writes.
func (w *warden) welcome(number int, plan *os.File) error {
	var r request
	if err := r.read(plan); err != nil {
		return err
	}
	argv, env := r.argv(), r.environ(w.spec.Env)
	program, err := host.FindProgram(argv[0], env)
	if err != nil {
		return &ProgramError{true, err}
	}
	s, err := openStreams(r)
	defer s.close()
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec(program, argv, ownSession(w.spec.Dir, env, s.inside, r.Terminal))
	if err != nil {
		return &ProgramError{errors.Is(err, os.ErrNotExist), fmt.Errorf("%s: %w", argv[0], err)}
	}
	if w.guests.in == nil {
		w.guests.in, w.guests.ending = map[int]int{}, map[int]time.Time{}
	}
	w.guests.in[pid] = number
	if err := w.control.send(message{Visit: number, Opened: true}, s.outside...); err != nil {
		w.hangUp(pid)
		return err
	}
	return nil
}

// visitEnded tells how a visitor's command ended, and ends what it left in its
// session: a visit leaves nothing behind that did not take pains to.
func (w *warden) visitEnded(pid int, ws syscall.WaitStatus) {
	number, ok := w.guests.in[pid]
	if !ok {
		return // an orphan of somebody's
	}
	delete(w.guests.in, pid)
	_ = w.control.send(message{Visit: number, Ended: true, Code: exitCode(ws)})
	w.hangUp(pid)
}

// hangUp does to a session what the loss of its terminal does, and sees to it that
// it ends.
func (w *warden) hangUp(session int) {
	if _, already := w.guests.ending[session]; already {
		return
	}
	for _, pid := range inSession(session) {
		_ = syscall.Kill(pid, syscall.SIGHUP)
		_ = syscall.Kill(pid, syscall.SIGCONT) // one that is stopped hears nothing
	}
	w.guests.ending[session] = time.Now().Add(graceOfVisit)
	if w.guests.sweep == nil {
		w.guests.sweep = time.Tick(limit.CountEvery)
	}
}

// sweep ends the sessions whose time is over.
func (w *warden) sweep() {
	for session, until := range w.guests.ending {
		left := inSession(session)
		if len(left) == 0 {
			delete(w.guests.ending, session)
		}
		if time.Now().Before(until) {
			continue
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if len(w.guests.ending) == 0 {
		w.guests.sweep = nil
	}
}

// inSession are the living processes of a session.
func inSession(sessions ...int) []int {
	return slices.DeleteFunc(rest(), func(pid int) bool { return !slices.Contains(sessions, sessionOf(pid)) })
}

func sessionOf(pid int) int {
	p, ok := readStat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if !ok {
		return 0
	}
	return p.session
}

// leftBehind are the processes of the cell that are no visitor's.
func (w *warden) leftBehind() []int {
	return slices.DeleteFunc(rest(), func(pid int) bool {
		session := sessionOf(pid)
		_, visits := w.guests.in[session]
		_, ending := w.guests.ending[session]
		return visits || ending
	})
}

// streams are what a visitor's command reads and writes, and their other ends: a
// terminal of the cell's own first, then a pipe for each that is none.
type streams struct {
	inside  [3]uintptr
	outside []int
	files   []*os.File
}

func openStreams(r request) (s streams, err error) {
	var slave *os.File
	if slices.Contains(r.Terminal[:], true) {
		var master *os.File
		if master, slave, err = pty.Open(); err != nil {
			return s, fmt.Errorf("open a terminal: %w", err)
		}
		s.files = append(s.files, master, slave)
		s.outside = append(s.outside, int(master.Fd()))
		_ = pty.Setsize(master, &pty.Winsize{Rows: r.Rows, Cols: r.Cols}) // a terminal without a size works too
	}
	for i := range s.inside {
		switch {
		case r.Terminal[i]:
			s.inside[i] = slave.Fd()
		case i == 2 && r.Joined:
			s.inside[2] = s.inside[1]
		default:
			if err := s.pipe(i); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// pipe opens one of the standard three.
func (s *streams) pipe(i int) error {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("open a pipe: %w", err)
	}
	s.files = append(s.files, os.NewFile(uintptr(p[0]), "pipe"), os.NewFile(uintptr(p[1]), "pipe"))
	read, write := p[0], p[1]
	if i == 0 {
		s.inside[i], s.outside = uintptr(read), append(s.outside, write)
		return nil
	}
	s.inside[i], s.outside = uintptr(write), append(s.outside, read)
	return nil
}

func (s *streams) close() { closeFiles(s.files) }
