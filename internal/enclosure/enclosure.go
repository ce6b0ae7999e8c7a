// Package enclosure translates a lease and a tree into the order for a cell and the
// environment of the command in it: the directories that are written, shown and hidden
// on this machine, the mounts of the worker's repository, and the variables that the
// worker gets from the operator.
//
// It reads the disk to find what a pattern stands for, and changes nothing on it except
// empty directories to mount on. It refuses to start anything: package cell makes and
// proves the cell, and package worktree makes the tree.
package enclosure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cordon/internal/cell"
	"cordon/internal/overlay"
	"cordon/internal/paths"
	"cordon/internal/policy"
)

// Enclosure is what a policy means for one tree on this machine.
type Enclosure struct {
	Policy policy.Policy
	Rules  policy.Rules
	Home   string
	Write  []string // directories that are written in place
	Host   []string // the host's checkouts and git directories: seen only when read_roots names them
	State  []string // cordon's own: never seen
	Secret []string // files among them with which that is proven
	Layers string   // keeps what is written privately; "": memory does

	Tree   string // where commits have to work; "": there are none
	GitDir string // the repository of Tree, private to it
	Bind   []cell.Bind
	Over   []cell.Over
	Caches []cell.Over // directories of the home in which tools keep what they can make again
	Pinned []string

	Sockets []string // in Write, and not the worker's
	Whole   bool     // deny_read hides nothing of what is the worker's

	ahead chan hiding // see HideAhead
}

// Order is the cell that keeps to the policy.
func (e Enclosure) Order() (cell.Order, error) {
	home, err := realHome(e.Home)
	if err != nil {
		return cell.Order{}, err
	}
	if l := e.Policy.Limits; l.Memory < 0 || l.Disk < 0 {
		return cell.Order{}, errors.New("limits.memory and limits.disk must be sizes here, not auto")
	}
	o := cell.Order{
		Home: home, Write: e.Write, Pinned: e.Pinned, Bind: slices.Clone(e.Bind), Over: e.Over,
		Capture: e.Policy.Filesystem.Outside == policy.Capture, Layers: e.Layers,
		Limits: cell.Limits{
			Memory: int64(e.Policy.Limits.Memory), Disk: int64(e.Policy.Limits.Disk),
			Processes: e.Policy.Limits.Processes, Files: e.Policy.Limits.Files,
		},
		Commit: e.Tree, Trace: e.Policy.Cell.Trace,
	}
	if e.GitDir != "" {
		o.Objects = filepath.Join(e.GitDir, "objects")
	}
	found := e.hiding()
	if found.err != nil {
		return o, found.err
	}
	o.Read = found.read
	o.Scratch = slices.DeleteFunc(found.scratch, func(p string) bool { return paths.WithinAny(p, e.ownDirs()) })
	if err = e.hide(&o, found); err != nil {
		return o, err
	}
	found.home.addTo(&o)
	caches := e.shownCaches(&o)
	o.Over = slices.Concat(o.Over, caches)
	return o, e.keepPath(&o)
}

// ownDirs are the directories that are the worker's.
func (e Enclosure) ownDirs() []string {
	list := slices.Clone(e.Write)
	for _, c := range e.Over {
		list = append(list, c.At)
	}
	return list
}

// hide lists what the worker does not see, and the parts of it that it does.
func (e Enclosure) hide(o *cell.Order, found hiding) error {
	w, denied := found.resolver, found.denied
	if e.Whole {
		denied = slices.DeleteFunc(denied, func(p string) bool { return paths.WithinAny(p, e.ownDirs()) })
	}
	own, err := e.hideConfig(o, w)
	if err != nil {
		return err
	}
	o.Hide = slices.Concat(denied, e.State, own, e.Sockets)
	for _, h := range slices.Concat(e.Host, homes()) {
		if paths.WithinAny(h, e.ownDirs()) || slices.Contains(o.Read, h) || h == o.Home {
			continue
		}
		o.Hide = append(o.Hide, h)
		for _, r := range slices.Concat(o.Read, sharedHomes()) {
			// The operator's home is there already, copied on write and without its
			// secrets: a bind over it would show them.
			there := paths.Within(r, o.Home) && !paths.Within(h, o.Home)
			if r != h && paths.Within(r, h) && !there && !paths.WithinAny(r, denied) {
				o.Bind = append(o.Bind, cell.Bind{From: r, At: r})
			}
		}
	}
	shown := e.ownDirs()
	for _, b := range o.Bind {
		shown = append(shown, b.At) // something else is seen there
	}
	for _, c := range slices.Concat(e.Secret, w.files()) {
		unseen := paths.WithinAny(c, o.Hide) || found.home.leavesOut(c)
		if len(o.Canaries) < maxCanaries && unseen && !paths.WithinAny(c, shown) {
			o.Canaries = append(o.Canaries, c)
		}
	}
	slices.Sort(o.Hide)
	o.Hide = slices.DeleteFunc(slices.Compact(o.Hide), func(p string) bool { return p == "/" || slices.Contains(e.ownDirs(), p) })
	return nil
}

// splitLayered takes the patterns about a tree that is copied on write out of a list: what
// they match lies in its layers, and not where it is seen.
func (e Enclosure) splitLayered(globs []string) (rest, found []string, err error) {
	for _, g := range globs {
		i := slices.IndexFunc(e.Over, func(c cell.Over) bool { return strings.HasPrefix(g, policy.EscapeGlob(c.At)+"/") })
		if i < 0 {
			rest = append(rest, g)
			continue
		}
		some, err := inLayers(e.Over[i], strings.TrimSuffix(g, "/**"))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g, err)
		}
		found = append(found, some...)
	}
	return rest, found, nil
}

// inLayers is where the matches of a pattern are seen whose files lie in layers, and
// where they lead if there are links on the way. A pattern without wildcards stands
// for its path also when nothing is there yet.
func inLayers(c cell.Over, glob string) ([]string, error) {
	rel := strings.TrimPrefix(glob, policy.EscapeGlob(c.At)+"/")
	names := []string{policy.UnescapeGlob(rel)}
	if policy.HasWildcard(rel) {
		names = nil
		for _, layer := range c.Below {
			found, err := doublestar.FilepathGlob(policy.EscapeGlob(layer)+"/"+rel, doublestar.WithNoFollow())
			if err != nil {
				return nil, err
			}
			for _, p := range found {
				names = append(names, strings.TrimPrefix(p, layer+"/"))
			}
		}
	}
	d, err := overlay.Open(c.Below...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var list []string
	for _, name := range names {
		list = append(list, filepath.Join(c.At, name))
		to, err := d.Leads(name)
		switch {
		case err != nil: // a way that cannot be gone leads nowhere in the cell either
		case filepath.IsAbs(to):
			list = append(list, filepath.Clean(to))
		case to != name:
			list = append(list, filepath.Join(c.At, to))
		}
	}
	return list, nil
}

// Hides tells which paths of a tree at top these patterns keep from being read, also
// through links in the layers that the tree lies on.
func Hides(globs []string, top string, below []string) (func(rel string) bool, error) {
	var mine []string
	found := map[string]bool{}
	for _, g := range globs {
		rel, ok := strings.CutPrefix(strings.TrimSuffix(g, "/**"), policy.EscapeGlob(top)+"/")
		if !ok {
			continue
		}
		mine = append(mine, rel)
		list, err := inLayers(cell.Over{At: top, Below: below}, strings.TrimSuffix(g, "/**"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g, err)
		}
		for _, p := range list {
			found[strings.TrimPrefix(p, top+"/")] = true
		}
	}
	return func(rel string) bool {
		for p := rel; p != "." && len(mine) > 0; p = filepath.Dir(p) {
			if found[p] || slices.ContainsFunc(mine, func(g string) bool { ok, err := doublestar.Match(g, p); return ok || err != nil }) {
				return true
			}
		}
		return false
	}, nil
}

// maxCanaries is how many hidden files a cell tries to read before its worker
// starts.
const maxCanaries = 4

// realHome is the home directory without links, or none when there is none that
// could be copied on write.
func realHome(home string) (string, error) {
	if home == "" || home == "/" {
		return "", nil
	}
	real, err := filepath.EvalSymlinks(home)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return real, err
}

// sharedHomes are homes of nobody: what is installed there is for everybody.
func sharedHomes() []string {
	return slices.DeleteFunc([]string{"/home/linuxbrew"}, func(dir string) bool { return !directory(dir) })
}

// homes are where everybody's home directories lie, and the homes of people that lie elsewhere. The operator's own is
// seen all the same, copied on write.
func homes() []string {
	users, _ := os.ReadFile("/etc/passwd") // without it, nobody's home is known
	return homesOf(string(users), "/home", "/Users", "/root")
}

// homesOf lists directories without links, with those of the people in a passwd file. A service has what it serves in its
// home, which has another name than the service.
func homesOf(users string, dirs ...string) []string {
	const name, uid, home, people, nobody = 0, 2, 5, 1000, 65534
	for line := range strings.Lines(users) {
		f := strings.Split(line, ":")
		if len(f) <= home {
			continue
		}
		if n, err := strconv.Atoi(f[uid]); err == nil && n >= people && n != nobody && filepath.IsAbs(f[home]) && filepath.Base(f[home]) == f[name] {
			dirs = append(dirs, f[home])
		}
	}
	var list []string
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil && directory(real) && !paths.WithinAny(real, list) {
			list = append(list, real)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func directory(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}
