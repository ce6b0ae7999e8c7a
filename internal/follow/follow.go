// Package follow brings a checkout along when its branch moves, without losing a byte
// of it and without writing anywhere else.
//
// A branch and its checkouts cannot be changed in one act, so the index lock of each
// checkout is held from before the branch moves until its index has followed: git
// cannot commit the old index on the new commit. Begin takes the lock and
// gets everything ready, Carry places the files and the index, and the caller moves the
// branch and gives the lock back. The lock names the move, so that after a kill the next
// cordon can finish it or take it back.
//
// Git writes the new files into a private directory, with the conversions that the
// checkout asks for; from there they are placed one by one, each from an open
// directory that was reached without following a link. A file is replaced only if it
// is what the index said: another program may be writing in the checkout.
//
// Changes of the operator's that the move does not touch stay as they are, staged or not:
// a step goes through where git merge --ff-only would, unless git would drop a staged file
// or one that lands. A move that is taken back leaves what was there before it.
//
// The package refuses to run git where it would write files of the checkout, and to move
// the branch.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"cordon/internal/git"
)

// Step is a checkout whose index is locked and for which everything is ready.
type Step struct {
	Checkout git.Checkout
	Blocked  []Obstacle // paths of the move that cannot be placed
	Followed bool       // at the paths of the move, the index is at the new commit already
	Apart    bool       // at some of them it is at neither commit: something is staged, or somebody went on

	repo  git.Repo
	move  Move
	lock  *lock
	root  *dir
	stage string // private: the new files below tree, and the new index
	files *dir   // stage/tree
	items []item
	mine  map[string]bool // on the way back: paths that the move found at its end, which are somebody's own work
	prior string          // on the way back: the index as it was before the move, if it is known

	begun  bool // something may be placed
	placed bool // everything is, or was left to somebody
}

// Begin locks the index of a checkout and prepares its move. stage is an empty
// directory that nobody else can write. Whoever gets a step calls Release, Rewind or Drop.
func Begin(ctx context.Context, repo git.Repo, c git.Checkout, m Move, stage string) (*Step, error) {
	l, err := acquire(ctx, c.GitDir, m)
	if err != nil {
		return nil, err
	}
	s := &Step{Checkout: c, repo: repo, move: m, lock: l, stage: stage}
	if l.left != nil && *l.left != m {
		s.Drop()
		return nil, &InterruptedError{Checkout: c, Move: *l.left}
	}
	if err := s.prepare(ctx); err != nil {
		s.Drop()
		return nil, err
	}
	return s, nil
}

// Drop gives the checkout back as it was. A lock that a killed cordon left stays: the
// branch may have moved.
func (s *Step) Drop() {
	if s.lock.left != nil {
		s.lock.abandon()
	} else {
		_ = s.lock.release()
	}
	s.closeDirs()
}

func (s *Step) closeDirs() {
	for _, d := range []*dir{s.root, s.files} {
		if d != nil {
			d.close()
		}
	}
	s.root, s.files = nil, nil
}

// TakenOver reports whether a killed cordon made the lock.
func (s *Step) TakenOver() bool { return s.lock.left != nil }

// Lock is held for as long as a process has it open.
func (s *Step) Lock() *os.File { return s.lock.file }

// prepare looks at the checkout and writes the new files and the new index aside.
func (s *Step) prepare(ctx context.Context) error {
	deltas, err := s.repo.Diff(ctx, s.move.From, s.move.To)
	if err != nil {
		return err
	}
	if index, err := s.lock.dir.stat("index"); err != nil || !index.regular() {
		return errors.Join(err, fmt.Errorf("%s is not a file", filepath.Join(s.Checkout.GitDir, "index")))
	}
	if s.root, err = openDir(s.Checkout.Top); err != nil {
		return fmt.Errorf("%s: %w", s.Checkout.Top, err)
	}
	// What is there is noted before git compares it with the index: a file that is
	// changed from here on is seen by one of the two.
	seen := s.glance(deltas)
	ahead, err := s.compare(ctx, deltas)
	if err != nil || s.Followed || s.Apart {
		return err
	}
	changed, err := s.changed(ctx, pathsOf(deltas))
	if err != nil {
		return err
	}
	hidden, err := s.hidden(ctx, pathsOf(deltas))
	if err != nil {
		return err
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	large, err := s.largeFiles(ctx, deltas)
	if err == nil {
		err = s.enlarge(ctx, deltas, large)
	}
	if err != nil {
		return err
	}
	if err := s.crowded(ctx, deltas); err != nil || s.Apart {
		return err
	}
	j := judgement{
		root: s.root, files: s.files, seen: seen, ahead: ahead, changed: changed, hidden: hidden, leaving: leaving(deltas),
		large: large, format: s.repo.Format,
	}
	j.gone = inodes(seen, j.leaving)
	for _, d := range deltas {
		it := j.judge(d)
		if s.mine[d.Path] {
			it.done, it.why = true, ""
		}
		s.items = append(s.items, it)
		if it.why != "" {
			s.Blocked = append(s.Blocked, Obstacle{Path: it.at, Why: it.why})
		}
	}
	return nil
}

// glance notes what is at each path.
func (s *Step) glance(deltas []git.Delta) map[string]glance {
	seen := map[string]glance{}
	for _, d := range deltas {
		var g glance
		g.identity, g.err = s.root.look(d.Path)
		seen[d.Path] = g
	}
	return seen
}

// compare holds the index against both commits at the paths of the move. It lists those
// that are at the new commit before the rest: git leaves them and their files alone, and
// so does a step. Whatever else is staged stays staged.
func (s *Step) compare(ctx context.Context, deltas []git.Delta) (ahead map[string]bool, err error) {
	off, err := s.staged(ctx, s.move.From, deltas)
	if err != nil || len(off) == 0 {
		return nil, err
	}
	beyond, err := s.staged(ctx, s.move.To, deltas)
	if err != nil {
		return nil, err
	}
	for _, d := range deltas {
		if off[d.Path] && beyond[d.Path] {
			s.Apart = true
			s.Blocked = append(s.Blocked, Obstacle{Path: d.Path, Why: whyChanged})
		}
	}
	s.Followed = len(beyond) == 0
	return off, nil
}

// staged are the paths of a move at which the index is not at a commit.
func (s *Step) staged(ctx context.Context, commit git.OID, deltas []git.Delta) (map[string]bool, error) {
	list, err := s.repo.Staged(ctx, s.Checkout, commit)
	if err != nil {
		return nil, err
	}
	differs := setOf(list)
	at := map[string]bool{}
	for _, d := range deltas {
		if differs[d.Path] {
			at[d.Path] = true
		}
	}
	return at, nil
}

// crowded looks for what the new index lost: git keeps only one of a file and of files
// in a directory of its name, which may be what the operator staged, or what lands.
func (s *Step) crowded(ctx context.Context, deltas []git.Delta) error {
	if s.prior != "" {
		return nil // the new index is not used
	}
	before, err := s.repo.Staged(ctx, s.Checkout, s.move.From)
	if err != nil {
		return err
	}
	then := s.Checkout
	then.Index = s.index()
	after, err := s.repo.Staged(ctx, then, s.move.To)
	if err != nil {
		return err
	}
	moved, kept := map[string]bool{}, setOf(after)
	for _, d := range deltas {
		if moved[d.Path] = true; kept[d.Path] {
			s.Blocked = append(s.Blocked, Obstacle{Path: d.Path, Why: whyCrowded})
		}
	}
	for _, p := range before {
		if !moved[p] && !kept[p] {
			s.Blocked = append(s.Blocked, Obstacle{Path: p, Why: whyCrowded})
		}
	}
	s.Apart = len(s.Blocked) > 0
	return nil
}

// pathsOf are the paths of a move.
func pathsOf(deltas []git.Delta) []string {
	list := make([]string, len(deltas))
	for i, d := range deltas {
		list[i] = d.Path
	}
	return list
}

// changed are the tracked files among some that are not as the index says.
func (s *Step) changed(ctx context.Context, paths []string) (map[string]bool, error) {
	status, err := s.repo.Status(ctx, s.Checkout, false, paths...)
	if err != nil {
		return nil, err
	}
	at := map[string]bool{}
	for _, c := range status {
		if c.Code[1] != ' ' {
			at[c.Path] = true
		}
	}
	return at, nil
}

func setOf(list []string) map[string]bool {
	set := map[string]bool{}
	for _, p := range list {
		set[p] = true
	}
	return set
}

// hidden are the entries of the index among some whose files git was told not to look at.
func (s *Step) hidden(ctx context.Context, paths []string) (map[string]byte, error) {
	list, err := s.repo.HiddenBits(ctx, s.Checkout, paths...)
	if err != nil {
		return nil, err
	}
	hidden := map[string]byte{}
	for _, rec := range list {
		hidden[rec[2:]] = rec[0]
	}
	return hidden, nil
}

// write has git write the new files and the new index aside.
func (s *Step) write(ctx context.Context) error {
	tree := filepath.Join(s.stage, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return err
	}
	err := s.repo.Stage(ctx, s.Checkout, s.move.From, s.move.To, s.index(), tree)
	if err == nil {
		err = s.repo.CopyIndex(s.Checkout, s.before())
	}
	if err != nil {
		return err
	}
	s.files, err = openDir(tree)
	return err
}

func (s *Step) index() string { return filepath.Join(s.stage, "index") }

// before is the index as it was when the step began.
func (s *Step) before() string { return filepath.Join(s.stage, "before") }

// Carry places the files and the index. The lock stays. Files that somebody changed
// meanwhile are left as they are, and listed by a *LeftError. With any other error the
// index is where it was: an *UnplacedError names a file that cannot be written, after
// which nothing else was placed.
//
// The branch moves after this and not before: git commit reads where the branch is, then
// the index, and takes the lock last, so it could put an index from before on a branch
// from after. With the index first, its own compare-and-swap of the branch fails.
func (s *Step) Carry(ctx context.Context) error {
	if s.Followed {
		return nil
	}
	if err := s.lock.check(); err != nil {
		return err
	}
	s.begun = true
	left, err := s.place()
	if err != nil {
		return err
	}
	// Without this, git reads the new files again when it next looks. A program that
	// plays with the files must not keep the lock.
	quick, cancel := context.WithTimeout(ctx, time.Minute)
	index := cmp.Or(s.prior, s.index())
	_ = s.repo.Refresh(quick, s.Checkout, index, s.written()...)
	cancel()
	if err := s.lock.check(); err != nil {
		return err
	}
	if err := s.lock.dir.install(index); err != nil {
		return err
	}
	s.Followed = true
	if len(left) > 0 {
		return &LeftError{Checkout: s.Checkout.Top, Left: left}
	}
	return nil
}

// written are the paths that hold a file after the move.
func (s *Step) written() []string {
	var list []string
	for _, it := range s.items {
		if it.delta.New.Mode != git.Absent {
			list = append(list, it.delta.Path)
		}
	}
	return list
}

// Release gives the lock back, whoever made it.
func (s *Step) Release() error {
	defer s.closeDirs()
	return s.lock.release()
}

// Abandon leaves the lock for the next cordon.
func (s *Step) Abandon() {
	s.lock.abandon()
	s.closeDirs()
}

// Rewind takes a checkout back to where its branch stayed, and gives the lock back. stage
// is another empty directory. Whatever was placed, by this cordon or by one that was
// killed, goes; what somebody changed meanwhile stays, and so does what was like the new
// commit before the move began.
func (s *Step) Rewind(ctx context.Context, stage string) error {
	if s.Apart || !s.begun && s.lock.left == nil {
		return s.Release()
	}
	defer s.closeDirs()
	back := &Step{Checkout: s.Checkout, repo: s.repo, lock: s.lock, stage: stage, move: Move{s.move.Ref, s.move.To, s.move.From}}
	for _, it := range s.items {
		_ = s.sweep(it) // what cannot be swept is in nobody's way
	}
	if len(s.items) > 0 {
		back.mine, back.prior = s.found(), s.before()
	}
	if !s.Followed {
		// The way back begins at the new index. The disk may be too full to install it.
		back.Checkout.Index = s.index()
	}
	err := back.prepare(ctx)
	if err == nil {
		err = back.Carry(ctx)
	}
	back.closeDirs()
	if err != nil && !s.Followed && back.placed {
		err = nil // the checkout's own index is the old one
	}
	if !kept(err) {
		s.Abandon()
		return err
	}
	return s.Release()
}

// found are the paths at which there was nothing to do when the step began. A killed
// cordon may have placed files, but not an index: what that has is somebody's.
func (s *Step) found() map[string]bool {
	at := map[string]bool{}
	for _, it := range s.items {
		at[it.delta.Path] = it.ahead || it.done && s.lock.left == nil
	}
	return at
}

// kept reports whether nothing worse happened than that files were left as they are.
func kept(err error) bool {
	var left *LeftError
	return err == nil || errors.As(err, &left)
}

// place removes what goes, deepest first, and then writes what comes. It ends at a file
// that cannot be written; one that somebody changed meanwhile is left.
func (s *Step) place() (left []Obstacle, err error) {
	do := func(it item, act func(item) error) error {
		if it.why == "" {
			err := act(it)
			if err != nil && !errors.Is(err, errSaved) && !errors.Is(err, ErrLink) {
				return &UnplacedError{Checkout: s.Checkout.Top, Path: it.delta.Path, Err: err}
			}
			if err != nil {
				it.at, it.why = it.delta.Path, err.Error()
			}
		}
		if it.why != "" {
			left = append(left, Obstacle{Path: it.at, Why: it.why})
		}
		return nil
	}
	for _, it := range slices.Backward(s.items) {
		if it.delta.New.Mode == git.Absent && err == nil {
			err = do(it, s.remove)
		}
	}
	for _, it := range s.items {
		if it.delta.New.Mode != git.Absent && err == nil {
			err = do(it, s.put)
		}
	}
	s.placed = err == nil
	return left, err
}

// leaving are the paths that a move deletes.
func leaving(deltas []git.Delta) map[string]bool {
	gone := map[string]bool{}
	for _, d := range deltas {
		if d.New.Mode == git.Absent {
			gone[d.Path] = true
		}
	}
	return gone
}

// above lists the directories of a path, topmost first.
func above(p string) []string {
	var list []string
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		list = append(list, d)
	}
	slices.Reverse(list)
	return list
}

// unsupported reports whether a file system has no such call.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, errInvalid)
}
