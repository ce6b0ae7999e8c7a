package limit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/paths"
)

// Where a control group for a cell can be made. Version 2 has three rules. A group
// gives its children only the controllers in its cgroup.subtree_control. A group that
// does so holds no processes of its own, unless it is the root. Whoever moves a
// process must be able to write cgroup.procs of the nearest group above both its old
// place and its new one. So the place is our own group or one above it.

// FindPlace returns the nearest directory in which a group with the controllers can
// be made, or "".
func FindPlace(controllers []string) string {
	top, own := hierarchy()
	if top == "" {
		return ""
	}
	for at := own; ; at = filepath.Dir(at) {
		if dir := filepath.Join(top, at); gives(dir, controllers) || enable(dir, controllers) {
			return dir
		}
		if at == "/" {
			break
		}
	}
	if dir := filepath.Join(top, own); delegated(dir, own) && vacate(dir) && enable(dir, controllers) {
		return dir
	}
	return ""
}

// hierarchy is where version 2 is mounted, and our own group below that. A mount may
// show only a part of the hierarchy, as in a container.
func hierarchy() (top, own string) {
	list, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", ""
	}
	var groups []byte // the lines about them: the others need not be understood
	for line := range bytes.Lines(list) {
		if bytes.Contains(line, []byte(" - cgroup2 ")) {
			groups = append(groups, line...)
		}
	}
	mounts, err := host.ParseMounts(groups)
	if err != nil || len(mounts) == 0 {
		return "", ""
	}
	path := ownGroup()
	for _, m := range mounts {
		if m.Type != "cgroup2" || !paths.Within(path, m.Root) {
			continue
		}
		if rel, err := filepath.Rel(m.Root, path); err == nil {
			top, own = m.At, filepath.Join("/", rel)
		}
	}
	return top, own
}

// ownGroup is this process's group of version 2 as the kernel names it; "" when it has
// none, or one outside what this namespace shows.
func ownGroup() string {
	for line := range strings.Lines(readText("/proc/self/cgroup")) {
		if path, ok := strings.CutPrefix(line, "0::"); ok && !strings.HasPrefix(path, "/..") {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// gives reports whether groups can be made in a directory, and have the controllers.
func gives(dir string, controllers []string) bool {
	return lists(dir, "cgroup.subtree_control", controllers) && mayWrite(dir, "", "cgroup.procs")
}

// enable has a group give its controllers to its children, where it has them itself
// and holds no processes. The kernel refuses it otherwise.
func enable(dir string, controllers []string) bool {
	if !lists(dir, "cgroup.controllers", controllers) || !mayWrite(dir, "", "cgroup.procs", "cgroup.subtree_control") {
		return false
	}
	text := "+" + strings.Join(controllers, " +")
	return (&Group{dir: dir}).write("cgroup.subtree_control", text) == nil && gives(dir, controllers)
}

// lists reports whether a file names all the controllers.
func lists(dir, file string, controllers []string) bool {
	have := strings.Fields(readText(filepath.Join(dir, file)))
	return !slices.ContainsFunc(controllers, func(c string) bool { return !slices.Contains(have, c) })
}

func mayWrite(dir string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return unix.Access(filepath.Join(dir, name), unix.W_OK) != nil })
}

// delegated reports whether a group and all in it were given to us to arrange: it is
// the root of a container's own hierarchy, or belongs to an ordinary user. Root can
// write every group, and that does not make it root's to arrange.
func delegated(dir, own string) bool {
	var st unix.Stat_t
	if unix.Stat(filepath.Join(dir, "cgroup.procs"), &st) != nil || int(st.Uid) != os.Geteuid() {
		return false
	}
	inContainer := own == "/" && unix.Access(filepath.Join(dir, "cgroup.type"), unix.F_OK) == nil // the machine's root has no type
	return inContainer || os.Geteuid() != 0
}

// outsideGroup takes the processes of a delegated group that no cell owns.
const outsideGroup = "cordon-outside"

// vacate moves all processes of a group into one below it, so that it can be divided.
func vacate(dir string) bool {
	leaf := &Group{dir: filepath.Join(dir, outsideGroup)}
	if err := os.Mkdir(leaf.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return false
	}
	for range 10 { // others start processes meanwhile
		left := strings.Fields(readText(filepath.Join(dir, "cgroup.procs")))
		if len(left) == 0 {
			return true
		}
		for _, pid := range left {
			if leaf.write("cgroup.procs", pid) != nil && unix.Access(filepath.Join("/proc", pid), unix.F_OK) == nil {
				return false
			}
		}
	}
	return false
}
