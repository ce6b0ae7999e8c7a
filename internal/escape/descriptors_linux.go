package escape

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// descriptors are attempts through what the operator's shell left open, and
// through standard streams that lead to files of the host.
func descriptors() []Attempt {
	row := func(name, what string, prepare func(*Fixture) error, attack func(*Arena) error) Attempt {
		return Attempt{Name: name, What: what, Safe: true, attempt: attempt{prepare: prepare, attack: attack}}
	}
	list := []Attempt{
		row("inherited-write", "write an inherited descriptor", opened("file", os.O_RDWR), func(a *Arena) error { return a.overwrite(a.number("fd")) }),
		row("inherited-reopen", "reopen an inherited descriptor for writing", opened("file", os.O_RDONLY), reopen),
		row("inherited-path", "reopen an inherited path descriptor for writing", opened("file", unix.O_PATH), reopen),
		row("inherited-directory", "open a file from an inherited directory", opened(".", os.O_RDONLY), func(a *Arena) error {
			return a.writeAt(a.number("fd"), "file")
		}),
		row("inherited-chdir", "change into an inherited directory", opened("dir", os.O_RDONLY), func(a *Arena) error {
			if err := unix.Fchdir(a.number("fd")); err != nil {
				return err
			}
			return a.write("../file")
		}),
		row("inherited-high", "write an inherited descriptor with a high number", func(f *Fixture) error {
			for range 17 {
				if err := opened("tool", os.O_RDONLY)(f); err != nil {
					return err
				}
			}
			return opened("file", os.O_RDWR)(f)
		}, func(a *Arena) error { return a.overwrite(a.number("fd")) }),
		row("stdin-reopen", "reopen standard input for writing", standard(0, "file", os.O_RDONLY), func(a *Arena) error {
			return a.write("/proc/self/fd/0")
		}),
		row("stdin-directory", "open a file from a directory that is standard input", standard(0, ".", os.O_RDONLY), func(a *Arena) error {
			return a.writeAt(0, "file")
		}),
		row("stdin-chdir", "change into the directory that is standard input", standard(0, "dir", os.O_RDONLY), func(a *Arena) error {
			if err := unix.Fchdir(0); err != nil {
				return err
			}
			return a.write("../file")
		}),
		row("stdin-metadata", "change the mode of the file that is standard input", standard(0, "file", os.O_RDONLY), func(a *Arena) error {
			return unix.Fchmod(0, 0o777)
		}),
		row("stdin-parent", "reopen the parent's standard input for writing", standard(0, "file", os.O_RDONLY), func(a *Arena) error {
			return a.write("/proc/" + strconv.Itoa(os.Getppid()) + "/fd/0")
		}),
	}
	list = append(list, outputs()...)
	return append(list, inheritedObjects()...)
}

// opened leaves a descriptor of something outside open.
func opened(name string, flag int) func(*Fixture) error {
	return func(f *Fixture) error {
		fd, err := os.OpenFile(f.out(name), flag, 0)
		if err == nil {
			f.inherit("fd", fd)
		}
		return err
	}
}

// standard makes something outside a standard stream.
func standard(n int, name string, flag int) func(*Fixture) error {
	return func(f *Fixture) error {
		fd, err := os.OpenFile(f.out(name), flag, 0)
		if err == nil {
			f.onClose(func() { fd.Close() })
			f.stdio[n] = fd
		}
		return err
	}
}

func reopen(a *Arena) error { return a.write("/proc/self/fd/" + a.Args["fd"]) }

// outputs are about logs that the operator appends to with >>. A line more is
// what they are for; the lines before are not the attack's.
func outputs() []Attempt {
	var list []Attempt
	for _, s := range []struct {
		name string
		n    int
	}{{"stdout", 1}, {"stderr", 2}} {
		list = append(list, Attempt{Name: s.name + "-reopen", What: "rewrite the log that " + s.name + " is appended to", Safe: true, attempt: attempt{
			prepare: standard(s.n, "file", os.O_WRONLY|os.O_APPEND),
			attack:  func(a *Arena) error { return a.write("/proc/self/fd/" + strconv.Itoa(s.n)) },
			// cordon itself may add lines: the judge looks at this file, and nothing else does.
			final: true,
			judge: func(f *Fixture) (string, error) {
				text, err := os.ReadFile(f.out("file"))
				if err == nil && !strings.HasPrefix(string(text), outsideText) {
					return "the log was rewritten", nil
				}
				return "", err
			},
		}})
	}
	return append(list, Attempt{Name: "stdin-secret", What: "read a secret from a directory that is standard input", Safe: true, attempt: attempt{
		prepare: func(f *Fixture) error {
			if err := f.put("home/.ssh/id_ed25519", f.Secret, 0o600); err != nil {
				return err
			}
			return standard(0, "../home", os.O_RDONLY)(f)
		},
		attack: func(a *Arena) error {
			fd, err := unix.Openat(0, ".ssh/id_ed25519", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return a.leakFd(fd)
		},
		judge: looted,
	}})
}

func (a *Arena) leakFd(fd int) error {
	b := make([]byte, 4096)
	n, err := unix.Read(fd, b)
	if err != nil {
		return err
	}
	return a.leak(b[:n])
}

// inheritedObjects are descriptors of other things than files.
func inheritedObjects() []Attempt {
	return []Attempt{
		{Name: "inherited-secret", What: "read an inherited descriptor of a secret", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				if err := f.put("home/.ssh/id_ed25519", f.Secret, 0o600); err != nil {
					return err
				}
				return opened("../home/.ssh/id_ed25519", os.O_RDONLY)(f)
			},
			attack: func(a *Arena) error { return a.leakFd(a.number("fd")) },
			judge:  looted,
		}},
		{Name: "inherited-socket", What: "speak through an inherited socket", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
				if err != nil {
					return err
				}
				f.inherit("fd", os.NewFile(uintptr(pair[1]), "socket"))
				f.drain(os.NewFile(uintptr(pair[0]), "socket"))
				return nil
			},
			attack: sendInherited, judge: told,
		}},
		{Name: "inherited-pipe", What: "speak through an inherited pipe", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				r, w, err := os.Pipe()
				if err != nil {
					return err
				}
				f.inherit("fd", w)
				f.drain(r)
				return nil
			},
			attack: sendInherited, judge: told,
		}},
		{Name: "inherited-pidfd", What: "signal through an inherited descriptor of a process", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				if err := startVictim(f); err != nil {
					return err
				}
				fd, err := unix.PidfdOpen(f.number("victim"), 0)
				f.inherit("fd", os.NewFile(uintptr(fd), "pidfd"))
				return err
			},
			attack: func(a *Arena) error { return unix.PidfdSendSignal(a.number("fd"), unix.SIGKILL, nil, 0) },
			judge:  dead,
		}},
		{Name: "inherited-namespace", What: "enter an inherited descriptor of the host's mount namespace", Safe: true, Root: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				fd, err := os.Open("/proc/self/ns/mnt")
				f.inherit("fd", fd)
				return err
			},
			attack: func(a *Arena) error {
				return enter(a.number("fd"), unix.CLONE_NEWNS, func() error { return a.write(a.out("file")) })
			},
		}},
	}
}

func sendInherited(a *Arena) error {
	_, err := unix.Write(a.number("fd"), []byte(a.Mark))
	return err
}

// drain collects what comes out of a file until its other side is closed.
func (f *Fixture) drain(from *os.File) {
	f.onClose(func() { from.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := from.Read(b)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			f.receive(b[:n])
		}
	}()
}
