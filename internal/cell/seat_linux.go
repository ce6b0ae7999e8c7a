package cell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/plan"
)

// Seat is the first process of a cell that waits for its plan. It sits in its
// namespaces already, with nothing built and nothing running.
type Seat struct {
	cmd     *exec.Cmd
	control control
	plan    *os.File
	input   *os.File // the end of a pipe that is its standard input; nil: it has none
	taken   atomic.Bool
	survey  chan host.Survey // of the machine, made meanwhile; nil: none is
}

// surveyed is a survey of the machine: the one that was begun with the seat, once, or a new one.
func (s *Seat) surveyed() host.Survey {
	if s != nil && s.survey != nil {
		if made, first := <-s.survey; first {
			return made
		}
	}
	return host.Look()
}

// Warm starts the first process of a cell while its plan is still being made: the
// two take about as long as each other. Where that fails there is no seat, and
// Run says why. The caller keeps its thread, and drops a seat that it does not
// run.
func Warm(c Command) *Seat {
	survey := make(chan host.Survey, 1)
	go func() { survey <- host.Look(); close(survey) }()
	s, err := newSeat(c, true)
	if err != nil {
		return nil
	}
	s.survey = survey
	return s
}

// Drop ends a seat that was not taken.
func (s *Seat) Drop() {
	if s != nil && s.take() {
		s.drop()
	}
}

func (s *Seat) take() bool { return s.taken.CompareAndSwap(false, true) }

func (s *Seat) drop() {
	_ = s.cmd.Process.Kill()
	waitSeated(s.cmd) // its status does not matter: it never had anything to do
	s.close()
}

// close closes our ends of everything that leads to the process.
func (s *Seat) close() {
	s.plan.Close()
	if s.input != nil {
		s.input.Close()
	}
	unix.Close(s.control.fd)
}

// newSeat starts this program again.
func newSeat(c Command, namespaced bool) (*Seat, error) {
	plan, err := newPlan()
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, plan.Close())
	}
	theirs := os.NewFile(uintptr(pair[1]), "control")
	defer theirs.Close()
	s := &Seat{plan: plan, control: control{pair[0]}}
	if err := s.start(c, namespaced, []*os.File{plan, theirs}); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *Seat) start(c Command, namespaced bool, files []*os.File) error {
	// What our own caller had open goes no further.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close_range: %w", err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = []string{"cordon", initWord}, []string{"GOMAXPROCS=1"}, "/"
	if c.Stdin != nil {
		stdin, input, err := os.Pipe()
		if err != nil {
			return err
		}
		defer stdin.Close()
		cmd.Stdin, s.input = stdin, input
	}
	cmd.Stdout, cmd.Stderr = writing(c.Stdout, c.Stderr)
	cmd.ExtraFiles = files
	if !namespaced { // else whoever could keep the output open ends with the cell
		cmd.WaitDelay = 2 * time.Second
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if namespaced {
		enterNamespaces(cmd.SysProcAttr)
	} else {
		adoptOrphans()
	}
	s.cmd = cmd
	err := startSeated(cmd)
	if err != nil && namespaced {
		return &plan.LayerError{Layer: plan.Namespaces, Err: err}
	}
	return err
}

func enterNamespaces(attr *syscall.SysProcAttr) {
	attr.Cloneflags, attr.AmbientCaps = namespaces, ambient
	// The same number inside: git takes a file with another owner for changed.
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
}

// hand gives the plan over, which nobody can change any more, and a lock, if there is one, that is held
// as long as the cell lives.
func (s *Seat) hand(spec plan.Spec, lock *os.File) error {
	if err := writeSealed(s.plan, spec.Pack()); err != nil {
		return err
	}
	if lock == nil {
		return s.control.send(message{Go: true})
	}
	return s.control.send(message{Go: true}, int(lock.Fd()))
}
