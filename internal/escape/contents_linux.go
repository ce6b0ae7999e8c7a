package escape

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// contents are the other system calls that put bytes into a file.
func contents() []Attempt {
	row := func(name, what string, act func(a *Arena, fd int) error) Attempt {
		return Attempt{Name: name, What: what, Safe: true, attempt: attempt{attack: func(a *Arena) error {
			fd, err := unix.Open(a.out("file"), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return act(a, fd)
		}}}
	}
	return []Attempt{
		row("mmap", "write a shared mapping of a file outside", mmapWrite),
		row("fallocate", "punch a hole into a file outside", func(_ *Arena, fd int) error {
			return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 64)
		}),
		row("copy-file-range", "copy a range into a file outside", func(a *Arena, fd int) error {
			return a.fromOwn(func(from int) error { _, err := unix.CopyFileRange(from, nil, fd, nil, 5, 0); return err })
		}),
		row("sendfile", "send a file into a file outside", func(a *Arena, fd int) error {
			return a.fromOwn(func(from int) error { _, err := unix.Sendfile(fd, from, nil, 5); return err })
		}),
		row("splice", "splice a pipe into a file outside", spliceWrite),
		row("pwritev2", "write with pwritev2", func(a *Arena, fd int) error {
			_, err := unix.Pwritev2(fd, [][]byte{[]byte(a.Mark)}, 0, 0)
			return err
		}),
		row("io-uring", "write with io_uring", uringWrite),
	}
}

func mmapWrite(a *Arena, fd int) error {
	m, err := unix.Mmap(fd, 0, 64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(m, a.Mark)
	return unix.Munmap(m)
}

func (a *Arena) fromOwn(act func(fd int) error) error {
	from, err := unix.Open(a.in("own"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	return act(from)
}

func spliceWrite(a *Arena, fd int) error {
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
func hardLinks() []Attempt {
	row := func(name, what string, attack func(*Arena) error) Attempt {
		return Attempt{Name: "hard-link-" + name, What: what, Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { return os.Link(f.out("file"), f.in("hard")) },
			attack:  attack,
		}}
	}
	return []Attempt{
		row("write", "write a file that has another name outside", func(a *Arena) error { return a.write(a.in("hard")) }),
		row("truncate", "truncate a file that has another name outside", func(a *Arena) error { return os.Truncate(a.in("hard"), 0) }),
		row("mmap", "map a file that has another name outside", func(a *Arena) error {
			fd, err := unix.Open(a.in("hard"), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return mmapWrite(a, fd)
		}),
		row("moved", "rename such a file and write it under the new name", func(a *Arena) error {
			if err := os.Rename(a.in("hard"), a.in("dir/soft")); err != nil {
				return err
			}
			return a.write(a.in("dir/soft"))
		}),
		{Name: "hard-link-directory", What: "rename the directory of such a file and write it there", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error { return os.Link(f.out("file"), f.in("dir/sub/hard")) },
			attack: func(a *Arena) error {
				if err := os.Rename(a.in("dir"), a.in("moved")); err != nil {
					return err
				}
				return a.write(a.in("moved/sub/hard"))
			},
		}},
		row("chmod", "change the mode of such a file", func(a *Arena) error { return os.Chmod(a.in("hard"), 0o777) }),
		row("xattr", "set an attribute of such a file", func(a *Arena) error {
			return unix.Setxattr(a.in("hard"), "user.cordon", []byte(a.Mark), 0)
		}),
	}
}

// places are directories of the machine and of the operator's home, where a file
// that appears is run or read by somebody else.
func places() []Attempt {
	var list []Attempt
	for _, p := range []struct{ name, at string }{
		{"bashrc", ".bashrc"}, {"profile", ".profile"}, {"gitconfig", ".gitconfig"},
		{"authorized-keys", ".ssh/authorized_keys"}, {"bin", ".local/bin/git"}, {"autostart", ".config/autostart/x.desktop"},
		{"cache", ".cache/poison"},
	} {
		list = append(list, Attempt{Name: "home-" + p.name, What: "write ~/" + p.at, Safe: true, attempt: attempt{
			attack: func(a *Arena) error {
				at := a.home(p.at)
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
		list = append(list, Attempt{Name: "place-" + p.name, What: "create a file in " + p.dir, Safe: !p.root, Root: p.root, attempt: attempt{
			tries: p.dir,
			prepare: func(f *Fixture) error {
				// Nobody else reads such a name: cron skips names with a dot.
				f.Args["path"] = filepath.Join(p.dir, "cordon-escape."+random())
				f.onClose(func() { _ = os.Remove(f.Args["path"]) })
				return nil
			},
			attack: func(a *Arena) error { return os.WriteFile(a.Args["path"], []byte(a.Mark), 0o600) },
			judge:  existsOnHost,
		}})
	}
	return append(list, Attempt{Name: "tmp-victim", What: "write into a file of the operator's in /tmp", Safe: true, attempt: attempt{
		prepare: func(f *Fixture) error {
			f.Args["path"] = filepath.Join(os.TempDir(), "cordon-escape."+random())
			f.onClose(func() { _ = os.Remove(f.Args["path"]) })
			return os.WriteFile(f.Args["path"], []byte("the operator's"), 0o600)
		},
		attack: func(a *Arena) error { return a.write(a.Args["path"]) },
		judge: func(f *Fixture) (string, error) {
			text, err := os.ReadFile(f.Args["path"])
			if strings.Contains(string(text), f.Mark) {
				return "the file in /tmp was written", nil
			}
			return "", err
		},
	}})
}

func existsOnHost(f *Fixture) (string, error) {
	if _, err := os.Lstat(f.Args["path"]); err == nil {
		return f.Args["path"] + " came to be", nil
	}
	return "", nil
}

// uringWrite submits one write through a ring, past filters that only know write.
func uringWrite(a *Arena, fd int) error {
	params := make([]byte, 120)
	ring, err := call(unix.SYS_IO_URING_SETUP, 4, params)
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
	copy(entries[4:], words(int32(fd)))
	copy(entries[16:], words(address(text)))
	copy(entries[24:], words(uint32(len(text))))
	copy(sq[at(40+24):], words(uint32(0)))
	copy(sq[at(40+4):], words(uint32(1)))
	n, err := call(unix.SYS_IO_URING_ENTER, ring, 1, 1, 1)
	if err == nil && n != 1 {
		return errors.New("not taken: " + strconv.Itoa(int(n)))
	}
	return err
}
