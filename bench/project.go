package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/base"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/overlay"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worktree"
)

// tools are the programs that are measured, and the one that measures inside.
type tools struct{ cordon, self string }

// project is a repository and everything that is made of it. What is compared with
// is made of a clone, so that the host has no other worktrees.
type project struct {
	tools
	name    string
	dir     string // holds all of it but cordon's state
	clone   string
	host    git.Host
	place   state.Dir
	store   base.Store
	commit  git.OID
	next    git.OID // the same with ten files changed
	files   []git.File
	leased  string // a directory of about 200 files
	base    base.Base
	figures figures
	home    string
}

func (p *project) top() string { return p.host.Top }

// open finds out what there is to know of the repository in dir/host.
func (p *project) open(ctx context.Context) error {
	bin, err := git.Find(ctx)
	if err != nil {
		return err
	}
	if p.host, err = git.Discover(ctx, bin, filepath.Join(p.dir, "host")); err != nil {
		return err
	}
	if p.home, err = os.UserHomeDir(); err != nil {
		return err
	}
	if p.place, err = state.For(p.host); err != nil {
		return err
	}
	if err := p.place.Make(p.host); err != nil {
		return err
	}
	p.store = base.Store{Bin: bin, State: p.place, Format: p.host.Format}
	if p.commit, err = p.host.Commit(ctx, "HEAD"); err != nil {
		return err
	}
	if err := p.list(ctx); err != nil {
		return err
	}
	if err := changeSome(ctx, p.top(), p.commit, p.some(10)); err != nil {
		return err
	}
	if p.next, err = p.host.Commit(ctx, "bench-next"); err != nil {
		return err
	}
	// Files as new as the index would be read again by every git status.
	time.Sleep(1100 * time.Millisecond)
	if err := gitIn(ctx, p.top(), "status"); err != nil {
		return err
	}
	p.clone = filepath.Join(p.dir, "clone")
	return gitIn(ctx, "", "clone", "-q", "--shared", "--no-checkout", p.top(), p.clone)
}

func (p *project) list(ctx context.Context) error {
	all, err := p.host.Tree(ctx, p.commit)
	if err != nil {
		return err
	}
	below := map[string]int{}
	for _, f := range all {
		if f.Mode != git.Regular {
			continue
		}
		p.files = append(p.files, f)
		for d := path.Dir(f.Path); d != "."; d = path.Dir(d) {
			below[d]++
		}
	}
	if len(p.files) == 0 {
		return errors.New("the repository has no files")
	}
	far := func(d string) int { return max(below[d]-200, 200-below[d]) }
	for d := range below {
		if p.leased == "" || far(d) < far(p.leased) || far(d) == far(p.leased) && d < p.leased {
			p.leased = d
		}
	}
	return nil
}

// some are n files from all over the repository.
func (p *project) some(n int) []git.File {
	list := make([]git.File, 0, n)
	for i := range min(n, len(p.files)) {
		list = append(list, p.files[i*len(p.files)/min(n, len(p.files))])
	}
	return list
}

// sample is the file by which a tree is told from a broken one.
func (p *project) sample() git.File { return p.files[len(p.files)/2] }

// byDefault is what a worker may write when nothing else is said.
var byDefault = policy.Default().Filesystem.WriteRoots

// layers makes a tree that is copied on write, as far as it is made before its cell
// is.
func (p *project) layers(ctx context.Context, id string, roots []string) error {
	_, err := worktree.MakeLayered(ctx, worktree.LayerOrder{
		Bin: p.store.Bin, Host: p.host, Source: p.host.Repo, Alternate: p.place.Objects(),
		Commit: p.commit, Branch: "cordon/" + id, Below: p.base.Layers, Files: p.base.Files, Roots: roots,
		Partial: p.place.Layers(id + ".new"), Path: p.place.Layers(id),
	})
	return err
}

// enclose is the cell of a tree under the default policy.
func (p *project) enclose(ctx context.Context, id string) (*cell.Order, error) {
	tree := p.place.Tree(id)
	rules, err := policy.Compile(policy.Default(), policy.Location{Worktree: tree, Home: p.home})
	if err != nil {
		return nil, err
	}
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	objects, err := enclosure.ObjectBinds(p.host, p.place.Objects())
	if err != nil {
		return nil, err
	}
	if _, err := p.host.Checkouts(ctx); err != nil { // cordon asks too
		return nil, err
	}
	o, err := enclosure.Enclosure{
		Policy: policy.Default(), Rules: rules, Home: p.home, Tree: tree, GitDir: filepath.Join(tree, ".git"),
		Over: enclosure.LayeredTree(tree, p.base.Layers, p.base.Index), Bind: objects, Layers: p.place.Layers(id),
		Host: []string{p.host.Dir, p.host.Top}, State: []string{root}, Secret: []string{filepath.Join(p.host.Dir, "HEAD")},
	}.Order()
	return &o, err
}

// inside runs a command in the cell of a tree and returns what it printed.
func (p *project) inside(ctx context.Context, id string, argv ...string) ([]byte, error) {
	order, err := p.enclose(ctx, id)
	if err != nil {
		return nil, err
	}
	l := lease.Lease{Terms: lease.Terms{ID: lease.ID(id), Policy: policy.Default()}, Place: lease.Place{Worktree: p.place.Tree(id)}}
	var out, said bytes.Buffer
	exit, err := cell.Run(ctx, cell.Command{
		Argv: argv, Dir: l.Worktree, Env: enclosure.Environ(l, os.Environ(), p.host.Dir, p.host.Top),
		Stdout: &out, Stderr: &said, Limit: 10 * time.Minute, Cell: order,
	})
	if err == nil && !exit.OK() {
		err = fmt.Errorf("%s ended with %d, %s: %s", argv[0], exit.Code, exit.Reason, said.String())
	}
	return out.Bytes(), err
}

// whole says whether a tree shows the right content, seen without a mount.
func (p *project) whole(id string) error {
	seen, err := overlay.Open(append([]string{worktree.Upper(p.place.Layers(id), worktree.FilesLayer)}, p.base.Layers...)...)
	if err != nil {
		return err
	}
	defer seen.Close()
	dir := seen
	if above := path.Dir(p.sample().Path); above != "." {
		if dir, err = seen.Sub(above); err != nil {
			return err
		}
		defer dir.Close()
	}
	e, err := dir.Entry(path.Base(p.sample().Path))
	if err != nil {
		return err
	}
	f, err := e.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return p.right(text)
}

// right compares a text with what the sample holds.
func (p *project) right(text []byte) error {
	h := p.host.Format.BlobHash(int64(len(text)))
	h.Write(text)
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != string(p.sample().OID) {
		return fmt.Errorf("%s has the wrong content, of %d bytes", p.sample().Path, len(text))
	}
	return nil
}

// drop removes a tree the way gc does, for the caller.
func (p *project) drop(id string) error {
	for _, dir := range []string{
		p.place.History(id), p.place.Ignore(id), p.place.Acceptance(id), p.place.Layers(id), p.place.Layers(id + ".accept"),
		p.place.Tree(id), p.place.Frozen(id), p.place.NewTree(id),
	} {
		if err := p.place.Drop(dir, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until nothing is left to be written: what one step wrote is not to
// be paid for by the next.
func settle() {
	done := make(chan struct{})
	go func() { unix.Sync(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second): // somebody else writes without end
	}
}

// erase deletes a directory of our own, also where a cell has locked a part of it.
func erase(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, e os.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench: left behind:", err)
	}
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return strings.TrimSpace(text)
}
