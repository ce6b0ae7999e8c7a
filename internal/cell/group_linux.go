package cell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group is a control group of a cell's own, where the system lets us make one:
// then the kernel counts memory and processes of all of it together. Elsewhere
// rlimits and the warden's own counting do.
type group struct {
	dir  string
	file *os.File
}

// newGroup makes a group with the limits, or none when this place in the hierarchy
// is not ours to divide.
func newGroup(l Limits) *group {
	if l.Memory == 0 && l.Processes == 0 {
		return nil
	}
	above := divisible(wanted(l))
	if above == "" {
		return nil
	}
	g := &group{dir: filepath.Join(above, "cordon-"+rand.Text())}
	if os.Mkdir(g.dir, 0o755) != nil {
		return nil
	}
	if err := g.set(l); err != nil {
		g.remove()
		return nil
	}
	return g
}

// wanted are the controllers that limits need.
func wanted(l Limits) []string {
	var list []string
	if l.Memory > 0 {
		list = append(list, "memory")
	}
	if l.Processes > 0 {
		list = append(list, "pids")
	}
	return list
}

// divisible is the nearest group at or above ours in which another one can be made
// that has the controllers. A group that holds processes cannot be divided, so it
// is never our own but where that is the root of the hierarchy.
func divisible(controllers []string) string {
	top, own := hierarchy()
	if top == "" {
		return ""
	}
	for at := own; ; at = filepath.Dir(at) {
		dir := filepath.Join(top, at)
		given := strings.Fields(readText(filepath.Join(dir, "cgroup.subtree_control")))
		missing := slices.ContainsFunc(controllers, func(c string) bool { return !slices.Contains(given, c) })
		if !missing && unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil {
			return dir
		}
		if at == "/" || at == "." {
			return ""
		}
	}
}

// hierarchy is where version 2 is mounted, and our own group in it.
func hierarchy() (top, own string) {
	list, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", ""
	}
	mounts, err := parseMounts(list)
	if err != nil {
		return "", ""
	}
	for _, m := range mounts {
		if m.Type == "cgroup2" {
			top = m.At
		}
	}
	for line := range strings.Lines(readText("/proc/self/cgroup")) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSpace(path)
		}
	}
	if own == "" {
		return "", ""
	}
	return top, own
}

func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// set writes the limits. Running out of memory ends all of it, not one process.
func (g *group) set(l Limits) (err error) {
	values := map[string]string{}
	if l.Memory > 0 {
		values["memory.max"] = strconv.FormatInt(l.Memory, 10)
		values["memory.oom.group"] = "1"
	}
	if l.Processes > 0 {
		values["pids.max"] = strconv.Itoa(l.Processes + wardenThreads)
	}
	for name, value := range values {
		if err := g.write(name, value); err != nil {
			return fmt.Errorf("control group: %w", err)
		}
	}
	if l.Memory > 0 { // without it memory.max would be a limit on what is not swapped
		if err := g.write("memory.swap.max", "0"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	g.file, err = os.Open(g.dir)
	return err
}

// write sets one value. A file that is not there is not made.
func (g *group) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// watch tells which limit was reached until it is told to stop.
func (g *group) watch(stop <-chan struct{}, over chan<- Reason) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(lookEvery):
		}
		if reason := g.reached(); reason != "" {
			select {
			case over <- reason:
			default: // another limit was first
			}
			return
		}
	}
}

// reached says which of the group's limits was.
func (g *group) reached() Reason {
	switch {
	case g.event("memory.events", "oom") > 0:
		return MemoryLimit
	case g.event("pids.events", "max") > 0:
		return ProcessLimit
	}
	return ""
}

func (g *group) event(file, name string) int {
	for line := range strings.Lines(readText(filepath.Join(g.dir, file))) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

// remove takes the group away when its last process has ended.
func (g *group) remove() {
	if g.file != nil {
		g.file.Close()
	}
	_ = g.write("cgroup.kill", "1") // the cell has ended; this is for what the kernel still takes down
	for range 100 {
		if err := os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
