package confine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/follow"
	"cordon/internal/legible"
	"cordon/internal/paths"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// judged is what has to be known of directories to say what a command must not leave in them.
type judged struct {
	dirs   []string // that it wrote
	typed  bool     // somebody typed their names
	own    string   // the .git entry that was private to it; "": none
	top    string   // of the tree that rules are about
	rules  policy.Rules
	denies bool                  // deny_write counts: no audit follows
	hidden []string              // what it could not see
	hides  func(rel string) bool // what it could not see of the tree; nil: hidden has all
	roots  []string              // write roots of a lease: what one names itself is the worker's
}

// judge says why a change must not be placed: the operator's git, shell or editor would run or obey
// it, without anybody asking for that.
type judge struct {
	of judged
	obeyed
	onTheWay   map[string]string // directories above what is obeyed
	beginnings map[string]bool
}

func newJudge(ctx context.Context, of judged) (*judge, error) {
	var opened []string
	if of.typed {
		opened = of.dirs
	}
	for _, root := range of.roots {
		opened = append(opened, filepath.Join(of.top, filepath.FromSlash(root)))
	}
	o, err := findObeyed(ctx, of.dirs, opened, of.own)
	if err != nil {
		return nil, err
	}
	j := &judge{of: of, obeyed: o, onTheWay: map[string]string{}, beginnings: map[string]bool{}}
	for at, n := range o.named {
		if n.alias {
			continue
		}
		for dir := filepath.Dir(at); paths.Holding(dir, of.dirs) != ""; dir = filepath.Dir(dir) {
			j.onTheWay[dir] = n.why
		}
	}
	return j, nil
}

// refuse says why a change must not be placed; "" where it may.
func (j *judge) refuse(c follow.Change) string {
	for at := c.Path; ; at = filepath.Dir(at) {
		if n, found := j.named[at]; found && !n.alias {
			return n.why
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if why := j.onTheWay[c.Path]; why != "" && !c.Directory {
		return why
	}
	if j.unseen(c.Path) && worksite.Exists(c.Path) {
		return "deny_read hides your file from the command"
	}
	if why := shadows(c); why != "" {
		return why
	}
	return j.forbidden(c)
}

// unseen reports whether the command could not see a path of the operator's.
func (j *judge) unseen(path string) bool {
	if j.of.hides != nil {
		rel, err := filepath.Rel(j.of.top, path)
		return err == nil && j.of.hides(rel)
	}
	return paths.WithinAny(path, j.of.hidden)
}

// forbidden says which rule of the policy forbids a change.
func (j *judge) forbidden(c follow.Change) string {
	below, _ := filepath.Rel(paths.Holding(c.Path, j.dirs), c.Path) // what lies around the directory is no reason
	if among(below, func(name string) bool { return strings.EqualFold(name, ".git") }) {
		return "" // a new repository is judged by what is in it
	}
	if rel, err := filepath.Rel(j.of.top, c.Path); err == nil && filepath.IsLocal(rel) && j.of.denies {
		if why := j.of.rules.Denied(rel); why != "" {
			return why
		}
	}
	switch {
	case c.Removal, among(below, installed):
		return ""
	case c.Made != "" && !j.begins(c.Made):
		return "" // no shell or editor was ever told to trust this directory
	case c.Link && j.begins(c.Path):
		return "what it leads to would be taken for a file that a shell or an editor obeys"
	}
	return j.of.rules.Protected(j.ruled(c.Path))
}

// among reports whether one of the names in a path is of a kind.
func among(path string, kind func(name string) bool) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), kind)
}

// installed reports whether a directory holds what package managers install: nobody works there, and packages hold the
// names of the built-in table.
func installed(name string) bool {
	return name == "node_modules" || name == "site-packages" || name == "vendor"
}

// ruled is a path as the built-in table sees it: from the top of the tree, or from a directory that somebody
// typed.
func (j *judge) ruled(path string) string {
	rel, err := filepath.Rel(j.of.top, path)
	if err != nil || !filepath.IsLocal(rel) || j.of.typed {
		rel, _ = filepath.Rel(paths.Holding(path, j.dirs), path) // it is below
	}
	return rel
}

// begins reports whether a name in a directory could be one of the built-in table together with the name of the
// directory.
func (j *judge) begins(dir string) bool {
	known, found := j.beginnings[dir]
	if !found {
		known = j.of.rules.BeginsProtected(j.ruled(dir))
		j.beginnings[dir] = known
	}
	return known
}

// shadows says what a change would run as in a shell whose PATH has a directory of programs, as that of a virtual
// environment; "" for nothing.
func shadows(c follow.Change) string {
	name := filepath.Base(c.Path)
	programs := []string{"bin", ".bin", "sbin"}
	switch {
	case c.Removal || c.Directory:
		return ""
	case c.Link && slices.Contains(programs, name):
		return "a shell that has it on its PATH would run programs from where it leads"
	case slices.Contains(programs, filepath.Base(filepath.Dir(c.Path))) && slices.Contains(alwaysRun, name):
		return "a shell that has this directory on its PATH would run it as your " + name
	}
	return ""
}

// careful names what came to be that an alias of the operator's git names: it may be what a build
// makes, and it runs only when the operator says so.
func (j *judge) careful() []string {
	var lines []string
	for at, n := range j.named {
		if n.alias && paths.Holding(at, j.dirs) != "" && worksite.Exists(at) {
			lines = append(lines, "CAREFUL: the command created "+legible.Line(at)+", and "+n.why+": inspect it before you use git here")
		}
	}
	slices.Sort(lines)
	return lines
}

// place places a layer by this judgement.
func (j *judge) place(l follow.Layer) (follow.Placed, error) {
	l.Refuse, l.Obeyed = j.refuse, ObeyedAnywhere(j.every, j.dirs)
	few := 1000 // the settings of the operator's are compared with each
	l.Repository = func(dir *os.File) string {
		if few--; few < 0 {
			return "there are too many new repositories to look at each"
		}
		return worktree.Arms(dir)
	}
	return l.Place()
}
