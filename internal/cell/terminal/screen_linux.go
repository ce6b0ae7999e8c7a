package terminal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Screen is the terminal of a worker, for others to join.
type Screen struct {
	place    *os.File // the directory of the socket
	listener int
	all      sync.WaitGroup

	mu     sync.Mutex
	shown  []byte // the end of it
	joined map[*onlooker]bool
	closed bool

	typing sync.Mutex
	keys   keyboard // nil: nobody reads

	// Sized is told the size of the worker's terminal, before what is drawn with it.
	Sized func(rows, columns uint16)

	outer   *Relay // to the outer side of a terminal that nobody else reads, or nil
	reading *Pump  // from there
}

// NewScreen is a screen that shows what is written to it. With the outer side of the
// terminal that the worker is handed over, it shows what comes from there, and what is
// typed goes there: no other terminal is needed.
func NewScreen(outer *os.File) (*Screen, error) {
	s := &Screen{listener: -1, joined: map[*onlooker]bool{}}
	if outer == nil {
		return s, nil
	}
	// The library makes a descriptor blocking whenever its number is asked for, unless
	// it was so when it came to the library.
	fd, err := unix.FcntlInt(outer.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s.outer = &Relay{master: os.NewFile(uintptr(fd), outer.Name()), in: newWake()}
	s.keys, s.reading = s.outer, StartPump(s.outer.master, s)
	return s, nil
}

// Write shows something. It never fails and never waits.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, p...)
	if len(s.shown) > 2*screenKept {
		s.shown = append([]byte(nil), tail(s.shown)...)
	}
	for j := range s.joined {
		j.show(p)
	}
	return len(p), nil
}

// join tells where what is typed goes. leave waits until nothing goes there any more.
func (s *Screen) join(k keyboard) {
	if s != nil {
		s.typing.Lock()
		defer s.typing.Unlock()
		if s.outer == nil {
			s.keys = k
		}
	}
}

func (s *Screen) leave() { s.join(nil) }

// PassTo has somebody take what is typed, for a worker whose terminal is not here: keys, or a size.
func (s *Screen) PassTo(take func(keys []byte, rows, cols uint16)) { s.join(passing(take)) }

type passing func(keys []byte, rows, cols uint16)

func (p passing) enter(keys []byte) bool {
	p(slices.Clone(keys), 0, 0)
	return true
}

func (p passing) resize(rows, cols uint16) { p(nil, rows, cols) }

// Type types on the worker's terminal.
func (s *Screen) Type(keys string) { s.enter([]byte(keys)) }

func (s *Screen) enter(keys []byte) {
	s.typing.Lock()
	defer s.typing.Unlock()
	if s.keys != nil {
		s.keys.enter(keys)
	}
}

func (s *Screen) resize(rows, cols uint16) {
	s.typing.Lock()
	defer s.typing.Unlock()
	if s.keys != nil && rows > 0 && cols > 0 {
		s.sized(rows, cols)
		s.keys.resize(rows, cols)
	}
}

// sized tells of a size.
func (s *Screen) sized(rows, cols uint16) {
	if s != nil && s.Sized != nil && rows > 0 && cols > 0 {
		s.Sized(rows, cols)
	}
}

// resize gives the worker's terminal another size.
func (r *Relay) resize(rows, cols uint16) {
	_ = pty.Setsize(r.master, &pty.Winsize{Rows: rows, Cols: cols}) // one that has ended has none
}

// Open lets terminals join at a directory that no cell sees.
func (s *Screen) Open(dir string) error {
	place, fd, err := ListenIn(dir, screenName, maxJoined)
	if err != nil {
		return err
	}
	s.place, s.listener = place, fd
	s.all.Go(s.accept)
	return nil
}

// partingRoom is how long a terminal may take to show the last that was shown.
const partingRoom = time.Second

// Close parts from every terminal that is joined.
func (s *Screen) Close() {
	if s.outer != nil {
		s.leaveOuter()
	}
	if s.listener < 0 {
		return
	}
	_ = unix.Unlinkat(int(s.place.Fd()), screenName, 0) // one that nobody answers says the same
	_ = unix.Shutdown(s.listener, unix.SHUT_RDWR)       // wakes accept
	s.mu.Lock()
	s.closed = true
	for j := range s.joined {
		j.part(Finished)
	}
	s.mu.Unlock()
	late := time.AfterFunc(partingRoom, s.cut)
	s.all.Wait()
	late.Stop()
	unix.Close(s.listener)
	s.place.Close()
}

// leaveOuter shows the last that comes from the outer side and lets go of it.
func (s *Screen) leaveOuter() {
	s.reading.End()
	s.outer.in.up() // who types there waits no longer
	s.typing.Lock()
	defer s.typing.Unlock()
	s.keys = nil
	s.outer.in.close()
	s.outer.master.Close()
}

// cut ends what did not end by itself.
func (s *Screen) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for j := range s.joined {
		_ = unix.Shutdown(j.fd, unix.SHUT_RDWR)
	}
}

func (s *Screen) accept() {
	for {
		fd, err := AcceptFrom(s.listener)
		if err != nil {
			return
		}
		j, err := s.admit(fd)
		if err != nil {
			_ = send(fd, packetRefused, []byte(err.Error())) // it may be gone
			unix.Close(fd)
			continue
		}
		s.all.Go(func() { s.attend(j) })
	}
}

// admit gives a terminal a place among those that are joined, and shows it the end of
// what was shown.
func (s *Screen) admit(fd int) (*onlooker, error) {
	if err := CheckOperator(fd); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("the worker has ended")
	case len(s.joined) >= maxJoined:
		return nil, fmt.Errorf("%d terminals are joined to it already", maxJoined)
	}
	j := newOnlooker(fd)
	j.show(answered(tail(s.shown)))
	s.joined[j] = true
	return j, nil
}

// attend sees a terminal that is joined to its end.
func (s *Screen) attend(j *onlooker) {
	var telling sync.WaitGroup
	telling.Go(j.tell)
	s.follow(j)
	j.part(Detached)
	telling.Wait()
	s.mu.Lock()
	delete(s.joined, j)
	s.mu.Unlock()
	unix.Close(j.fd)
}

// follow passes on what is typed, and the size.
func (s *Screen) follow(j *onlooker) {
	buf := make([]byte, packetRoom)
	for {
		kind, text, err := receive(j.fd, buf)
		switch {
		case err != nil:
			return
		case kind == packetKeys:
			s.enter(text)
		case kind == packetSize && len(text) == 4:
			s.resize(binary.BigEndian.Uint16(text), binary.BigEndian.Uint16(text[2:]))
		}
	}
}

// onlooker is a terminal that is joined, seen from the worker's.
type onlooker struct {
	fd      int
	mu      sync.Mutex
	more    *sync.Cond
	waiting []byte
	parting Parting // "": it is joined
}

func newOnlooker(fd int) *onlooker {
	j := &onlooker{fd: fd}
	j.more = sync.NewCond(&j.mu)
	return j
}

// show takes something to be shown. Whoever lags too far behind is parted from.
func (j *onlooker) show(p []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.parting != "":
		return
	case len(j.waiting)+len(p) > lagRoom:
		j.parting, j.waiting = Behind, nil
		_ = unix.Shutdown(j.fd, unix.SHUT_RD) // wakes who follows it
	default:
		j.waiting = append(j.waiting, p...)
	}
	j.more.Signal()
}

func (j *onlooker) part(why Parting) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.parting == "" {
		j.parting = why
	}
	j.more.Signal()
}

// tell sends what is to be shown, and at the end why it ends.
func (j *onlooker) tell() {
	defer unix.Shutdown(j.fd, unix.SHUT_RDWR)
	for {
		j.mu.Lock()
		for len(j.waiting) == 0 && j.parting == "" {
			j.more.Wait()
		}
		part := j.waiting[:min(len(j.waiting), packetRoom-1)]
		j.waiting = j.waiting[len(part):]
		why := j.parting
		j.mu.Unlock()
		switch {
		case len(part) > 0 && why != Detached:
			if send(j.fd, packetShown, part) != nil {
				return
			}
		default:
			_ = send(j.fd, packetParting, []byte(why)) // it may be gone
			return
		}
	}
}
