package limit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cordon/internal/cell/plan"
)

// Group is a control group of a cell's own, where the system lets us make one: then
// the kernel counts the memory of all its processes together, its own memory for them
// included. Elsewhere the warden counts what it can see.
type Group struct{ dir string }

// NewGroup makes a group with the limits. It returns nil where no place in the
// hierarchy is ours to divide.
func NewGroup(l plan.Limits) *Group {
	controllers := wanted(l)
	if len(controllers) == 0 {
		return nil
	}
	above := FindPlace(controllers)
	if above == "" {
		return nil
	}
	return newGroupIn(above, l)
}

func newGroupIn(above string, l plan.Limits) *Group {
	g := &Group{dir: filepath.Join(above, "cordon-"+rand.Text())}
	if os.Mkdir(g.dir, 0o755) != nil {
		return nil
	}
	if g.set(l) != nil {
		g.Remove()
		return nil
	}
	return g
}

// wanted are the controllers that limits need.
func wanted(l plan.Limits) []string {
	var list []string
	if l.Memory > 0 {
		list = append(list, "memory")
	}
	if l.Processes > 0 {
		list = append(list, "pids")
	}
	return list
}

// Join moves a process into the group. It must not have started any other yet.
func (g *Group) Join(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// set writes the limits. Running out of memory ends all of it, not one process.
func (g *Group) set(l plan.Limits) error {
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
			return fmt.Errorf("control group: %w", err)
		}
	}
	return nil
}

// write sets one value. A file that is not there is not made.
func (g *Group) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Watch tells which limit was reached until it is told to stop. A group that lost its
// limits, because somebody took the controllers from the group above, is one too.
func (g *Group) Watch(l plan.Limits, stop <-chan struct{}, over func(limit string)) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(lookEvery):
		}
		reason := g.Reached()
		if reason == "" && l.Memory > 0 && !g.limits(l.Memory) {
			reason = Unwatched
		}
		if reason != "" {
			over(reason)
			return
		}
	}
}

// Reached says which of the group's limits was.
func (g *Group) Reached() string {
	switch {
	case g.event("memory.events", "oom") > 0:
		return Memory
	case g.event("pids.events", "max") > 0:
		return Processes
	}
	return ""
}

// limits reports whether the group's limit on memory is the one that was set: the
// kernel rounds it down to whole pages.
func (g *Group) limits(memory int64) bool {
	n, err := strconv.ParseInt(strings.TrimSpace(readText(filepath.Join(g.dir, "memory.max"))), 10, 64)
	return err == nil && n <= memory
}

func (g *Group) event(file, name string) int {
	for line := range strings.Lines(readText(filepath.Join(g.dir, file))) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

// Remove takes the group away when its last process has ended.
func (g *Group) Remove() {
	_ = g.write("cgroup.kill", "1") // the cell has ended; this is for what the kernel still takes down
	for range 100 {
		if err := os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
