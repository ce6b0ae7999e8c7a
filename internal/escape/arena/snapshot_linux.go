package arena

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// snapshot describes everything in the fixture that the attack must not change:
// all of it but the attack's tree (of which the .git entry belongs to the
// operator), and but cordon's own state in the home.
func (f *Fixture) snapshot() (map[string]string, error) {
	shot := map[string]string{}
	err := filepath.WalkDir(f.Base, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
				return nil // its own row says that it changed
			}
			return err
		}
		if path == f.InHome(".local/state") || path == filepath.Join(f.Base, ".local") {
			return fs.SkipDir
		}
		if shot[path], err = Describe(path); err != nil {
			return err
		}
		if path == f.Work {
			return f.gitEntry(shot)
		}
		return nil
	})
	return shot, err
}

// gitEntry adds the .git of the attack's tree, and leaves the rest of it out.
func (f *Fixture) gitEntry(shot map[string]string) error {
	err := filepath.WalkDir(f.In(".git"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		shot[path], err = Describe(path)
		return err
	})
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// Describe is everything about a file that an attack may want to change. Times
// of access are left out: reading is allowed. So are times and sizes of
// directories, which say no more than their entries.
func Describe(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return "gone", nil
		}
		return "", err
	}
	d := fmt.Sprintf("mode %o owner %d:%d", st.Mode, st.Uid, st.Gid)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return d + attributes(path), nil
	case unix.S_IFLNK:
		to, err := os.Readlink(path)
		return d + " to " + to, err
	case unix.S_IFREG:
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return d + " unreadable", nil
		}
		return fmt.Sprintf("%s mtime %d.%09d content %x%s", d, st.Mtim.Sec, st.Mtim.Nsec, sha256.Sum256(content), attributes(path)), err
	}
	return fmt.Sprintf("%s device %d", d, st.Rdev), nil
}

// attributes are the extended attributes, ACLs among them, and inode flags.
func attributes(path string) string {
	var b strings.Builder
	names := make([]byte, 4096)
	if n, err := unix.Llistxattr(path, names); err == nil {
		list := strings.Split(string(names[:n]), "\x00")
		slices.Sort(list)
		for _, name := range list {
			value := make([]byte, 4096)
			if n, err := unix.Lgetxattr(path, name, value); err == nil && name != "" {
				fmt.Fprintf(&b, " %s=%x", name, value[:n])
			}
		}
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return b.String()
	}
	defer unix.Close(fd)
	if flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS); err == nil {
		fmt.Fprintf(&b, " flags %x", flags)
	}
	if p, err := projectOf(fd); err == nil {
		fmt.Fprintf(&b, " project %d", p)
	}
	return b.String()
}

// Changed says what is no longer as it was before the attack.
func (f *Fixture) Changed() (string, error) {
	after, err := f.snapshot()
	if err != nil {
		return "", err
	}
	var list []string
	for path, was := range f.before {
		if is := after[path]; is != was {
			list = append(list, f.relative(path))
		}
	}
	for path := range after {
		if _, was := f.before[path]; !was {
			list = append(list, f.relative(path)+" is new")
		}
	}
	if len(list) == 0 {
		return "", nil
	}
	slices.Sort(list)
	return "changed on the host: " + shorten(list), nil
}

func (f *Fixture) relative(path string) string {
	rel, err := filepath.Rel(f.Base, path)
	if err != nil {
		return path
	}
	return rel
}

func shorten(list []string) string {
	if len(list) > 3 {
		list = append(slices.Clip(list[:3]), fmt.Sprintf("and %d more", len(list)-3))
	}
	return strings.Join(list, ", ")
}

// Left says what of the run is still on the machine: processes and mounts. A
// process that was killed may need a moment to go.
func (f *Fixture) Left() string {
	gone := func() bool { return len(f.Alive()) == 0 }
	if !gone() && (!f.Confined || !Await(10*time.Second, gone)) { // what is being ended now needs a moment
		return fmt.Sprintf("%d processes survive", len(f.Alive()))
	}
	if m := f.mounted(); len(m) > 0 {
		return "mounts are left: " + shorten(m)
	}
	return ""
}
