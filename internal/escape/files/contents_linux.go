package files

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// contents are the other system calls that put bytes into a file.
func contents() []arena.Attempt {
	row := func(name, what string, act func(a *arena.Arena, fd int) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Attack: func(a *arena.Arena) error {
			fd, err := unix.Open(a.Out("file"), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return act(a, fd)
		}}}
	}
	return []arena.Attempt{
		row("mmap", "write a shared mapping of a file outside", mmapWrite),
		row("fallocate", "punch a hole into a file outside", func(_ *arena.Arena, fd int) error {
			return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 64)
		}),
		row("copy-file-range", "copy a range into a file outside", func(a *arena.Arena, fd int) error {
			return fromOwn(a, func(from int) error { _, err := unix.CopyFileRange(from, nil, fd, nil, 5, 0); return err })
		}),
		row("sendfile", "send a file into a file outside", func(a *arena.Arena, fd int) error {
			return fromOwn(a, func(from int) error { _, err := unix.Sendfile(fd, from, nil, 5); return err })
		}),
		row("splice", "splice a pipe into a file outside", spliceWrite),
		row("pwritev2", "write with pwritev2", func(a *arena.Arena, fd int) error {
			_, err := unix.Pwritev2(fd, [][]byte{[]byte(a.Mark)}, 0, 0)
			return err
		}),
		row("io-uring", "write with io_uring", uringWrite),
	}
}

func mmapWrite(a *arena.Arena, fd int) error {
	m, err := unix.Mmap(fd, 0, 64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(m, a.Mark)
	return unix.Munmap(m)
}

func fromOwn(a *arena.Arena, act func(fd int) error) error {
	from, err := unix.Open(a.In("own"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	return act(from)
}

func spliceWrite(a *arena.Arena, fd int) error {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	if _, err := unix.Write(p[1], []byte(a.Mark)); err != nil {
		return err
	}
	_, err := unix.Splice(p[0], nil, fd, nil, len(a.Mark), 0)
	return err
}

// hardLinks are attempts through a name in the tree of a file that also has one
// outside. The operator made the link before the run; it is no fault of the tree.
func hardLinks() []arena.Attempt {
	row := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: "hard-link-" + name, What: what, Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return os.Link(f.Out("file"), f.In("hard")) },
			Attack:  attack,
		}}
	}
	return []arena.Attempt{
		row("write", "write a file that has another name outside", func(a *arena.Arena) error { return a.Write(a.In("hard")) }),
		row("truncate", "truncate a file that has another name outside", func(a *arena.Arena) error { return os.Truncate(a.In("hard"), 0) }),
		row("mmap", "map a file that has another name outside", func(a *arena.Arena) error {
			fd, err := unix.Open(a.In("hard"), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return mmapWrite(a, fd)
		}),
		row("moved", "rename such a file and write it under the new name", func(a *arena.Arena) error {
			if err := os.Rename(a.In("hard"), a.In("dir/soft")); err != nil {
				return err
			}
			return a.Write(a.In("dir/soft"))
		}),
		{Name: "hard-link-directory", What: "rename the directory of such a file and write it there", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return os.Link(f.Out("file"), f.In("dir/sub/hard")) },
			Attack: func(a *arena.Arena) error {
				if err := os.Rename(a.In("dir"), a.In("moved")); err != nil {
					return err
				}
				return a.Write(a.In("moved/sub/hard"))
			},
		}},
		row("chmod", "change the mode of such a file", func(a *arena.Arena) error { return os.Chmod(a.In("hard"), 0o777) }),
		row("xattr", "set an attribute of such a file", func(a *arena.Arena) error {
			return unix.Setxattr(a.In("hard"), "user.cordon", []byte(a.Mark), 0)
		}),
	}
}

// places are directories of the machine and of the operator's home, where a file
// that appears is run or read by somebody else.
func places() []arena.Attempt {
	var list []arena.Attempt
	for _, p := range []struct{ name, at string }{
		{"bashrc", ".bashrc"}, {"profile", ".profile"}, {"gitconfig", ".gitconfig"},
		{"authorized-keys", ".ssh/authorized_keys"}, {"bin", ".local/bin/git"}, {"autostart", ".config/autostart/x.desktop"},
		{"cache", ".cache/poison"},
	} {
		list = append(list, arena.Attempt{Name: "home-" + p.name, What: "write ~/" + p.at, Safe: true, Act: arena.Act{
			Attack: func(a *arena.Arena) error {
				at := a.InHome(p.at)
				return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(a.Mark), 0o755))
			},
		}})
	}
	for _, p := range []struct {
		name, dir string
		root      bool
	}{
		{"tmp", "/tmp", false}, {"var-tmp", "/var/tmp", false}, {"dev-shm", "/dev/shm", false},
		{"run", "/run", true}, {"etc", "/etc", true}, {"usr", "/usr/local/bin", true}, {"var", "/var/lib", true},
		{"root", "/", true}, {"cron", "/etc/cron.d", true}, {"systemd", "/etc/systemd/system", true},
	} {
		list = append(list, arena.Attempt{Name: "place-" + p.name, What: "create a file in " + p.dir, Safe: !p.root, Root: p.root, Act: arena.Act{
			Tries: p.dir,
			Prepare: func(f *arena.Fixture) error {
				// Nobody else reads such a name: cron skips names with a dot.
				f.Args["path"] = filepath.Join(p.dir, "cordon-escape."+arena.RandomName())
				f.OnClose(func() { _ = os.Remove(f.Args["path"]) })
				return nil
			},
			Attack: func(a *arena.Arena) error { return os.WriteFile(a.Args["path"], []byte(a.Mark), 0o600) },
			Judge:  arena.JudgeExists,
		}})
	}
	return append(list, arena.Attempt{Name: "tmp-victim", What: "write into a file of the operator's in /tmp", Safe: true, Act: arena.Act{
		Prepare: func(f *arena.Fixture) error {
			f.Args["path"] = filepath.Join(os.TempDir(), "cordon-escape."+arena.RandomName())
			f.OnClose(func() { _ = os.Remove(f.Args["path"]) })
			return os.WriteFile(f.Args["path"], []byte("the operator's"), 0o600)
		},
		Attack: func(a *arena.Arena) error { return a.Write(a.Args["path"]) },
		Judge: func(f *arena.Fixture) (string, error) {
			text, err := os.ReadFile(f.Args["path"])
			if strings.Contains(string(text), f.Mark) {
				return "the file in /tmp was written", nil
			}
			return "", err
		},
	}})
}

// uringWrite submits one write through a ring, past filters that only know write.
func uringWrite(a *arena.Arena, fd int) error {
	params := make([]byte, 120)
	ring, err := arena.Call(unix.SYS_IO_URING_SETUP, 4, params)
	if err != nil {
		return err
	}
	at := func(i int) int { return int(binary.NativeEndian.Uint32(params[i:])) }
	size := at(40+24) + 4*4 // the array of the submission queue comes last
	sq, err := unix.Mmap(int(ring), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return err
	}
	entries, err := unix.Mmap(int(ring), 0x10000000, 4*64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return err
	}
	text := []byte(a.Mark)
	const opWrite = 23
	entries[0] = opWrite
	copy(entries[4:], arena.Words(int32(fd)))
	copy(entries[16:], arena.Words(arena.Address(text)))
	copy(entries[24:], arena.Words(uint32(len(text))))
	copy(sq[at(40+24):], arena.Words(uint32(0)))
	copy(sq[at(40+4):], arena.Words(uint32(1)))
	n, err := arena.Call(unix.SYS_IO_URING_ENTER, ring, 1, 1, 1)
	if err == nil && n != 1 {
		return errors.New("not taken: " + strconv.Itoa(int(n)))
	}
	return err
}
