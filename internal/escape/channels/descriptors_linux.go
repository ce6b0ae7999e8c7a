package channels

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Descriptors are attempts through what the operator's shell left open, and
// through standard streams that lead to files of the host.
func Descriptors() []arena.Attempt {
	row := func(name, what string, prepare func(*arena.Fixture) error, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Prepare: prepare, Attack: attack}}
	}
	list := []arena.Attempt{
		row("inherited-write", "write an inherited descriptor", opened("file", os.O_RDWR), func(a *arena.Arena) error { return a.Overwrite(a.Number("fd")) }),
		row("inherited-reopen", "reopen an inherited descriptor for writing", opened("file", os.O_RDONLY), reopen),
		row("inherited-path", "reopen an inherited path descriptor for writing", opened("file", unix.O_PATH), reopen),
		row("inherited-directory", "open a file from an inherited directory", opened(".", os.O_RDONLY), func(a *arena.Arena) error {
			return a.WriteAt(a.Number("fd"), "file")
		}),
		row("inherited-chdir", "change into an inherited directory", opened("dir", os.O_RDONLY), func(a *arena.Arena) error {
			if err := unix.Fchdir(a.Number("fd")); err != nil {
				return err
			}
			return a.Write("../file")
		}),
		row("inherited-high", "write an inherited descriptor with a high number", func(f *arena.Fixture) error {
			for range 17 {
				if err := opened("tool", os.O_RDONLY)(f); err != nil {
					return err
				}
			}
			return opened("file", os.O_RDWR)(f)
		}, func(a *arena.Arena) error { return a.Overwrite(a.Number("fd")) }),
		row("stdin-reopen", "reopen standard input for writing", arena.Standard(0, "file", os.O_RDONLY), func(a *arena.Arena) error {
			return a.Write("/proc/self/fd/0")
		}),
		row("stdin-directory", "open a file from a directory that is standard input", arena.Standard(0, ".", os.O_RDONLY), func(a *arena.Arena) error {
			return a.WriteAt(0, "file")
		}),
		row("stdin-chdir", "change into the directory that is standard input", arena.Standard(0, "dir", os.O_RDONLY), func(a *arena.Arena) error {
			if err := unix.Fchdir(0); err != nil {
				return err
			}
			return a.Write("../file")
		}),
		row("stdin-metadata", "change the mode of the file that is standard input", arena.Standard(0, "file", os.O_RDONLY), func(a *arena.Arena) error {
			return unix.Fchmod(0, 0o777)
		}),
		row("stdin-parent", "reopen the parent's standard input for writing", arena.Standard(0, "file", os.O_RDONLY), func(a *arena.Arena) error {
			return a.Write("/proc/" + strconv.Itoa(os.Getppid()) + "/fd/0")
		}),
	}
	list = append(list, outputs()...)
	return append(list, inheritedObjects()...)
}

// opened leaves a descriptor of something outside open.
func opened(name string, flag int) func(*arena.Fixture) error {
	return func(f *arena.Fixture) error {
		fd, err := os.OpenFile(f.Out(name), flag, 0)
		if err == nil {
			f.Inherit("fd", fd)
		}
		return err
	}
}

func reopen(a *arena.Arena) error { return a.Write("/proc/self/fd/" + a.Args["fd"]) }

// outputs are about logs that the operator appends to with >>. A line more is
// what they are for; the lines before are not the attack's.
func outputs() []arena.Attempt {
	var list []arena.Attempt
	for _, s := range []struct {
		name string
		n    int
	}{{"stdout", 1}, {"stderr", 2}} {
		list = append(list, arena.Attempt{Name: s.name + "-reopen", What: "rewrite the log that " + s.name + " is appended to", Safe: true, Act: arena.Act{
			Prepare: arena.Standard(s.n, "file", os.O_WRONLY|os.O_APPEND),
			Attack:  func(a *arena.Arena) error { return a.Write("/proc/self/fd/" + strconv.Itoa(s.n)) },
			// cordon itself may add lines: the judge looks at this file, and nothing else does.
			Final: true,
			Judge: func(f *arena.Fixture) (string, error) {
				text, err := os.ReadFile(f.Out("file"))
				if err == nil && !strings.HasPrefix(string(text), arena.OutsideText) {
					return "the log was rewritten", nil
				}
				return "", err
			},
		}})
	}
	return append(list, arena.Attempt{Name: "stdin-secret", What: "read a secret from a directory that is standard input", Safe: true, Act: arena.Act{
		Prepare: func(f *arena.Fixture) error {
			if err := f.Put("home/.ssh/id_ed25519", f.Secret, 0o600); err != nil {
				return err
			}
			return arena.Standard(0, "../home", os.O_RDONLY)(f)
		},
		Attack: func(a *arena.Arena) error {
			fd, err := unix.Openat(0, ".ssh/id_ed25519", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return a.LeakFd(fd)
		},
		Judge: arena.JudgeLoot,
	}})
}

// inheritedObjects are descriptors of other things than files.
func inheritedObjects() []arena.Attempt {
	return []arena.Attempt{
		{Name: "inherited-secret", What: "read an inherited descriptor of a secret", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := f.Put("home/.ssh/id_ed25519", f.Secret, 0o600); err != nil {
					return err
				}
				return opened("../home/.ssh/id_ed25519", os.O_RDONLY)(f)
			},
			Attack: func(a *arena.Arena) error { return a.LeakFd(a.Number("fd")) },
			Judge:  arena.JudgeLoot,
		}},
		{Name: "inherited-socket", What: "speak through an inherited socket", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
				if err != nil {
					return err
				}
				f.Inherit("fd", os.NewFile(uintptr(pair[1]), "socket"))
				drainInto(f, os.NewFile(uintptr(pair[0]), "socket"))
				return nil
			},
			Attack: sendInherited, Judge: arena.JudgeReceived,
		}},
		{Name: "inherited-pipe", What: "speak through an inherited pipe", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				r, w, err := os.Pipe()
				if err != nil {
					return err
				}
				f.Inherit("fd", w)
				drainInto(f, r)
				return nil
			},
			Attack: sendInherited, Judge: arena.JudgeReceived,
		}},
		{Name: "inherited-pidfd", What: "signal through an inherited descriptor of a process", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := arena.StartVictim(f); err != nil {
					return err
				}
				fd, err := unix.PidfdOpen(f.Number("victim"), 0)
				f.Inherit("fd", os.NewFile(uintptr(fd), "pidfd"))
				return err
			},
			Attack: func(a *arena.Arena) error { return unix.PidfdSendSignal(a.Number("fd"), unix.SIGKILL, nil, 0) },
			Judge:  arena.JudgeVictimDead,
		}},
		{Name: "inherited-namespace", What: "enter an inherited descriptor of the host's mount namespace", Safe: true, Root: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				fd, err := os.Open("/proc/self/ns/mnt")
				f.Inherit("fd", fd)
				return err
			},
			Attack: func(a *arena.Arena) error {
				return arena.Enter(a.Number("fd"), unix.CLONE_NEWNS, func() error { return a.Write(a.Out("file")) })
			},
		}},
	}
}

func sendInherited(a *arena.Arena) error {
	_, err := unix.Write(a.Number("fd"), []byte(a.Mark))
	return err
}

// drainInto collects what comes out of a file until its other side is closed.
func drainInto(f *arena.Fixture, from *os.File) {
	f.OnClose(func() { from.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := from.Read(b)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			f.Receive(b[:n])
		}
	}()
}
