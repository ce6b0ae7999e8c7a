package cell

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/terminal"
)

// Door lets visitors into a cell. What they do there is nothing that the one who
// runs the cell waits for: each has a goroutine of its own, there are few of them,
// and nobody waits for one that does not read.
type Door struct {
	cell     control
	admit    func(argv []string) error
	place    *os.File // the directory of the socket
	listener int

	mu     sync.Mutex
	closed bool
	last   int // number given
	visits map[int]*visit
	all    sync.WaitGroup
}

// visit is one visitor, seen from the door.
type visit struct {
	number int
	line   control   // to the visitor
	words  chan word // of the cell about it
}

// word is a message with what came with it.
type word struct {
	message
	files []*os.File
}

func newDoor(c control) *Door { return &Door{cell: c, listener: -1, visits: map[int]*visit{}} }

// Open lets visitors come to a directory that no cell sees, until the cell ends.
// What each wants to run (nothing: a shell) is told to admit before it runs, and
// an error of that keeps it out. They wait until the worker has started.
func (d *Door) Open(dir string, admit func(argv []string) error) error {
	place, fd, err := terminal.ListenIn(dir, doorName, maxVisits)
	if err != nil {
		return err
	}
	d.place, d.listener, d.admit = place, fd, admit
	return nil
}

// serve begins to take visitors. The cell has been told to start its worker
// before: it expects that word first.
func (d *Door) serve() {
	if d != nil && d.listener >= 0 {
		d.all.Go(d.accept)
	}
}

// close ends every visit. The cell has ended before.
func (d *Door) close() {
	if d == nil || d.listener < 0 {
		return
	}
	_ = unix.Unlinkat(int(d.place.Fd()), doorName, 0) // a door that nobody answers says the same
	_ = unix.Shutdown(d.listener, unix.SHUT_RDWR)     // wakes accept
	d.mu.Lock()
	d.closed = true
	for _, v := range d.visits {
		close(v.words)
		_ = unix.Shutdown(v.line.fd, unix.SHUT_RD) // what it still says is for nobody
	}
	d.mu.Unlock()
	d.all.Wait()
	unix.Close(d.listener)
	d.place.Close()
}

func (d *Door) accept() {
	for {
		fd, err := terminal.AcceptFrom(d.listener)
		if err != nil {
			return
		}
		v, err := d.enter(control{fd})
		if err != nil {
			_ = control{fd}.offer(message{Refused: err.Error()}) // it may be gone
			unix.Close(fd)
			continue
		}
		d.all.Go(func() { d.receive(v) })
	}
}

// enter gives a visitor a place among those that are in.
func (d *Door) enter(line control) (*visit, error) {
	if err := terminal.CheckOperator(line.fd); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, errors.New("the worker has ended")
	case len(d.visits) >= maxVisits:
		return nil, fmt.Errorf("%d visitors are in it already", maxVisits)
	}
	d.last++
	// The cell says little of a visit: that it runs, and that it has ended.
	v := &visit{number: d.last, line: line, words: make(chan word, 4)}
	d.visits[v.number] = v
	return v, nil
}

// leave gives the place to somebody else.
func (d *Door) leave(v *visit) {
	d.mu.Lock()
	delete(d.visits, v.number)
	d.mu.Unlock()
	for { // what the cell has said and nobody has heard
		select {
		case w, more := <-v.words:
			if more {
				closeFiles(w.files)
				continue
			}
		default:
		}
		unix.Close(v.line.fd)
		return
	}
}

// receive sees a visit to its end.
func (d *Door) receive(v *visit) {
	defer d.leave(v)
	plan, err := d.asked(v)
	if err != nil {
		_ = v.line.offer(message{Refused: err.Error()}) // it may be gone
		return
	}
	err = d.cell.send(message{Visit: v.number}, int(plan.Fd()))
	plan.Close()
	if err != nil {
		_ = v.line.offer(message{Over: true})
		return
	}
	var follow sync.WaitGroup
	follow.Go(func() { d.follow(v) })
	v.tell()
	_ = unix.Shutdown(v.line.fd, unix.SHUT_RD) // wakes the other
	follow.Wait()
}

// hello is how long a visitor may take to say what it wants.
var hello = unix.Timeval{Sec: 5}

// asked is what a visitor wants, admitted.
func (d *Door) asked(v *visit) (*os.File, error) {
	if err := unix.SetsockoptTimeval(v.line.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &hello); err != nil {
		return nil, err
	}
	_, files, err := v.line.receive()
	if err == nil && len(files) != 1 {
		err = errors.New("it does not say what to run")
	}
	var r request
	if err == nil {
		err = r.read(files[0])
	}
	if err == nil {
		err = unix.SetsockoptTimeval(v.line.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{})
	}
	if err == nil {
		err = d.admit(r.Argv)
	}
	if err != nil {
		closeFiles(files)
		return nil, err
	}
	return files[0], nil
}

// hear takes what the cell says of a visit. It waits for nobody.
func (d *Door) hear(m message, files []*os.File) {
	if d == nil {
		closeFiles(files)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := d.visits[m.Visit]; v != nil && !d.closed {
		select {
		case v.words <- word{m, files}:
			return
		default:
		}
	}
	closeFiles(files)
}

// tell passes on what the cell says, until the visit has ended. A visitor that does
// not read, or is gone, is told nothing, and keeps its place until its command has
// ended.
func (v *visit) tell() {
	for w := range v.words {
		m := message{Opened: w.Opened, Ended: w.Ended, Code: w.Code, Failed: w.Failed, Program: w.Program, Absent: w.Absent}
		var fds []int
		for _, f := range w.files {
			fds = append(fds, int(f.Fd()))
		}
		_ = v.line.offer(m, fds...)
		closeFiles(w.files)
		if w.Ended || w.Failed != "" {
			return
		}
	}
	_ = v.line.offer(message{Over: true})
}

// follow passes on the signals that a visitor sends, and its end.
func (d *Door) follow(v *visit) {
	for {
		m, files, err := v.line.receive()
		closeFiles(files)
		if err != nil {
			_ = d.cell.send(message{Visit: v.number, Gone: true}) // the cell has ended: so has the visit
			return
		}
		if slices.Contains(forwarded, os.Signal(syscall.Signal(m.Signal))) {
			_ = d.cell.send(message{Visit: v.number, Signal: m.Signal})
		}
	}
}
