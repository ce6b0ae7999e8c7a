package policy

import (
	"slices"
	"strings"

	"cordon/internal/strictyaml"
)

// Rules is a policy compiled for one location. Rules never change, and the zero
// Rules refuse everything.
type Rules struct {
	compiled   bool
	names      Names
	fold       folding
	writeRoots []root
	scratch    []root
	denyWrite  []Deny
	denyRead   []Deny
	unread     unread
	readable   []string
	discarded  []string
}

// root is a write root or a scratch entry inside the worktree.
type root struct {
	entry string
	parts []string // as written, for what the root names
	cover cover
}

// Class is what becomes of a changed path. Anything that is not Landing or
// Scratch is to be treated as Violation, the empty string included.
type Class string

const (
	Violation Class = "violation"
	Landing   Class = "landing"
	Scratch   Class = "scratch"
)

// Lands reports whether a path of this class may reach the operator.
func (c Class) Lands() bool { return c == Landing }

// IsViolation reports whether a path of this class must stop the result.
func (c Class) IsViolation() bool { return c != Landing && c != Scratch }

// Verdict is the class of one path and the rule that decided.
type Verdict struct {
	Class Class  `json:"class"`
	Rule  string `json:"rule"`
}

// Compile expands p for a location. A root outside the worktree, a pattern that
// needs an unknown home and a malformed entry are errors.
func Compile(p Policy, at Location) (Rules, error) {
	r, err := compile(p.Filesystem, at)
	if err != nil {
		return Rules{}, err
	}
	r.names = p.Filesystem.Names
	return r, nil
}

func compile(fs Filesystem, at Location) (r Rules, err error) {
	if err := at.check(); err != nil {
		return r, strictyaml.Unplaced("", err)
	}
	if r.writeRoots, err = compileRoots("write_roots", fs.WriteRoots, at, inTree, absolute); err != nil {
		return r, err
	}
	if r.scratch, err = compileRoots("scratch", fs.Scratch, at, inTree, home, absolute); err != nil {
		return r, err
	}
	if r.denyWrite, err = compileDenies("deny_write", fs.DenyWrite, at, anyPattern); err != nil {
		return r, err
	}
	if r.denyRead, err = compileDenies("deny_read", written(fs.DenyRead), at, denyReadPattern); err != nil {
		return r, err
	}
	if r.unread, err = newUnread(fs, at); err != nil {
		return r, strictyaml.Unplaced("deny_read: ", err)
	}
	if r.readable, err = expandAll("read_roots", fs.ReadRoots, at); err != nil {
		return r, err
	}
	if r.discarded, err = expandAll("scratch", fs.Scratch, at); err != nil {
		return r, err
	}
	r.fold = folding(at.Fold)
	r.compiled = true
	return r, nil
}

// compileRoots compiles the entries that match paths of the tree. For scratch
// that excludes home and absolute entries: they speak of the machine.
func compileRoots(list string, entries []string, at Location, allowed ...form) ([]root, error) {
	var roots []root
	for _, entry := range entries {
		p, err := parsePattern(entry, allowed)
		if err == nil && p.form == absolute && !slices.Contains(allowed, home) {
			p, err = relative(p, at)
		}
		if err != nil {
			return nil, strictyaml.Unplaced(list+": ", err)
		}
		if p.form != inTree {
			continue
		}
		roots = append(roots, root{entry: p.String(), parts: p.parts, cover: newCover(globParts(p.parts), folding(at.Fold))})
	}
	return roots, nil
}

// relative makes an absolute write root relative to the worktree it must lie in.
func relative(p pattern, at Location) (pattern, error) {
	parts, err := at.expand(p)
	if err != nil {
		return pattern{}, err
	}
	below, inside := at.inside(parts)
	if !inside {
		return pattern{}, fault{quote(p.String()) + " is outside the worktree", "write a path relative to the worktree"}
	}
	p = pattern{form: inTree}
	for _, part := range below {
		p.parts = append(p.parts, part.text)
	}
	return p, checkNoGit(p)
}

func globParts(globs []string) []part {
	parts := make([]part, 0, len(globs))
	for _, glob := range globs {
		parts = append(parts, globPart(glob))
	}
	return parts
}

func compileDenies(list string, entries []string, at Location, parse func(string) (pattern, error)) ([]Deny, error) {
	var denies []Deny
	for _, entry := range entries {
		p, err := parse(entry)
		if err != nil {
			return nil, strictyaml.Unplaced(list+": ", err)
		}
		d, err := newDeny(at, p)
		if err != nil {
			return nil, strictyaml.Unplaced(list+": ", err)
		}
		denies = append(denies, d)
	}
	return denies, nil
}

func expandAll(list string, entries []string, at Location) ([]string, error) {
	var globs []string
	for _, entry := range entries {
		p, err := anyPattern(entry)
		if err != nil {
			return nil, strictyaml.Unplaced(list+": ", err)
		}
		parts, err := at.expand(p)
		if err != nil {
			return nil, strictyaml.Unplaced(list+": ", err)
		}
		globs = append(globs, absoluteGlob(parts))
	}
	return globs, nil
}

func anyPattern(s string) (pattern, error) {
	return parsePattern(s, []form{inTree, climbing, home, absolute})
}

// Judge puts one path into its class: a deny of writing wins over scratch, and
// scratch over write_roots. What may not be read does not land either, unless a
// write root names it. The path is relative to the worktree, separated by slashes,
// in the raw bytes of the file system. Judge is total: whatever is not such a
// path is a violation.
func (r Rules) Judge(path string) Verdict {
	names, why := r.spell(path)
	if why != "" {
		return Verdict{Violation, why}
	}
	return r.judge(names)
}

func (r Rules) judge(names []spelling) Verdict {
	if why := r.denied(names); why != "" {
		return Verdict{Violation, why}
	}
	if row, found := r.protectedBy(names); found {
		return Verdict{Violation, builtIn(row)}
	}
	v := r.allow(names)
	if d, found := r.unseen(names); found && v.Class.Lands() {
		return Verdict{Violation, "deny_read " + quote(d.Entry)}
	}
	return v
}

// spell takes a path apart, or says why it cannot be judged.
func (r Rules) spell(path string) (names []spelling, why string) {
	if !r.compiled {
		return nil, "no policy was compiled"
	}
	raw, ok := treePath(path)
	if !ok {
		return nil, "not a path inside the worktree"
	}
	return r.fold.spell(raw), ""
}

// Denied names the entry of deny_write that covers a path; "" for none.
func (r Rules) Denied(path string) string {
	names, why := r.spell(path)
	if why != "" {
		return why
	}
	return r.denied(names)
}

// Protected names the row of the built-in table that a path falls under; "" for none.
func (r Rules) Protected(path string) string {
	names, why := r.spell(path)
	if why != "" {
		return why
	}
	if row, found := r.protectedBy(names); found {
		return builtIn(row)
	}
	return ""
}

// BeginsProtected reports whether a path ends with the beginning of a row of the built-in table: whatever is put
// below it supplies the end.
func (r Rules) BeginsProtected(path string) bool {
	names, why := r.spell(path)
	_, found := protectedBelow(names)
	return why != "" || found
}

// denied names the entry of deny_write that covers a path, or is "".
func (r Rules) denied(names []spelling) string {
	for _, d := range r.denyWrite {
		if d.coversInTree(names) {
			return d.named()
		}
	}
	return ""
}

func builtIn(row ProtectedName) string { return "built-in: " + row.Name + " " + row.Reason }

// unseen returns the first entry of deny_read that covers a path and that no
// write root covering the path names.
func (r Rules) unseen(names []spelling) (Deny, bool) {
	for _, d := range r.denyRead {
		named := func(w root) bool { return w.cover.covers(names) && w.opens(d, r.fold) }
		if d.coversInTree(names) && !slices.ContainsFunc(r.writeRoots, named) {
			return d, true
		}
	}
	return Deny{}, false
}

// Unseen reports whether a worker cannot read a path of its tree.
func (r Rules) Unseen(path string) bool {
	raw, ok := treePath(path)
	if !ok {
		return true
	}
	names := r.fold.keyed(raw)
	return slices.ContainsFunc(r.denyRead, func(d Deny) bool { return d.coversInTree(names) })
}

// HidesInTree reports whether an entry of deny_read is about the worktree.
func (r Rules) HidesInTree() bool {
	return slices.ContainsFunc(r.denyRead, func(d Deny) bool { return !d.Outside })
}

// opens reports whether a write root names what an entry of deny_read hides: it
// is that entry, or its components before the first wildcard lead to a match of
// the entry or below one. A root above a match names nothing in it.
func (w root) opens(d Deny, fold folding) bool {
	if w.entry == d.Entry {
		return true
	}
	literal := w.parts
	if i := slices.IndexFunc(literal, isGlob); i >= 0 {
		literal = literal[:i]
	}
	return len(literal) > 0 && d.coversInTree(fold.spell(literal))
}

// allow is the class of a path that no deny covers.
func (r Rules) allow(names []spelling) Verdict {
	if s, found := covering(r.scratch, names); found {
		return Verdict{Scratch, "scratch " + quote(s.entry)}
	}
	if w, found := covering(r.writeRoots, names); found {
		return Verdict{Landing, "write_roots " + quote(w.entry)}
	}
	return outside
}

// outside is the verdict about a path that no entry covers.
var outside = Verdict{Violation, "outside write_roots"}

// JudgeLink is Judge for a path that is a symlink or a gitlink. Such a path
// also stands in for everything below it, so it may not lie above something
// that is denied: a link at .vscode brings its own tasks.json.
func (r Rules) JudgeLink(path string) Verdict {
	names, why := r.spell(path)
	if why != "" {
		return Verdict{Violation, why}
	}
	v := r.judge(names)
	if !v.Class.Lands() {
		return v
	}
	for _, d := range r.denyWrite {
		if d.aboveInTree(names) {
			return Verdict{Violation, "a link above " + d.named()}
		}
	}
	for _, d := range r.denyRead {
		if d.aboveInTree(names) {
			return Verdict{Violation, "a link above deny_read " + quote(d.Entry)}
		}
	}
	if row, found := protectedBelow(names); found {
		return Verdict{Violation, "built-in: a link above " + row.Name + ", which " + row.Reason}
	}
	if name, found := gitText(names); found {
		return Verdict{Violation, "built-in: git reads the text of a link that is called " + name + ", or follows it"}
	}
	return v
}

func covering(roots []root, names []spelling) (root, bool) {
	for _, candidate := range roots {
		if candidate.cover.covers(names) {
			return candidate, true
		}
	}
	return root{}, false
}

// treePath splits a path, and reports whether it leads to something inside the
// worktree.
func treePath(path string) ([]string, bool) {
	if strings.ContainsRune(path, 0) {
		return nil, false
	}
	names := strings.Split(path, "/")
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return nil, false
		}
	}
	return names, true
}

// Roots returns the write roots in their normal form, relative to the worktree.
func (r Rules) Roots() []string {
	roots := []string{}
	for _, w := range r.writeRoots {
		roots = append(roots, w.entry)
	}
	return roots
}

// DenyRead returns the entries of deny_read, expanded: their patterns are
// absolute globs with ~ and .. resolved. Those of the built-in list, less what
// read_roots name, come last.
func (r Rules) DenyRead() []Deny { return slices.Concat(r.denyRead, r.unread.denies()) }

// OwnDenyRead returns the entries of DenyRead that are not those of the built-in list.
func (r Rules) OwnDenyRead() []Deny { return slices.Clone(r.denyRead) }

// Hidden returns what deny_read is about as absolute globs, each of which covers
// its matches and everything below: the patterns of DenyRead, and nothing else of
// them.
func (r Rules) Hidden() []string {
	var list []string
	for _, d := range r.denyRead {
		list = append(list, d.Pattern)
	}
	return append(list, r.unread.hidden()...)
}

// Explained adds the reasons for entries of deny_write to the verdicts.
func (r Rules) Explained(why map[string]string) Rules {
	r.denyWrite = slices.Clone(r.denyWrite)
	for i, d := range r.denyWrite {
		r.denyWrite[i].Why = why[d.Entry]
	}
	return r
}

// DenyWrite returns the entries of deny_write, expanded.
func (r Rules) DenyWrite() []Deny { return slices.Clone(r.denyWrite) }

// ReadRoots returns the entries of read_roots as absolute globs, with ~ and ..
// resolved. A deny of reading wins over all of them.
func (r Rules) ReadRoots() []string { return slices.Clone(r.readable) }

// ScratchRoots returns the entries of scratch as absolute globs with ~ resolved,
// those outside the worktree included.
func (r Rules) ScratchRoots() []string { return slices.Clone(r.discarded) }
