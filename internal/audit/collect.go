package audit

import (
	"context"
	"fmt"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/legible"
)

// Tree is a worker's tree and what it began as.
type Tree struct {
	Top string
	// Layer: Top is the upper layer of an overlay above the base's files, and holds
	// only what was changed.
	Layer bool
	// Live: the worker may be at work. What it has locked stays locked, and cannot be
	// read.
	Live   bool
	Format git.Format
	Base   *git.Listing // the base commit's files
	Seeded []git.File   // files that cordon put there beside them; in Top, also of a layer
	Rules  Judge
	Room   int64 // bytes that may land: see Room
	// Ignored tells which of some new paths the base commit's ignore rules
	// exclude.
	Ignored func(context.Context, []string) (map[string]bool, error)
	// Large tells which of some paths the base commit's attributes give to Git LFS; nil:
	// none.
	Large func(context.Context, []string) (map[string]bool, error)
	// Carried is what an earlier attempt of the worker changed, and Base holds.
	Carried []git.Delta
}

// Collect returns every path that differs from the base. An error means that
// the tree as a whole could not be read.
func Collect(ctx context.Context, t Tree) ([]Change, error) {
	s, err := t.survey()
	if err != nil {
		return nil, err
	}
	defer s.lockAgain()
	c := newCollector(t, s)
	if err := c.hashAll(ctx); err != nil {
		return nil, err
	}
	if err := c.clean(ctx); err != nil {
		return nil, err
	}
	list := c.changes()
	return list, t.Base.Err()
}

// hashAll reads what the base has while git says which of the rest is ignored, and then the
// rest.
func (c *collector) hashAll(ctx context.Context) error {
	paths := c.newPaths()
	if err := c.bounded(c.had); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var ignored map[string]bool
	asked := make(chan error, 1)
	go func() {
		var err error
		if len(paths) > 0 {
			ignored, err = c.Ignored(ctx, paths)
		}
		if err != nil {
			stop()
		}
		asked <- err
	}()
	err := c.hash(ctx, c.had)
	if failed := <-asked; failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	c.ignored = ignored
	if err := c.bounded(all); err != nil {
		return err
	}
	return c.hash(ctx, func(i int) bool { return !c.had(i) })
}

// all is every node of a survey.
func all(int) bool { return true }

// had reports whether the base has something at the path of a node: that is never ignored.
func (c *collector) had(i int) bool {
	return c.old[i].Mode != git.Absent || c.survey.nodes[i].path == ""
}

// survey walks the tree while the base is read: of what is found there, directory
// by directory.
func (t Tree) survey() (*survey, error) {
	most := maxNew
	if !t.Layer { // it holds the base's files too
		most = min(most+len(t.Base.All()), maxEntries)
	}
	ahead, done := make(chan string, 1<<12), make(chan struct{})
	go func() {
		defer close(done)
		for d := range ahead {
			dirs := []string{d}
			for more := len(ahead); more > 0; more-- {
				dirs = append(dirs, <-ahead)
			}
			t.Base.Load(dirs)
		}
	}()
	s, err := walk(t.Top, t.Layer, t.Live, most, ahead)
	close(ahead)
	<-done
	return s, err
}

// collector holds one comparison of a survey with a base.
type collector struct {
	Tree
	survey  *survey
	cover   *cover
	old     []git.Entry // of each node of the survey, what the base has there
	seeded  map[string]git.Entry
	ignored map[string]bool
	entries []git.Entry       // of each node of the survey
	errs    []error           // of each node of the survey
	large   map[string]string // path → hash of content of Git LFS that is not the base's
	forged  map[string]bool   // paths with a pointer that the base does not have
	modules map[string]string // directory → the submodule of the base that it is or lies in
}

func newCollector(t Tree, s *survey) *collector {
	c := &collector{
		Tree: t, survey: s, cover: newCover(s, t.Base), seeded: map[string]git.Entry{}, modules: map[string]string{"": ""},
		old: make([]git.Entry, len(s.nodes)), entries: make([]git.Entry, len(s.nodes)), errs: make([]error, len(s.nodes)),
	}
	for i, n := range s.nodes {
		c.old[i] = t.Base.File(n.path)
	}
	for _, f := range t.Seeded {
		c.seeded[f.Path] = f.Entry
	}
	return c
}

// newPaths lists what the base does not have: only that can be ignored.
func (c *collector) newPaths() []string {
	var paths []string
	for i, n := range c.survey.nodes {
		if !c.had(i) {
			paths = append(paths, n.path)
		}
	}
	return paths
}

// bounded refuses to read without end: files of holes cost a worker nothing.
func (c *collector) bounded(counts func(i int) bool) error {
	var total int64
	for i, n := range c.survey.nodes {
		if n.isFile() && counts(i) && !c.ignored[n.path] {
			total += min(n.size, maxFile)
		}
	}
	if total > maxTotal {
		return fmt.Errorf("the tree holds %d bytes, more than cordon reads", total)
	}
	return nil
}

// changes compares every node and every base path that is not there any more, in
// order of path.
func (c *collector) changes() []Change {
	list := make([]Change, 0, min(len(c.survey.nodes), 1<<14)) // nearly all of a layer differs
	for i, n := range c.survey.nodes {
		if ch, changed := c.change(n, c.old[i], c.entries[i], c.errs[i]); changed {
			list = append(list, ch)
		}
	}
	for _, f := range c.cover.hiddenFiles() {
		if !c.cover.present(f.Path) && f.Mode != git.Gitlink && !c.unseen(f.Path) {
			list = append(list, Change{Path: Path(f.Path), Kind: Deleted, Old: f.Entry})
		}
	}
	for _, f := range c.Seeded {
		if !c.cover.present(f.Path) && !c.unseen(f.Path) {
			list = append(list, c.lostSeed(f))
		}
	}
	if tooLong(list) {
		return list // it never lands, whatever else is wrong with it
	}
	return c.inspect(list)
}

// lostSeed is a file that cordon put there, and that is gone.
func (c *collector) lostSeed(f git.File) Change {
	if in := c.inGitlink(f.Path); in != "" {
		return Change{Path: Path(f.Path), Kind: GitlinkHit, Old: f.Entry, Detail: "deleted, in submodule " + Path(in).String()}
	}
	return Change{Path: Path(f.Path), Kind: Deleted, Old: f.Entry, Ignored: true}
}

// tooLong reports whether changes are more than a report has room for.
func tooLong(list []Change) bool {
	room := maxRoom
	for _, ch := range list {
		if ch.couldLand() {
			room -= ch.weight()
		}
	}
	return room < 0
}

// unseen reports whether a path lies below something that could not be looked
// at. Nobody knows whether it is gone; the place itself is reported.
func (c *collector) unseen(p string) bool {
	return c.survey.blind[""] || slices.ContainsFunc(prefixes(p), func(d string) bool { return c.survey.blind[d] })
}

// change compares one node with what was there before.
func (c *collector) change(n node, old, now git.Entry, err error) (Change, bool) {
	had := old.Mode != git.Absent
	ignored := c.ignored[n.path]
	if !had {
		// What cordon put there is the operator's own and never lands, whatever
		// rule of theirs ignores it.
		old, had = c.seeded[n.path]
		ignored = ignored || had && c.inGitlink(n.path) == ""
	}
	if had && err == nil && old == now && !(n.isFile() && n.setid()) {
		return Change{}, false
	}
	ch := Change{Path: Path(n.path), Old: old, New: now, Size: n.size, Target: Path(n.target), Ignored: ignored}
	ch.SHA256, ch.LFS = c.large[n.path], c.large[n.path] != ""
	ch.Kind = kindOf(old, now)
	ch.Kind, ch.Detail = c.hazard(n, ch, err)
	return ch, true
}

func kindOf(old, now git.Entry) Kind {
	switch {
	case old.Mode == git.Absent:
		return Added
	case now.Mode == git.Absent:
		return Deleted
	case (old.Mode == git.Symlink) != (now.Mode == git.Symlink):
		return Retyped
	case old.OID == now.OID:
		return Chmod
	}
	return Modified
}

// hazard replaces the kind of a change that must never land.
func (c *collector) hazard(n node, ch Change, err error) (Kind, string) {
	switch dir, why := c.inRepository(n.path); {
	case err != nil:
		return Unreadable, legible.Line(err.Error())
	case c.inGitlink(n.path) != "":
		return GitlinkHit, "in submodule " + Path(c.inGitlink(n.path)).String()
	case why != "":
		return Nested, fmt.Sprintf("%s: %s", Path(dir), why)
	case n.special():
		return Special, fileType(n.mode)
	case n.isFile() && n.setid():
		return SetID, fmt.Sprintf("mode %o", n.mode&0o7777)
	case n.isFile() && n.nlink > 1:
		return HardLink, fmt.Sprintf("%d names", n.nlink)
	case c.forged[n.path]:
		return Pointer, "its content is not here"
	case n.isFile() && n.size > maxFile:
		return TooLarge, fmt.Sprintf("%d bytes", n.size)
	}
	if ch.Kind == Added {
		if why := badName(n.path); why != "" {
			return BadName, why
		}
	}
	return ch.Kind, modes(ch)
}

func modes(ch Change) string {
	if ch.Old.Mode == ch.New.Mode || ch.Old.Mode == git.Absent {
		return ""
	}
	return fmt.Sprintf("mode %s → %s", ch.Old.Mode, ch.New.Mode)
}

func fileType(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFIFO:
		return "a named pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFBLK, unix.S_IFCHR:
		return "a device"
	}
	return "an unknown type of file"
}

// inRepository returns the repository inside the tree that a path belongs to.
func (c *collector) inRepository(p string) (dir, why string) {
	for d := path.Dir(p); ; d = path.Dir(d) {
		if why, ok := c.cover.repos[d]; ok {
			return d, why
		}
		if d == "." {
			return "", ""
		}
	}
}

// inGitlink returns the submodule of the base that a path is, or lies in.
func (c *collector) inGitlink(p string) string {
	if c.Base.File(p).Mode == git.Gitlink {
		return p
	}
	dir := dirOf(p)
	if _, known := c.modules[dir]; !known {
		c.modules[dir] = c.inGitlink(dir)
	}
	return c.modules[dir]
}

// settled reports whether nothing came to be, and no link changed: then nothing
// has to be judged on the resulting tree.
func settled(list []Change) bool {
	for _, ch := range list {
		if ch.Kind == Added || ch.Old.Mode == git.Symlink || ch.New.Mode == git.Symlink {
			return false
		}
	}
	return true
}

// inspect looks at what can only be judged on the resulting tree: where links
// lead, and names that collide.
func (c *collector) inspect(list []Change) []Change {
	after := newOutcome(c.Base, nil)
	lookup := func(p string) (string, bool) { return c.cover.target(p, after.links) }
	for i := range list {
		ch := &list[i]
		if !ch.Kind.Landable() || ch.Ignored || ch.New.Mode != git.Symlink {
			continue
		}
		if why := leadsOut(string(ch.Path), lookup, c.Rules); why != "" {
			ch.Kind, ch.Detail = LinkOut, why
		}
	}
	if !settled(list) {
		after.land(list)
	}
	markCollisions(list, after)
	return append(list, bentChanges(list, after, lookup)...)
}
