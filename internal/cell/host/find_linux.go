package host

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/cell/plan"
	"cordon/internal/paths"
)

// Survey is what there is to see on this machine whatever an order names.
type Survey struct {
	host plan.Host
	err  error
}

// Look looks at the machine.
func Look() Survey {
	h := plan.Host{Kinds: map[string]plan.Kind{}}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Survey{err: fmt.Errorf("mounts: %w", err)}
	}
	if h.Mounts, err = ParseMounts(mounts); err != nil {
		return Survey{err: err}
	}
	if h.Sockets, err = sockets(); err != nil {
		return Survey{err: err}
	}
	listDirectories(&h)
	return Survey{host: h}
}

// Find adds what an order names to a survey, which is used once.
func Find(o plan.Order, s Survey) (plan.Host, error) {
	h := s.host
	if s.err != nil {
		return h, s.err
	}
	h.Aliases = aliases(h.Mounts, o)
	lookAtPaths(&h, o)
	for _, b := range o.Bind {
		if h.Kinds[b.From] == plan.File && h.Kinds[b.At] == plan.Absent && !replacedAbove(b.At) {
			listAbove(&h, b.At)
		}
	}
	for dir, entries := range h.Lists {
		for _, e := range entries {
			h.Kinds[filepath.Join(dir, e.Name)] = e.Kind
		}
	}
	return h, nil
}

// lookAtPaths notes what lies at every path that a plan may ask about.
func lookAtPaths(h *plan.Host, o plan.Order) {
	// What is hidden in the home as a whole needs no look: its name is taken away. What
	// lies in, or around, something else that is put there has to be covered by its kind.
	others := o
	others.Home = ""
	placed := others.Placed()
	hide := slices.DeleteFunc(slices.Clone(o.Hide), func(p string) bool {
		return o.Home != "" && p != o.Home && paths.Within(p, o.Home) &&
			!slices.ContainsFunc(placed, func(at string) bool { return paths.Within(at, p) || paths.Within(p, at) })
	})
	paths := slices.Concat(o.Placed(), hide, h.Aliases, h.Sockets, o.Read, o.Canaries, o.Pinned, []string{"/", "/var/run"})
	for _, op := range plan.Replaced {
		paths = append(paths, op.At)
	}
	for _, m := range h.Mounts {
		paths = append(paths, m.At)
	}
	for _, b := range o.Bind {
		paths = append(paths, b.From)
	}
	for _, p := range paths {
		h.Kinds[p] = kindAt(p)
	}
}

// listDirectories reads the directories that are taken apart: those with mounts below.
func listDirectories(h *plan.Host) {
	h.Lists = map[string][]plan.Entry{"/run": list("/run"), "/": list("/")}
	for _, m := range h.Mounts {
		for dir := filepath.Dir(m.At); dir != "/" && h.Lists[dir] == nil && !replacedAbove(dir); dir = filepath.Dir(dir) {
			entries := list(dir)
			if entries == nil {
				continue // not ours to read
			}
			h.Lists[dir] = entries
		}
	}
}

// listAbove reads the nearest directory that a path would lie in.
func listAbove(h *plan.Host, path string) {
	dir := filepath.Dir(path)
	for dir != "/" && kindAt(dir) == plan.Absent {
		dir = filepath.Dir(dir)
	}
	h.Kinds[dir] = kindAt(dir)
	if entries := list(dir); h.Lists[dir] == nil && entries != nil {
		h.Lists[dir] = entries
	}
}

// aliases are where what is hidden is seen once more, because its file system, or a part of it, is
// mounted twice. Of a home, only what is shown by name is seen at all. What is mounted in a hidden
// directory is hidden too.
func aliases(mounts []plan.MountPoint, o plan.Order) []string {
	var list []string
	placed, twice, hide := o.Placed(), mountedTwice(mounts), o.Hide
	if o.Home != "" && !o.ReadsHome() {
		hide = append(slices.Clone(hide), o.Home)
	}
	shown := slices.DeleteFunc(slices.Clone(placed), func(at string) bool { return at == o.Home }) // that one begins empty
	for _, m := range mounts {
		if len(twice[m.Dev]) > 0 && paths.WithinAny(m.At, hide) && !paths.WithinAny(m.At, shown) && !slices.Contains(hide, m.At) {
			hide = append(slices.Clip(hide), m.At)
		}
	}
	for _, hidden := range hide {
		on, at := mountOf(mounts, hidden)
		if on == nil {
			continue
		}
		for _, m := range twice[on.Dev] {
			if m.At == on.At {
				continue
			}
			other := ""
			switch {
			case paths.Within(at, m.Root):
				other = filepath.Join(m.At, strings.TrimPrefix(at, m.Root))
			case paths.Within(m.Root, at):
				other = m.At
			}
			if other != "" && other != hidden && !plan.InsideAny(other, o.Write) && !slices.Contains(placed, other) {
				list = append(list, other)
			}
		}
	}
	return list
}

// mountedTwice are the mounts of each file system that is mounted more than once.
func mountedTwice(mounts []plan.MountPoint) map[string][]plan.MountPoint {
	of := map[string][]plan.MountPoint{}
	for _, m := range mounts {
		if !plan.Pseudo[m.Type] {
			of[m.Dev] = append(of[m.Dev], m)
		}
	}
	for dev, list := range of {
		if len(list) < 2 {
			delete(of, dev)
		}
	}
	return of
}

// mountOf is the mount that a path is on, and the path in its file system. The kernel's own
// paths are clean.
func mountOf(mounts []plan.MountPoint, path string) (on *plan.MountPoint, at string) {
	clean := filepath.Clean(path)
	for i, m := range mounts {
		if paths.Inside(clean, m.At) && (on == nil || len(m.At) >= len(on.At)) {
			on = &mounts[i]
		}
	}
	if on == nil {
		return nil, ""
	}
	return on, filepath.Join(on.Root, strings.TrimPrefix(path, on.At))
}

// NamedFiles are plain files for temporary use that the command line names: the
// cell has other directories there, and what the operator typed is to be found.
func NamedFiles(o plan.Order) []plan.Bind {
	var list []plan.Bind
	for _, word := range o.Argv {
		if !strings.HasPrefix(word, "/tmp/") && !strings.HasPrefix(word, "/var/tmp/") {
			continue
		}
		real, err := filepath.EvalSymlinks(word)
		hidden := slices.ContainsFunc(o.Hide, func(h string) bool { return paths.Within(word, h) })
		placed := slices.ContainsFunc(o.Placed(), func(p string) bool { return paths.Within(word, p) })
		if err == nil && real == word && kindAt(word) == plan.File && !hidden && !placed {
			list = append(list, plan.Bind{From: word, At: word})
		}
	}
	return list
}

func replacedAbove(dir string) bool {
	return slices.ContainsFunc(plan.Replaced, func(op plan.Op) bool { return paths.Within(dir, op.At) })
}

// list reads a directory. One that cannot be read has no list.
func list(dir string) []plan.Entry {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	entries := []plan.Entry{}
	for _, f := range found {
		e := plan.Entry{Name: f.Name(), Kind: kindOf(f.Type())}
		if e.Kind == plan.Symbolic {
			if e.To, err = os.Readlink(filepath.Join(dir, e.Name)); err != nil {
				continue
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// kindAt is what lies at a path.
func kindAt(path string) plan.Kind {
	fi, err := os.Lstat(path)
	if err != nil {
		return plan.Absent // or not ours to see, which is the same to the worker
	}
	return kindOf(fi.Mode())
}

func kindOf(mode os.FileMode) plan.Kind {
	switch {
	case mode.IsDir():
		return plan.Directory
	case mode.IsRegular():
		return plan.File
	case mode&os.ModeSymlink != 0:
		return plan.Symbolic
	}
	return plan.Special
}

// ParseMounts reads the kernel's list of mounts.
func ParseMounts(list []byte) ([]plan.MountPoint, error) {
	var mounts []plan.MountPoint
	for line := range bytes.Lines(list) {
		before, after, ok := strings.Cut(string(line), " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 6 || len(kind) < 1 {
			return nil, fmt.Errorf("the kernel's list of mounts has a line %q", line)
		}
		mounts = append(mounts, plan.MountPoint{At: unescape(f[4]), Type: kind[0], Dev: f[2], Root: unescape(f[3])})
	}
	return mounts, nil
}

// unescape undoes the kernel's octal escapes of blanks.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sockets are the paths that something on this machine listens at. The kernel has the
// names that were used, which may lead through links: /var/run/x.
func sockets() ([]string, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, fmt.Errorf("sockets of the host: %w", err)
	}
	defer f.Close()
	var list []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 8 && filepath.IsAbs(fields[7]) {
			at := filepath.Clean(fields[7])
			if dir, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil { // else it is not to be found by that name
				at = filepath.Join(dir, filepath.Base(at))
			}
			list = append(list, at)
		}
	}
	return list, lines.Err()
}
