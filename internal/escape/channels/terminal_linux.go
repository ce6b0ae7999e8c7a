package channels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Terminal are attempts on the operator's terminal: to type for the operator, to
// read what is typed, to leave it in another state, to take it away.
func Terminal() []arena.Attempt {
	all, only2 := []int{0, 1, 2}, []int{2}
	row := func(name, what string, streams []int, judge func(*arena.Fixture) (string, error), attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{
			Prepare: onTerminal(streams...), Judge: judge, Attack: attack, During: typeWhenAsked,
		}}
	}
	list := []arena.Attempt{
		row("type-stdin", "type for the operator on standard input", all, typed, pushInto(0)),
		row("type-tty", "type for the operator on /dev/tty", all, typed, func(a *arena.Arena) error {
			fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return push(fd, a.Mark)
		}),
		row("type-stderr", "type for the operator when only stderr is the terminal", only2, typed, pushInto(2)),
		row("type-name", "type for the operator on the terminal's name", all, typed, func(a *arena.Arena) error {
			fd, err := unix.Open(a.Args["terminal"], unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return push(fd, a.Mark)
		}),
		row("read-stderr", "read what is typed when only stderr is the terminal", only2, arena.JudgeLoot, func(a *arena.Arena) error { return listenOn(a, 2) }),
		row("modes-stdin", "leave the terminal without echo", all, modesChanged, func(*arena.Arena) error { return noEcho(0) }),
		row("modes-stderr", "leave it without echo when only stderr is it", only2, modesChanged, func(*arena.Arena) error { return noEcho(2) }),
		row("size", "change the size of the terminal", all, sizeChanged, func(*arena.Arena) error {
			return unix.IoctlSetWinsize(0, unix.TIOCSWINSZ, &unix.Winsize{Row: 7, Col: 7})
		}),
		row("size-stderr", "change its size when only stderr is it", only2, sizeChanged, func(*arena.Arena) error {
			return unix.IoctlSetWinsize(2, unix.TIOCSWINSZ, &unix.Winsize{Row: 7, Col: 7})
		}),
	}
	return append(list, otherTerminals()...)
}

// otherTerminals are terminals that the attack was not started on.
func otherTerminals() []arena.Attempt {
	with := func(a *arena.Arena, act func(fd int) error) error {
		fd, err := unix.Open(a.Args["terminal"], unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return act(fd)
	}
	return []arena.Attempt{
		{Name: "other-write", What: "write to another terminal of the user", Safe: true, Act: arena.Act{
			Prepare: onTerminal(), Judge: arena.JudgeReceived,
			Attack: func(a *arena.Arena) error {
				return with(a, func(fd int) error { _, err := unix.Write(fd, []byte(a.Mark+"\n")); return err })
			},
		}},
		{Name: "other-read", What: "read what is typed on another terminal", Safe: true, Act: arena.Act{
			Prepare: onTerminal(), Judge: arena.JudgeLoot, During: typeWhenAsked,
			Attack: func(a *arena.Arena) error { return with(a, func(fd int) error { return listenOn(a, fd) }) },
		}},
		{Name: "other-type", What: "type on another terminal", Safe: true, Root: true, Act: arena.Act{
			Prepare: onTerminal(), Judge: typed,
			Attack: func(a *arena.Arena) error { return with(a, func(fd int) error { return push(fd, a.Mark) }) },
		}},
		{Name: "steal", What: "take another session's terminal away", Safe: true, Root: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := onTerminal()(f); err != nil {
					return err
				}
				slave, err := os.OpenFile(f.Args["terminal"], os.O_RDWR|unix.O_NOCTTY, 0)
				if err != nil {
					return err
				}
				f.OnClose(func() { slave.Close() })
				return f.StartVictim(slave, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3})
			},
			Attack: func(a *arena.Arena) error {
				if a.Stage == "" {
					return a.StartAgain("session", &syscall.SysProcAttr{Setsid: true}).Run()
				}
				return with(a, func(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCSCTTY, 1) })
			},
			Judge: func(f *arena.Fixture) (string, error) {
				line := f.VictimLine("stat", "")
				fields := strings.Fields(line[strings.LastIndex(line, ")")+1:])
				if len(fields) > 4 && fields[4] == "0" {
					return "the victim has no terminal any more", nil
				}
				return "", nil
			},
		}},
		{Name: "console", What: "ask the console for its state (TIOCLINUX)", Safe: true, Root: true, Act: arena.Act{
			Tries: "/dev/tty1", Judge: arena.JudgeObtained("the console answered"),
			Attack: func(a *arena.Arena) error {
				fd, err := unix.Open("/dev/tty1", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
				if err != nil {
					return err
				}
				const shiftState = 6
				if _, err := arena.Call(unix.SYS_IOCTL, fd, unix.TIOCLINUX, []byte{shiftState, 0, 0, 0}); err != nil {
					return err
				}
				return a.Leak([]byte("the console answered"))
			},
		}},
		{Name: "multiplexer", What: "open terminals of the host by their numbers", Safe: true, Act: arena.Act{
			Prepare: onTerminal(), Judge: arena.JudgeReceived,
			Attack: func(a *arena.Arena) error {
				names, err := filepath.Glob("/dev/pts/[0-9]*")
				if err != nil {
					return err
				}
				last := errors.New("there are none")
				for _, n := range names {
					if n == a.Args["terminal"] { // on the host, only our own
						last = with(a, func(fd int) error { _, err := unix.Write(fd, []byte(a.Mark+"\n")); return err })
					}
				}
				return last
			},
		}},
	}
}

// onTerminal makes a terminal. With streams the attack's session is on it, and
// those standard streams are it; without it is somebody else's.
func onTerminal(streams ...int) func(*arena.Fixture) error {
	return func(f *arena.Fixture) error {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		f.OnClose(func() { master.Close() })
		if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
		if err != nil {
			return err
		}
		f.Args["terminal"] = "/dev/pts/" + strconv.Itoa(n)
		slave, err := os.OpenFile(f.Args["terminal"], os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		f.OnClose(func() { slave.Close() })
		if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
			return err
		}
		if len(streams) > 0 {
			f.Attr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: streams[0]}
		}
		for _, s := range streams {
			f.Stdio[s] = slave
		}
		collectFrom(f, int(master.Fd()))
		f.Args["was"], err = termios(f)
		f.Peaks["slave"], f.Peaks["master"] = int(slave.Fd()), int(master.Fd())
		return err
	}
}

// collectFrom notes what appears on the terminal, and so keeps it from filling up.
func collectFrom(f *arena.Fixture, master int) {
	if err := unix.SetNonblock(master, true); err == nil {
		f.Serve(master, false)
	}
}

func push(fd int, text string) error {
	for _, c := range []byte(text + "\n") {
		if _, err := arena.Call(unix.SYS_IOCTL, fd, unix.TIOCSTI, []byte{c}); err != nil {
			return fmt.Errorf("TIOCSTI: %w", err)
		}
	}
	return nil
}

func pushInto(fd int) func(*arena.Arena) error {
	return func(a *arena.Arena) error { return push(fd, a.Mark) }
}

// typed judges by what waits to be read on the operator's terminal, as the shell
// that comes next would read it.
func typed(f *arena.Fixture) (string, error) {
	fd, err := unix.Open(f.Args["terminal"], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	b := make([]byte, 4096)
	if n, err := unix.Read(fd, b); err == nil && strings.Contains(string(b[:n]), f.Mark) {
		return "the operator's shell would read the attack's line", nil
	}
	return "", nil
}

// listenOn asks the host to type, and reads it.
func listenOn(a *arena.Arena, fd int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	a.Note("listens")
	b := make([]byte, 256)
	var last error
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		n, err := unix.Read(fd, b)
		if last = err; err == nil && n > 0 {
			return a.Leak(b[:n])
		}
	}
	return fmt.Errorf("nothing was typed: %w", last)
}

// typeWhenAsked is the operator, who types a secret while the attack listens.
func typeWhenAsked(f *arena.Fixture, done <-chan struct{}) {
	asked := func() bool { return strings.Contains(f.Trace(), "listens\n") }
	arena.Await(2*time.Second, func() bool {
		select {
		case <-done:
			return true
		default:
			return asked()
		}
	})
	if asked() {
		_, _ = unix.Write(f.Peaks["master"], []byte(f.Secret+"\n")) // not typed: not read
	}
}

func termios(f *arena.Fixture) (string, error) {
	fd, err := unix.Open(f.Args["terminal"], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x %x %x %x", t.Iflag, t.Oflag, t.Cflag, t.Lflag), nil
}

func modesChanged(f *arena.Fixture) (string, error) {
	is, err := termios(f)
	if err == nil && is != f.Args["was"] {
		return "the terminal is left in another mode", nil
	}
	return "", err
}

func sizeChanged(f *arena.Fixture) (string, error) {
	w, err := unix.IoctlGetWinsize(f.Peaks["slave"], unix.TIOCGWINSZ)
	if err == nil && w.Row == 7 {
		return "the terminal has another size", nil
	}
	return "", err
}

func noEcho(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO | unix.ICANON
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}
