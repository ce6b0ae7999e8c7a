package audit

import (
	"context"
	"fmt"
	"io"
	"path"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// Tree is a worker's tree and what it began as.
type Tree struct {
	Top    string
	Format git.Format
	Base   []git.File // the base commit's files
	Seeded []git.File // files that cordon put there beside them
	Rules  Judge
	// Ignored tells which of some new paths the base commit's ignore rules
	// exclude.
	Ignored func(context.Context, []string) (map[string]bool, error)
}

// Collect returns every path that differs from the base. An error means that
// the tree as a whole could not be read.
func Collect(ctx context.Context, t Tree) ([]Change, error) {
	s, err := walk(t.Top)
	if err != nil {
		return nil, err
	}
	c := newCollector(t, s)
	if c.ignored, err = t.Ignored(ctx, c.newPaths()); err != nil {
		return nil, err
	}
	if err := c.bounded(); err != nil {
		return nil, err
	}
	if err := c.hash(ctx); err != nil {
		return nil, err
	}
	return c.changes(), nil
}

// collector holds one comparison of a survey with a base.
type collector struct {
	Tree
	survey  *survey
	base    map[string]git.Entry
	seeded  map[string]git.Entry
	ignored map[string]bool
	entries []git.Entry // of each node of the survey
	errs    []error     // of each node of the survey
}

func newCollector(t Tree, s *survey) *collector {
	c := &collector{
		Tree: t, survey: s,
		base: map[string]git.Entry{}, seeded: map[string]git.Entry{},
		entries: make([]git.Entry, len(s.nodes)), errs: make([]error, len(s.nodes)),
	}
	for _, f := range t.Base {
		c.base[f.Path] = f.Entry
	}
	for _, f := range t.Seeded {
		c.seeded[f.Path] = f.Entry
	}
	return c
}

// newPaths lists what the base does not have: only that can be ignored.
func (c *collector) newPaths() []string {
	var paths []string
	for _, n := range c.survey.nodes {
		if _, ok := c.base[n.path]; !ok && n.path != "" {
			paths = append(paths, n.path)
		}
	}
	return paths
}

// bounded refuses to read without end: files of holes cost a worker nothing.
func (c *collector) bounded() error {
	var total int64
	for _, n := range c.survey.nodes {
		if n.isFile() && !c.ignored[n.path] {
			total += min(n.size, maxFile)
		}
	}
	if total > maxTotal {
		return fmt.Errorf("the tree holds %d bytes, more than cordon reads", total)
	}
	return nil
}

// hash fills entries for every node whose content matters.
func (c *collector) hash(ctx context.Context) error {
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				c.entries[i], c.errs[i] = c.entry(ctx, c.survey.nodes[i])
			}
		})
	}
	for i := range c.survey.nodes {
		next <- i
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// entry is what git would hold for a node.
func (c *collector) entry(ctx context.Context, n node) (git.Entry, error) {
	switch {
	case n.err != nil:
		return git.Entry{}, n.err
	case n.isLink():
		return git.Entry{Mode: git.Symlink, OID: c.Format.Blob([]byte(n.target))}, nil
	case n.special():
		return git.Entry{}, nil
	}
	e := git.Entry{Mode: git.Regular}
	if n.executes() {
		e.Mode = git.Executable
	}
	_, seeded := c.seeded[n.path]
	if n.size > maxFile || c.ignored[n.path] && !seeded || ctx.Err() != nil {
		return e, nil
	}
	var err error
	e.OID, err = hashFile(c.Top, n.path, c.Format)
	return e, err
}

func hashFile(top, full string, format git.Format) (git.OID, error) {
	f, err := openFile(top, full)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := format.BlobHash(fi.Size())
	n, err := io.Copy(h, io.LimitReader(f, fi.Size()+1))
	if err != nil {
		return "", err
	}
	if n != fi.Size() {
		return "", fmt.Errorf("it changed while it was read")
	}
	return git.OID(fmt.Sprintf("%x", h.Sum(nil))), nil
}

// changes compares every node and every base path, in order of path.
func (c *collector) changes() []Change {
	var list []Change
	present := make(map[string]bool, len(c.survey.nodes))
	for i, n := range c.survey.nodes {
		present[n.path] = true
		if ch, changed := c.change(n, c.entries[i], c.errs[i]); changed {
			list = append(list, ch)
		}
	}
	for _, f := range c.Base {
		if !present[f.Path] && f.Mode != git.Gitlink && !c.unseen(f.Path) {
			list = append(list, Change{Path: Path(f.Path), Kind: Deleted, Old: f.Entry})
		}
	}
	for _, f := range c.Seeded {
		if !present[f.Path] && !c.unseen(f.Path) {
			list = append(list, Change{Path: Path(f.Path), Kind: Deleted, Old: f.Entry, Ignored: true})
		}
	}
	return c.inspect(list)
}

// unseen reports whether a path lies below something that could not be looked
// at. Nobody knows whether it is gone; the place itself is reported.
func (c *collector) unseen(p string) bool {
	if c.survey.blind[""] {
		return true
	}
	for _, d := range prefixes(p) {
		if c.survey.blind[d] {
			return true
		}
	}
	return false
}

// change compares one node with what was there before.
func (c *collector) change(n node, now git.Entry, err error) (Change, bool) {
	old, had := c.base[n.path]
	ignored := c.ignored[n.path]
	if !had {
		// What cordon put there is the operator's own and never lands, whatever
		// rule of theirs ignores it.
		old, had = c.seeded[n.path]
		ignored = ignored || had
	}
	if had && err == nil && old == now && !(n.isFile() && n.setid()) {
		return Change{}, false
	}
	ch := Change{Path: Path(n.path), Old: old, New: now, Size: n.size, Target: Path(n.target), Ignored: ignored}
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
		return Unreadable, plain(err.Error())
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
		if why, ok := c.survey.repos[d]; ok {
			return d, why
		}
		if d == "." {
			return "", ""
		}
	}
}

// inGitlink returns the submodule of the base that a path is, or lies in.
func (c *collector) inGitlink(p string) string {
	for _, d := range prefixes(p) {
		if c.base[d].Mode == git.Gitlink {
			return d
		}
	}
	return ""
}

// inspect looks at what can only be judged on the resulting tree: where links
// lead, and names that collide.
func (c *collector) inspect(list []Change) []Change {
	targets := map[string]string{}
	for _, n := range c.survey.nodes {
		if n.isLink() {
			targets[n.path] = n.target
		}
	}
	lookup := func(p string) (string, bool) { t, ok := targets[p]; return t, ok }
	for i := range list {
		ch := &list[i]
		if !ch.Kind.Landable() || ch.Ignored || ch.New.Mode != git.Symlink {
			continue
		}
		if why := leadsOut(string(ch.Path), lookup, c.Rules); why != "" {
			ch.Kind, ch.Detail = LinkOut, why
		}
	}
	after := Result(c.Base, list)
	markCollisions(list, after)
	return append(list, bentChanges(list, after, lookup)...)
}

// Result is the tree that landing the changes would make of the base.
func Result(base []git.File, list []Change) map[string]git.Entry {
	after := make(map[string]git.Entry, len(base))
	for _, f := range base {
		after[f.Path] = f.Entry
	}
	for _, ch := range list {
		switch {
		case ch.Ignored || !ch.Kind.Landable():
		case ch.Kind == Deleted:
			delete(after, string(ch.Path))
		default:
			after[string(ch.Path)] = ch.New
		}
	}
	return after
}
