package githook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/paths"
	"cordon/internal/plainfile"
)

// checker looks at a hook and at the scripts that it names.
type checker struct {
	own   git.Operator
	trees []string
	tops  []string // checkouts
	path  string   // the PATH that a hook gets
	seen  map[string]bool
}

const (
	maxLinks   = 40
	maxScripts = 200     // files that one hook names
	maxDepth   = 10      // of scripts that name scripts
	maxScript  = 1 << 20 // bytes
	maxHead    = 8192    // bytes that show whether a program is compiled
)

// program checks a file that is run, and what it names if it is a script. The first one
// is the hook: nobody else may be able to replace it. Programs of root's are part of the
// system, and their scripts are not read.
func (c *checker) program(path string, depth int) error {
	if c.seen[path] {
		return nil
	}
	c.seen[path] = true
	if len(c.seen) > maxScripts || depth > maxDepth {
		return errors.New("it names too many scripts for cordon to read")
	}
	if err := c.place(path, depth == 0); err != nil {
		return err
	}
	f, err := plainfile.OpenLinked(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if depth > 0 && ok && st.Uid == 0 && (os.Geteuid() != 0 || inSystem(path)) {
		return nil
	}
	head := make([]byte, maxHead)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.IndexByte(head[:n], 0) >= 0 {
		return nil // compiled: nobody knows what it calls
	}
	text, err := plainfile.Bounded(f, maxScript)
	if err != nil {
		return fmt.Errorf("%s cannot be read as a script: %w", path, err)
	}
	return c.script(path, string(text), depth)
}

// inSystem reports whether a path lies where the system keeps its programs.
func inSystem(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/nix/store"}, func(dir string) bool { return paths.Within(real, dir) })
}

// place refuses a file that lies in a tree or is reached through one. owned refuses it also
// where somebody other than the operator and root can replace it.
func (c *checker) place(path string, owned bool) error {
	list, err := passed(path)
	if err != nil {
		return err
	}
	for i, p := range list {
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		link := st.Mode&unix.S_IFMT == unix.S_IFLNK
		if (link || i == len(list)-1) && c.inTree(p) {
			return inside(p)
		}
		if problem, hint := plainfile.Foreign(p, &st); owned && problem != "" {
			return fmt.Errorf("%s: %s (%s)", p, problem, hint)
		}
	}
	return nil
}

// inTree reports whether a path leads into a tree, also to a file that is not there yet.
func (c *checker) inTree(path string) bool {
	return c.own.InTree(path) || slices.ContainsFunc(c.trees, func(tree string) bool {
		return paths.Within(path, tree) && !paths.Within(path, filepath.Join(tree, ".git"))
	})
}

func inside(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return fmt.Errorf("%s leads to %s: a tree or checkout on the way has files that a worker or a landing can change", path, real)
	}
	return fmt.Errorf("%s lies in a tree or checkout, whose files a worker or a landing can change", path)
}

// passed lists every path that the kernel looks at on the way to a file, links included.
func passed(path string) ([]string, error) {
	var list []string
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		fi, err := os.Lstat(next)
		if err != nil {
			return nil, err
		}
		list = append(list, next)
		if fi.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return nil, fmt.Errorf("%s: %w", path, unix.ELOOP)
		}
		to, err := os.Readlink(next)
		if err != nil {
			return nil, err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return list, nil
}
