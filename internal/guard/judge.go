package guard

import (
	"io/fs"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
	"cordon/internal/shell"
)

// judge is the world of one run of a script.
type judge struct {
	scope *Scope
	seen  *seen
	at    string            // the directory of the command at work
	links map[string]string // made by the script, by where they are
	texts map[string]string // files written by the script
	depth int
	acted bool            // something ran that may have changed the disk
	built bool            // … its directories
	lost  *finding        // where a script that is lost went: counts when it acts there
	refs  map[string]bool // made by the script
	head  string          // the branch HEAD is on, as far as the script moved it
}

// seen is what all runs of a script share.
type seen struct {
	found []finding
	steps []Step
	known map[Step]bool
	links map[string]string // of the disk
	dirs  map[string][]fs.DirEntry
	own   int // entries read of directories of the worktree
	other int // and of others
}

func newSeen() *seen {
	return &seen{known: map[Step]bool{}, links: map[string]string{}, dirs: map[string][]fs.DirEntry{}}
}

var _ shell.World = (*judge)(nil)

func (s *Scope) judge(shared *seen) *judge {
	return &judge{scope: s, seen: shared, at: s.Worktree, links: map[string]string{}, texts: map[string]string{}, refs: map[string]bool{}, head: s.Branch}
}

// find records a reason not to allow the call.
func (j *judge) find(f finding) { j.seen.found = append(j.seen.found, f) }

// step records what the call does, once.
func (j *judge) step(st Step) {
	if len(j.seen.steps) < 200 && !j.seen.known[st] {
		j.seen.known[st] = true
		j.seen.steps = append(j.seen.steps, st)
	}
}

// Enter implements shell.World.
func (j *judge) Enter(m *shell.Machine, dir, typed string) {
	j.at = m.Dir()
	a := commands.Access{Role: commands.Enter, Path: typed}
	w := j.resolve(m.Dir(), dir)
	if m.Lost() { // going back to where one never came from harms nobody until something is done there
		f := j.verdict(a.Role, w, a.Path)
		f.tried = tried(a.Role, "cd", typed)
		j.lost = &f
		return
	}
	j.accessAt(m, a, w, "cd")
}

// acts says what a lost script would do where it is.
func (j *judge) acts() {
	if j.lost != nil && j.lost.verdict != Allow {
		j.find(*j.lost)
	}
	j.lost = nil
}

// Open implements shell.World.
func (j *judge) Open(m *shell.Machine, path string, write bool) {
	if isDescriptor(path) {
		return
	}
	j.at = m.Dir()
	j.acts()
	role := commands.Read
	if write {
		role = commands.Write
		j.acted = true
	}
	j.access(m, commands.Access{Role: role, Path: path}, "")
}

func isDescriptor(path string) bool {
	if n, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		return n != "" && strings.Trim(n, "0123456789") == ""
	}
	return path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr" || path == "/dev/null"
}

// Present implements shell.World.
func (j *judge) Present(m *shell.Machine, path string, dir bool) (shell.Kind, bool) {
	j.at = m.Dir()
	w := j.resolve(m.Dir(), path)
	if _, ok := j.texts[w.path]; ok {
		return shell.File, true
	}
	if j.built || j.acted && !dir || w.unknown || w.outside || mark.In(w.path) || j.placeOf(w) != Own {
		return shell.Nothing, false
	}
	if _, err := j.List(j.scope.Worktree); err != nil { // the tree cannot be seen from here
		return shell.Nothing, false
	}
	if _, err := j.List(w.path); err == nil {
		return shell.Directory, true
	}
	entries, err := j.List(w.path[:max(1, strings.LastIndexByte(w.path, '/'))])
	if err != nil {
		return shell.Nothing, true
	}
	for _, e := range entries {
		if e.Name() == base(w.path) {
			return shell.File, true
		}
	}
	return shell.Nothing, true
}

// Text implements shell.World: only what the script wrote itself is known.
func (j *judge) Text(m *shell.Machine, path string) (string, bool) {
	if mark.Has(path, mark.Any) {
		return mark.Any, true
	}
	j.at = m.Dir()
	w := j.resolve(m.Dir(), path)
	text, ok := j.texts[w.path]
	return text, ok && !w.unknown
}

// Wrote implements shell.World.
func (j *judge) Wrote(m *shell.Machine, path, text string, add bool) {
	j.at = m.Dir()
	j.keep(j.resolve(m.Dir(), path), text, add)
}

const maxTexts = 1000

// keep remembers the text of a file.
func (j *judge) keep(w where, text string, add bool) {
	if w.unknown || w.path == "" {
		return
	}
	if len(j.texts) >= maxTexts {
		j.find(finding{verdict: Ask, reason: "the command writes more files than cordon can follow", tried: "write files", instead: "split it into simpler commands"})
		return
	}
	if add {
		old, ok := j.texts[w.path]
		if !ok {
			old = mark.Any + "\n"
		}
		text = old + text
	}
	if len(text) > 64<<10 || add && len(text) > 4<<10 {
		text = mark.Any
	}
	j.texts[w.path] = text
	j.links[w.path] = notLink
}

// Doubt implements shell.World.
func (j *judge) Doubt(m *shell.Machine, what string) {
	j.doubt(m, "run "+what, "write the command out literally, so that it can be checked")
}

func (j *judge) doubt(m *shell.Machine, tried, instead string) {
	j.step(Step{Line: m.Line(), Dir: m.Dir(), Does: tried, Verdict: Ask, Why: "cordon cannot tell before it runs"})
	j.find(finding{verdict: Ask, reason: "cordon cannot tell what this does before it runs", tried: tried, instead: instead})
}

// maxEntries bounds what globs read.
const maxEntries = 20_000

// List implements shell.World. Directories that may not be read are not, and a
// glob that would read too much matches nothing: its pattern stays, and is judged
// by where it begins. The worktree is counted apart, so that nothing that is read
// elsewhere makes its links invisible.
func (j *judge) List(dir string) ([]fs.DirEntry, error) {
	if known, ok := j.seen.dirs[dir]; ok {
		return known, nil
	}
	read := &j.seen.other
	if j.scope.Inside(dir) {
		read = &j.seen.own
	}
	if *read > maxEntries {
		return nil, fs.ErrNotExist
	}
	entries, err := j.scope.files().ReadDir(dir)
	if err != nil {
		return nil, err
	}
	*read += len(entries)
	j.seen.dirs[dir] = entries
	return entries, nil
}

// Real implements shell.World.
func (j *judge) Real(path string) string {
	w := j.resolve("/", path)
	switch {
	case w.outside:
		return mark.Outside
	case w.unknown:
		return mark.Any
	}
	return w.path
}
