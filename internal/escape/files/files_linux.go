package files

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Files are attempts to change files outside of the tree by their names. Where
// nothing else is said they are judged by whether anything around the tree changed.
func Files() []arena.Attempt {
	row := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Attack: attack}}
	}
	list := []arena.Attempt{
		row("write", "write into a file outside", func(a *arena.Arena) error { return a.Write(a.Out("file")) }),
		row("truncate", "truncate a file outside", func(a *arena.Arena) error { return os.Truncate(a.Out("file"), 0) }),
		row("append", "append to a file outside", func(a *arena.Arena) error { return appendTo(a.Out("file"), a.Mark) }),
		row("create", "create a file outside", func(a *arena.Arena) error { return os.WriteFile(a.Out("new"), []byte(a.Mark), 0o600) }),
		row("mkdir", "create a directory outside", func(a *arena.Arena) error { return os.Mkdir(a.Out("new"), 0o700) }),
		row("fifo", "create a pipe outside", func(a *arena.Arena) error { return unix.Mkfifo(a.Out("new"), 0o600) }),
		row("symlink", "create a symbolic link outside", func(a *arena.Arena) error { return os.Symlink(a.Work, a.Out("new")) }),
		row("unlink", "remove a file outside", func(a *arena.Arena) error { return os.Remove(a.Out("file")) }),
		row("rmdir", "remove a directory outside", func(a *arena.Arena) error { return unix.Rmdir(a.Out("empty")) }),
		row("rename-out", "move a file out over another", func(a *arena.Arena) error { return os.Rename(a.In("own"), a.Out("file")) }),
		row("rename-in", "move a file of others into the tree", func(a *arena.Arena) error { return os.Rename(a.Out("file"), a.In("taken")) }),
		row("rename-exchange", "exchange a file with one outside", renameFlag(unix.RENAME_EXCHANGE, "file")),
		row("rename-whiteout", "move a file out and leave a whiteout", renameFlag(unix.RENAME_WHITEOUT, "new")),
		row("rename-directory", "move a directory over one outside", func(a *arena.Arena) error { return unix.Rename(a.In("dir"), a.Out("empty")) }),
		row("link-in", "link a file of others into the tree and write it", linkIn),
		row("link-out", "link a file of the tree to a name outside", func(a *arena.Arena) error { return os.Link(a.In("own"), a.Out("new")) }),
		row("link-empty-path", "link an open file in by its descriptor", linkEmptyPath),
		row("tmpfile", "make a nameless file and give it a name outside", tmpfile),
		row("through-symlink", "write through a symbolic link in the tree", throughSymlink),
		row("through-parent", "write through a link and back up again", throughParent),
		row("symlink-race", "swap a directory for a link while writing below it", symlinkRace),
		row("beside", "create a file beside the tree", func(a *arena.Arena) error { return os.WriteFile(filepath.Join(a.Base, "new"), nil, 0o600) }),
		row("dotdot", "climb out with ..", func(a *arena.Arena) error { return a.Write("../outside/file") }),
		row("moved-directory", "climb out of a directory that was moved", movedDirectory),
		row("removed-directory", "climb out of a directory that was removed", removedDirectory),
		row("self-root", "go through /proc/self/root", func(a *arena.Arena) error { return a.Write("/proc/self/root" + a.Out("file")) }),
		row("thread-root", "go through the root of a thread", func(a *arena.Arena) error {
			return a.Write("/proc/thread-self/root" + a.Out("file"))
		}),
		row("self-cwd", "go through /proc/self/cwd", func(a *arena.Arena) error { return a.Write("/proc/self/cwd/../outside/file") }),
		row("parent-root", "go through the root of the parent", func(a *arena.Arena) error {
			return a.Write("/proc/" + strconv.Itoa(os.Getppid()) + "/root" + a.Out("file"))
		}),
		row("parent-cwd", "go through the directory of the parent", func(a *arena.Arena) error {
			return a.Write("/proc/" + strconv.Itoa(os.Getppid()) + "/cwd/../outside/file")
		}),
		anyRootAttempt(),
		row("tree-rename", "move the tree itself away", func(a *arena.Arena) error { return os.Rename(a.Work, a.Work+".old") }),
		row("tree-replace", "put a link in the place of the tree", treeReplace),
		row("socket-file", "bind a socket to a name outside", socketFile),
		row("program-replace", "replace a program that the operator runs", func(a *arena.Arena) error { return os.Rename(a.In("own"), a.Out("tool")) }),
	}
	one := row("init-root", "go through the root of process 1, or of one of the host", func(a *arena.Arena) error {
		return a.OfHost(func(dir string) error { return a.Write(dir + "/root" + a.Out("file")) })
	})
	cwd := row("init-cwd", "go through the directory of process 1, or of one of the host", func(a *arena.Arena) error {
		return a.OfHost(func(dir string) error {
			return arena.Each(func() error { return a.Write(dir + "/cwd" + a.Out("file")) }, func() error { return a.Write(dir + "/cwd/outside/file") })
		})
	})
	one.Prepare, cwd.Prepare = arena.StartVictim, arena.StartVictim
	list = append(list, one, cwd)
	for _, root := range []struct{ name, is string }{
		{"write-root-link", `write_roots: [".", sub]`}, {"write-root-below-link", `write_roots: [".", sub/dir]`}, {"scratch-link", `scratch: [sub]`},
	} {
		list = append(list, arena.Attempt{Name: root.name, What: "be given a link to the outside as " + root.is, Safe: true, Act: arena.Act{
			Launch: true, Policy: "version: 1\nfilesystem:\n  " + root.is + "\n",
			Prepare: func(f *arena.Fixture) error { return os.Symlink("../outside", f.In("sub")) },
			Attack: func(a *arena.Arena) error {
				return arena.Each(func() error { return a.Write(a.In("sub/file")) }, func() error { return a.Write(a.In("sub/dir/file")) })
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

func renameFlag(flag uint, to string) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		return unix.Renameat2(unix.AT_FDCWD, a.In("own"), unix.AT_FDCWD, a.Out(to), flag)
	}
}

func linkIn(a *arena.Arena) error {
	if err := os.Link(a.Out("file"), a.In("linked")); err != nil {
		return err
	}
	return a.Write(a.In("linked"))
}

func linkEmptyPath(a *arena.Arena) error {
	fd, err := unix.Open(a.Out("file"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	from := "/proc/self/fd/" + strconv.Itoa(fd)
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, a.In("linked"), unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	return a.Write(a.In("linked"))
}

func tmpfile(a *arena.Arena) error {
	fd, err := unix.Open(a.Outside, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil { // then from the tree's own directory
		if fd, err = unix.Open(a.Work, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err != nil {
			return err
		}
	}
	defer unix.Close(fd)
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, a.Out("new"), unix.AT_SYMLINK_FOLLOW)
}

func throughSymlink(a *arena.Arena) error {
	if err := os.Symlink(a.Out("file"), a.In("way")); err != nil {
		return err
	}
	return a.Write(a.In("way"))
}

func throughParent(a *arena.Arena) error {
	if err := os.Symlink("../outside/dir", a.In("way")); err != nil {
		return err
	}
	return a.Write(a.In("way") + "/../file")
}

// symlinkRace writes to way/file while way is a directory of the tree at one
// moment and a link to the outside at the next.
func symlinkRace(a *arena.Arena) error {
	if err := errors.Join(os.Mkdir(a.In("way"), 0o700), os.WriteFile(a.In("way/file"), nil, 0o600), os.Symlink(a.Outside, a.In("swap"))); err != nil {
		return err
	}
	end := time.Now().Add(100 * time.Millisecond)
	go func() {
		for time.Now().Before(end) {
			_ = unix.Renameat2(unix.AT_FDCWD, a.In("way"), unix.AT_FDCWD, a.In("swap"), unix.RENAME_EXCHANGE) // again and again
		}
	}()
	var last error
	for time.Now().Before(end) {
		if err := a.Write(a.In("way/file")); err != nil {
			last = err
		}
	}
	return last
}

func movedDirectory(a *arena.Arena) error {
	if err := errors.Join(os.MkdirAll(a.In("one/two/three"), 0o700), os.Chdir(a.In("one/two/three"))); err != nil {
		return err
	}
	if err := os.Rename(a.In("one/two/three"), a.In("three")); err != nil {
		return err
	}
	return a.Write("../../outside/file")
}

func removedDirectory(a *arena.Arena) error {
	fd, err := unix.Open(a.In("dir"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(a.In("dir/sub")), os.Chdir(a.In("dir")), os.Rename(a.In("dir"), a.In("gone"))); err != nil {
		return err
	}
	return a.WriteAt(fd, "../../outside/file")
}

// anyRootAttempt names the namespace of the machine's files to the attack, so that its
// control leaves the cells of other workers alone: as root it could write in all of them.
func anyRootAttempt() arena.Attempt {
	return arena.Attempt{Name: "any-root", What: "go through the root of any process that is seen", Safe: true, Act: arena.Act{
		Prepare: func(f *arena.Fixture) (err error) {
			f.Args["machine"], err = os.Readlink("/proc/self/ns/mnt")
			return err
		},
		Attack: anyRoot,
	}}
}

func anyRoot(a *arena.Arena) error {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	var acts []func() error
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if ns, err := os.Readlink("/proc/" + e.Name() + "/ns/mnt"); err == nil && ns != own && ns != a.Args["machine"] {
			continue // somebody else's cell
		}
		acts = append(acts, func() error { return a.Write("/proc/" + e.Name() + "/root" + a.Out("file")) })
	}
	err = arena.Each(acts...)
	if err != nil && len(err.Error()) > 200 {
		return errors.New("refused for every process")
	}
	return err
}

func treeReplace(a *arena.Arena) error {
	if err := os.Rename(a.Work, a.Work+".old"); err != nil {
		return err
	}
	return os.Symlink(a.Outside, a.Work)
}

func socketFile(a *arena.Arena) error {
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
