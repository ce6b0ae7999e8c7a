package cell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/limit"
	"cordon/internal/cell/mount"
	"cordon/internal/cell/plan"
	"cordon/internal/cell/terminal"
	"cordon/internal/cell/walls"
)

// ambient are the capabilities, in its own user namespace only, with which a cell
// is built. They are gone before anything is proven.
var ambient = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE,
	unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, // overlayfs makes a directory that it may not open otherwise
	unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW, // a network listens to low ports, and to what is sent to others
}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWNET

// runConfined runs a command in a cell. A layer that cannot be put up is left out
// when the caller allows it, and the launch is tried again: which layers there
// are is not guessed beforehand but seen.
func runConfined(ctx context.Context, c Command) (Exit, error) {
	order, found, err := complete(c)
	if err == nil && (order.Net != nil && c.Serve == nil || order.Inward && c.Publish == nil) {
		err = errNoServer
	}
	if err != nil {
		return notStarted(err)
	}
	if c.Cell.Commit != "" {
		if found.Git, err = host.FindProgram("git", c.Env); err != nil {
			return notStarted(err)
		}
	}
	if order.Layers == "" && !host.KeepsMarks() {
		dir, done, err := mount.LayersOnDisk(mount.LayersPlaces, order.Write)
		if err != nil {
			return notStarted(err)
		}
		defer done()
		order.Layers = dir
	}
	var missing []plan.Missing
	var without []plan.Layer
	for again := 0; ; {
		spec, err := plan.Plan(order, found, without...)
		exit := Exit{Code: noCell, Reason: NotStarted}
		if err == nil {
			err = host.CheckKernel(spec, c.Weaker)
		}
		if err == nil {
			exit, err = launch(ctx, c, spec, missing)
		}
		about := host.FailedLayer(err)
		if about == nil || slices.Contains(without, about.Layer) {
			if err != nil {
				exit.Error = err.Error()
			}
			return exit, err
		}
		if now, moved := lookAgain(order, found); again < mostLooks && (moved || again == 0) {
			again, found = again+1, now
			continue
		}
		if spared(order.Net, about.Layer, c.Weaker) {
			order.Net = nil
			continue
		}
		m := host.MissingLayer(about)
		if !c.Weaker {
			return notStarted(&plan.MissingError{Missing: m})
		}
		missing, without = append(missing, m), append(without, about.Layer)
		if about.Layer == plan.Namespaces { // then Landlock is the only wall, whatever else it forbids
			missing = slices.DeleteFunc(missing, func(m plan.Missing) bool { return m.Layer == plan.Landlock })
			without = slices.DeleteFunc(without, func(l plan.Layer) bool { return l == plan.Landlock })
		}
		if bare := slices.Contains(without, plan.Namespaces); bare && host.LandlockVersion() < 1 {
			return notStarted(host.NothingLeft(append(missing, host.MissingLayer(host.NoLandlock()))))
		}
		if about.Layer == plan.Namespaces && order.Net != nil && !order.Net.Names {
			missing = append(missing, networkBare(host.LandlockVersion()))
		}
		if about.Layer == plan.Namespaces {
			done, err := keepPlaces(&order)
			if err != nil {
				return notStarted(err)
			}
			defer done()
		}
	}
}

// mostLooks bounds how often a launch begins again because the mounts of the machine change.
const mostLooks = 5

// lookAgain looks at the machine after a layer could not be put up, and reports whether its mounts are others now. A container
// that starts or ends between the look and the namespaces of the cell makes a plan that the kernel refuses: what is mounted
// below a directory cannot be left out of it. One that has gone again leaves no trace, so the first failure is always looked at twice.
func lookAgain(o plan.Order, was plan.Host) (plan.Host, bool) {
	now, err := host.Find(o, host.Look())
	if err != nil {
		return was, false
	}
	now.Git = was.Git
	return now, !slices.Equal(now.Mounts, was.Mounts)
}

// spared reports whether a command runs without its network instead of without a layer: the
// network leads nowhere, and is what cannot be made, or is no use without the layer.
func spared(n *plan.Net, missing plan.Layer, weaker bool) bool {
	return n != nil && n.Spare && (missing == plan.Network || weaker && missing == plan.Namespaces)
}

// complete is the order of a command and what it names on this machine.
func complete(c Command) (plan.Order, plan.Host, error) {
	order := *c.Cell
	order.Argv, order.Dir, order.Env, order.Terminal = c.Argv, c.Dir, c.Env, terminals(c)
	order.Bind = append(slices.Clone(order.Bind), host.NamedFiles(order)...)
	found, err := host.Find(order, c.Seat.surveyed())
	return order, found, err
}

// Dry is the plan with which a command would be confined.
func Dry(c Command) (plan.Spec, error) {
	order, found, err := complete(c)
	if err != nil {
		return plan.Spec{}, err
	}
	return plan.Plan(order, found)
}

// keepPlaces makes the directories that a command without a view of its own gets.
func keepPlaces(o *plan.Order) (done func(), err error) {
	done = func() {}
	if o.Layers == "" {
		if o.Layers, err = os.MkdirTemp("", "cordon-cell-"); err != nil {
			return done, err
		}
		made := o.Layers
		done = func() { _ = os.RemoveAll(made) } // made just now, and what it leaves is in the place for temporary files
	}
	// A directory of their own: what a cell with a view mounts later must not lie
	// where a worker could have written.
	o.Layers = filepath.Join(o.Layers, "bare")
	for _, name := range []string{plan.HomeName, "tmp"} {
		if err := os.MkdirAll(filepath.Join(o.Layers, name), 0o700); err != nil {
			return done, err
		}
	}
	return done, nil
}

// cellProcess is a cell seen from outside.
type cellProcess struct {
	command Command
	spec    plan.Spec
	missing []plan.Missing
	cmd     *exec.Cmd
	control control
	input   *os.File       // feeds its standard input; nil: there is none
	feed    *terminal.Feed // does so, once the command runs

	failed  error
	ended   *message
	started bool
	tried   *Tried
	refused *walls.Refusals
	relay   *terminal.Relay
	network network
	group   *limit.Group
	door    *Door // for visitors; nil where there is no namespace to enter
	over    chan Reason
}

// launch starts a cell and sees it to its end.
func launch(ctx context.Context, c Command, spec plan.Spec, missing []plan.Missing) (Exit, error) {
	witness, err := walls.Listen(&spec)
	if err != nil {
		return notStarted(err)
	}
	defer witness.Close()
	var n network
	if err := n.hostProxy(&spec); err != nil {
		n.close()
		return notStarted(err)
	}
	p := &cellProcess{command: c, spec: spec, network: n, missing: missing, refused: &walls.Refusals{}, over: make(chan Reason, 1)}
	defer p.leaveGroup()
	defer p.network.close()
	before := limit.CountBefore(p.spec)
	if err := p.start(); err != nil {
		return notStarted(err)
	}
	heard := make(chan struct{})
	go func() { learnMessages(); p.listen(witness); close(heard) }()
	stop := make(chan struct{})
	go limit.WatchDisk(p.spec, before, stop, func(limit string) { p.endFor(Reason(limit)) })
	if p.group != nil {
		go p.group.Watch(p.spec.Limits, stop, func(reason string) { p.endFor(Reason(reason)) })
	}
	reason := supervise(ctx, p.cmd, c, p.over)
	close(stop)
	<-heard
	p.door.close()
	p.feed.End()
	if p.feed == nil && p.input != nil { // the command never ran
		p.input.Close()
	}
	if p.relay != nil {
		p.relay.End()
	}
	waitSeated(p.cmd)
	unix.Close(p.control.fd)
	return p.exit(reason)
}

// endFor asks for the end of the cell. Only the first reason counts.
func (p *cellProcess) endFor(reason Reason) {
	select {
	case p.over <- reason:
	default: // another one was first
	}
}

// enterGroup moves the cell's first process, which waits for its plan and has started
// nothing, into a control group of its own where one can be had.
func (p *cellProcess) enterGroup() {
	g := limit.NewGroup(p.spec.Limits)
	if g == nil {
		return
	}
	if g.Join(p.cmd.Process.Pid) != nil { // the kernel does not let us after all
		g.Remove()
		return
	}
	p.group, p.spec.Limits.Group = g, p.spec.Limits.Memory > 0
}

func (p *cellProcess) leaveGroup() {
	if p.group != nil {
		p.group.Remove()
	}
}

// start gives a plan to the first process of a cell: the one that waits for it,
// or a new one.
func (p *cellProcess) start() error {
	var lock *os.File
	if p.spec.Keep != "" {
		var err error
		if lock, err = lockLayers(p.spec.Keep); err != nil {
			return err
		}
		defer lock.Close()
	}
	seat := p.command.Seat
	if seat == nil || !p.spec.Has(plan.Namespaces) || !seat.take() { // its caller drops one that is not taken
		var err error
		if seat, err = newSeat(p.command, p.spec.Has(plan.Namespaces)); err != nil {
			return err
		}
	}
	p.cmd, p.control, p.input = seat.cmd, seat.control, seat.input
	defer seat.plan.Close()
	p.enterGroup()
	if err := seat.hand(p.spec, lock); err != nil {
		seat.drop()
		return err
	}
	return nil
}

// lockLayers keeps private layers to one cell at a time: the kernel would let two
// mount them. The lock is held by the cell itself, which may outlive a cordon
// that was killed by a moment.
func lockLayers(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for range 500 {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another cell has it: %w", dir, err), f.Close())
	}
	return f, nil
}

// writing copies what the worker writes, also into the operator's own pipe: a
// descriptor of it could be read from and changed. Two that are the same stay one,
// so that nothing is put in another order.
func writing(out, err io.Writer) (io.Writer, io.Writer) {
	if same(out, err) {
		both := copied(out)
		return both, both
	}
	return copied(out), copied(err)
}

func same(a, b io.Writer) bool {
	f, isFile := a.(*os.File)
	g, isToo := b.(*os.File)
	if !isFile || !isToo {
		return a == b
	}
	fi, err := f.Stat()
	gi, gerr := g.Stat()
	return err == nil && gerr == nil && os.SameFile(fi, gi)
}

func copied(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		return &struct{ io.Writer }{f}
	}
	return w
}

// listen hears what the cell has to say until it ends.
func (p *cellProcess) listen(w *walls.Witness) {
	for {
		m, files, err := p.control.receive()
		if err != nil {
			return
		}
		switch {
		case m.Visit > 0:
			p.door.hear(m, files)
			continue
		case m.Pty && len(files) == 1 && p.relay == nil:
			p.relay = relayTerminal(files[0], p.command)
			continue
		case m.Socket != "" && !p.started:
			p.network.take(p.spec, m.Socket, files)
			continue
		case m.Listener && len(files) == 1:
			go p.refused.Supervise(files[0])
			continue
		case m.Trial && !p.started && p.tried == nil:
			p.tried = tried(m, files)
		case m.Failed != "" && p.failed == nil:
			p.failed = errors.New(m.Failed)
			if m.Program {
				p.failed = &ProgramError{m.Absent, p.failed}
			}
			if m.Layer != "" {
				p.failed = &plan.LayerError{Layer: m.Layer, Err: errors.New(strings.TrimPrefix(m.Failed, string(m.Layer)+": "))}
			}
		case m.Proven != nil && !p.started:
			if p.failed = p.letGo(m, w); p.failed != nil {
				_ = p.cmd.Process.Kill() // its end is what we wait for
			}
		case m.Ended && p.ended == nil:
			p.ended = &m
		}
		closeFiles(files)
	}
}

// letGo tells a proven cell to start its worker.
func (p *cellProcess) letGo(m message, w *walls.Witness) error {
	if err := w.Check(p.spec); err != nil {
		return err
	}
	w.Close()
	if p.spec.Has(plan.Namespaces) {
		p.door = newDoor(p.control)
	}
	if err := p.network.serve(p); err != nil {
		return err
	}
	if p.command.Started != nil {
		err := p.command.Started(Launch{
			Pid: p.cmd.Process.Pid, Layers: p.spec.Layers, Landlock: m.Landlock, Missing: p.missing, Proven: m.Proven,
			Private: p.spec.Private(), Door: p.door, Memory: p.spec.Counting(), Tried: p.tried,
		})
		if err != nil {
			return err
		}
	}
	p.started = true
	p.refused.StartCounting()
	if p.input != nil {
		p.feed = terminal.StartFeed(p.command.Stdin, p.input)
	}
	if err := p.control.send(message{Go: true}); err != nil {
		return err
	}
	p.door.serve()
	return nil
}

// exit is how it ended.
func (p *cellProcess) exit(reason Reason) (Exit, error) {
	if p.failed != nil && reason != Interrupted {
		return notStarted(p.failed)
	}
	e := Exit{Reason: reason, Code: status(p.cmd), Refused: p.refused.Counted()}
	switch {
	case p.ended != nil:
		e.Code, e.Killed, e.Left = p.ended.Code, p.ended.Killed, p.ended.Left
		if reason == Exited && p.ended.Reason != "" {
			e.Reason = p.ended.Reason
		}
		if p.spec.Limits.Disk > 0 && e.Code == 128+int(syscall.SIGXFSZ) {
			e.Reason = DiskLimit
		}
	case !p.spec.Has(plan.Namespaces):
		e.Left = endRest(p.cmd.Process.Pid, p.command.mark())
	case p.started && reason == Exited:
		e.Reason, e.Code = Vanished, max(e.Code, 1) // the cell did not say how its worker ended
	case !p.started && reason == Exited:
		return notStarted(fmt.Errorf("the cell ended before its worker started (%d)", e.Code))
	}
	// The kernel ends all of a group, its first process included, before anybody can
	// say why.
	if p.group != nil && e.Code != 0 && (e.Reason == Exited || e.Reason == Vanished) {
		if over := p.group.Reached(); over != "" {
			e.Reason = Reason(over)
		}
	}
	return e, nil
}

// relayTerminal joins the terminal of a command to the worker's.
func relayTerminal(master *os.File, c Command) *terminal.Relay {
	return terminal.StartRelay(master, c.Terminal, terminals(c)[0], c.Transcript, c.Screen)
}

// terminals says which standard descriptors the worker sees as a terminal.
func terminals(c Command) (list [3]bool) {
	if c.Terminal == nil {
		return list
	}
	return [3]bool{c.Stdin == nil || c.Stdin == c.Terminal, c.Stdout == nil || c.Stdout == c.Terminal, c.Stderr == nil || c.Stderr == c.Terminal}
}
