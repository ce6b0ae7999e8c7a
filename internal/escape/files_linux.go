package escape

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// files are attempts to change files outside of the tree by their names. Where
// nothing else is said they are judged by whether anything around the tree changed.
func files() []Attempt {
	row := func(name, what string, attack func(*Arena) error) Attempt {
		return Attempt{Name: name, What: what, Safe: true, attempt: attempt{attack: attack}}
	}
	list := []Attempt{
		row("write", "write into a file outside", func(a *Arena) error { return a.write(a.out("file")) }),
		row("truncate", "truncate a file outside", func(a *Arena) error { return os.Truncate(a.out("file"), 0) }),
		row("append", "append to a file outside", func(a *Arena) error { return appendTo(a.out("file"), a.Mark) }),
		row("create", "create a file outside", func(a *Arena) error { return os.WriteFile(a.out("new"), []byte(a.Mark), 0o600) }),
		row("mkdir", "create a directory outside", func(a *Arena) error { return os.Mkdir(a.out("new"), 0o700) }),
		row("fifo", "create a pipe outside", func(a *Arena) error { return unix.Mkfifo(a.out("new"), 0o600) }),
		row("symlink", "create a symbolic link outside", func(a *Arena) error { return os.Symlink(a.Work, a.out("new")) }),
		row("unlink", "remove a file outside", func(a *Arena) error { return os.Remove(a.out("file")) }),
		row("rmdir", "remove a directory outside", func(a *Arena) error { return unix.Rmdir(a.out("empty")) }),
		row("rename-out", "move a file out over another", func(a *Arena) error { return os.Rename(a.in("own"), a.out("file")) }),
		row("rename-in", "move a file of others into the tree", func(a *Arena) error { return os.Rename(a.out("file"), a.in("taken")) }),
		row("rename-exchange", "exchange a file with one outside", renameFlag(unix.RENAME_EXCHANGE, "file")),
		row("rename-whiteout", "move a file out and leave a whiteout", renameFlag(unix.RENAME_WHITEOUT, "new")),
		row("rename-directory", "move a directory over one outside", func(a *Arena) error { return unix.Rename(a.in("dir"), a.out("empty")) }),
		row("link-in", "link a file of others into the tree and write it", linkIn),
		row("link-out", "link a file of the tree to a name outside", func(a *Arena) error { return os.Link(a.in("own"), a.out("new")) }),
		row("link-empty-path", "link an open file in by its descriptor", linkEmptyPath),
		row("tmpfile", "make a nameless file and give it a name outside", tmpfile),
		row("through-symlink", "write through a symbolic link in the tree", throughSymlink),
		row("through-parent", "write through a link and back up again", throughParent),
		row("symlink-race", "swap a directory for a link while writing below it", symlinkRace),
		row("beside", "create a file beside the tree", func(a *Arena) error { return os.WriteFile(filepath.Join(a.Base, "new"), nil, 0o600) }),
		row("dotdot", "climb out with ..", func(a *Arena) error { return a.write("../outside/file") }),
		row("moved-directory", "climb out of a directory that was moved", movedDirectory),
		row("removed-directory", "climb out of a directory that was removed", removedDirectory),
		row("self-root", "go through /proc/self/root", func(a *Arena) error { return a.write("/proc/self/root" + a.out("file")) }),
		row("thread-root", "go through the root of a thread", func(a *Arena) error {
			return a.write("/proc/thread-self/root" + a.out("file"))
		}),
		row("self-cwd", "go through /proc/self/cwd", func(a *Arena) error { return a.write("/proc/self/cwd/../outside/file") }),
		row("parent-root", "go through the root of the parent", func(a *Arena) error {
			return a.write("/proc/" + strconv.Itoa(os.Getppid()) + "/root" + a.out("file"))
		}),
		row("parent-cwd", "go through the directory of the parent", func(a *Arena) error {
			return a.write("/proc/" + strconv.Itoa(os.Getppid()) + "/cwd/../outside/file")
		}),
		row("any-root", "go through the root of any process that is seen", anyRoot),
		row("tree-rename", "move the tree itself away", func(a *Arena) error { return os.Rename(a.Work, a.Work+".old") }),
		row("tree-replace", "put a link in the place of the tree", treeReplace),
		row("socket-file", "bind a socket to a name outside", socketFile),
		row("program-replace", "replace a program that the operator runs", func(a *Arena) error { return os.Rename(a.in("own"), a.out("tool")) }),
	}
	one := row("init-root", "go through the root of process 1, or of one of the host", func(a *Arena) error {
		return a.ofHost(func(dir string) error { return a.write(dir + "/root" + a.out("file")) })
	})
	cwd := row("init-cwd", "go through the directory of process 1, or of one of the host", func(a *Arena) error {
		return a.ofHost(func(dir string) error {
			return each(func() error { return a.write(dir + "/cwd" + a.out("file")) }, func() error { return a.write(dir + "/cwd/outside/file") })
		})
	})
	one.prepare, cwd.prepare = startVictim, startVictim
	list = append(list, one, cwd)
	for _, root := range []struct{ name, is string }{
		{"write-root-link", `write_roots: [".", sub]`}, {"write-root-below-link", `write_roots: [".", sub/dir]`}, {"scratch-link", `scratch: [sub]`},
	} {
		list = append(list, Attempt{Name: root.name, What: "be given a link to the outside as " + root.is, Safe: true, attempt: attempt{
			launch: true, policy: "version: 1\nfilesystem:\n  " + root.is + "\n",
			prepare: func(f *Fixture) error { return os.Symlink("../outside", f.in("sub")) },
			attack: func(a *Arena) error {
				return each(func() error { return a.write(a.in("sub/file")) }, func() error { return a.write(a.in("sub/dir/file")) })
			},
		}})
	}
	list = append(list, contents()...)
	list = append(list, hardLinks()...)
	list = append(list, denied()...)
	return append(list, places()...)
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func renameFlag(flag uint, to string) func(*Arena) error {
	return func(a *Arena) error {
		return unix.Renameat2(unix.AT_FDCWD, a.in("own"), unix.AT_FDCWD, a.out(to), flag)
	}
}

func linkIn(a *Arena) error {
	if err := os.Link(a.out("file"), a.in("linked")); err != nil {
		return err
	}
	return a.write(a.in("linked"))
}

func linkEmptyPath(a *Arena) error {
	fd, err := unix.Open(a.out("file"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	from := "/proc/self/fd/" + strconv.Itoa(fd)
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, a.in("linked"), unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	return a.write(a.in("linked"))
}

func tmpfile(a *Arena) error {
	fd, err := unix.Open(a.Outside, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil { // then from the tree's own directory
		if fd, err = unix.Open(a.Work, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err != nil {
			return err
		}
	}
	defer unix.Close(fd)
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, a.out("new"), unix.AT_SYMLINK_FOLLOW)
}

func throughSymlink(a *Arena) error {
	if err := os.Symlink(a.out("file"), a.in("way")); err != nil {
		return err
	}
	return a.write(a.in("way"))
}

func throughParent(a *Arena) error {
	if err := os.Symlink("../outside/dir", a.in("way")); err != nil {
		return err
	}
	return a.write(a.in("way") + "/../file")
}

// symlinkRace writes to way/file while way is a directory of the tree at one
// moment and a link to the outside at the next.
func symlinkRace(a *Arena) error {
	if err := errors.Join(os.Mkdir(a.in("way"), 0o700), os.WriteFile(a.in("way/file"), nil, 0o600), os.Symlink(a.Outside, a.in("swap"))); err != nil {
		return err
	}
	end := time.Now().Add(100 * time.Millisecond)
	go func() {
		for time.Now().Before(end) {
			_ = unix.Renameat2(unix.AT_FDCWD, a.in("way"), unix.AT_FDCWD, a.in("swap"), unix.RENAME_EXCHANGE) // again and again
		}
	}()
	var last error
	for time.Now().Before(end) {
		if err := a.write(a.in("way/file")); err != nil {
			last = err
		}
	}
	return last
}

func movedDirectory(a *Arena) error {
	if err := errors.Join(os.MkdirAll(a.in("one/two/three"), 0o700), os.Chdir(a.in("one/two/three"))); err != nil {
		return err
	}
	if err := os.Rename(a.in("one/two/three"), a.in("three")); err != nil {
		return err
	}
	return a.write("../../outside/file")
}

func removedDirectory(a *Arena) error {
	fd, err := unix.Open(a.in("dir"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(a.in("dir/sub")), os.Chdir(a.in("dir")), os.Rename(a.in("dir"), a.in("gone"))); err != nil {
		return err
	}
	return a.writeAt(fd, "../../outside/file")
}

func anyRoot(a *Arena) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	var acts []func() error
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil {
			acts = append(acts, func() error { return a.write("/proc/" + e.Name() + "/root" + a.out("file")) })
		}
	}
	err = each(acts...)
	if err != nil && len(err.Error()) > 200 {
		return errors.New("refused for every process")
	}
	return err
}

func treeReplace(a *Arena) error {
	if err := os.Rename(a.Work, a.Work+".old"); err != nil {
		return err
	}
	return os.Symlink(a.Outside, a.Work)
}

func socketFile(a *Arena) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := os.Chdir(a.Outside); err != nil { // a socket's name is short
		return err
	}
	return unix.Bind(fd, &unix.SockaddrUnix{Name: "new"})
}
