package confine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
	"cordon/internal/state"
	"cordon/internal/worktree"
)

// repository is the repository that an execution is in, if any.
type repository struct {
	bin   git.Binary
	host  git.Host
	state state.Dir
	all   []git.Checkout
}

// order completes the cell of an execution in a repository. The notice says what
// became of its commits.
func (r *repository) order(ctx context.Context, e enclosure.Enclosure) (*cell.Order, func() string, error) {
	commits, err := r.shadow(ctx, &e)
	if err != nil {
		return nil, nil, err
	}
	// The worktree that the command is confined to is seen, also where only a part
	// of it is written.
	top := r.host.Top
	e.Host = slices.DeleteFunc(enclosure.HostPlaces(r.host, r.all), func(p string) bool { return p == top })
	isTop := func(c cell.Over) bool { return c.At == top }
	if !slices.Contains(e.Write, top) && !slices.ContainsFunc(e.Over, isTop) {
		e.Bind = append(e.Bind, cell.Bind{From: top, At: top})
	}
	o, err := enclosure.CompleteOrder(e, r.host, r.state)
	return o, commits, err
}

// repositoryAround finds the repository that a directory is in, if any.
func repositoryAround(ctx context.Context, dir string) (*repository, error) {
	if _, ok := gitfile.Around(dir); !ok {
		return nil, nil // without starting git
	}
	var r repository
	var err error
	if r.bin, err = git.FindKnown(ctx, state.Said, append(state.Written(), gitfile.CheckoutsAround(dir)...)...); err != nil {
		return nil, err
	}
	r.bin = r.bin.Remembering(state.Recalled)
	r.host, err = git.Discover(ctx, r.bin, dir)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.host.Top == "" {
		return nil, fault.Refuse("%s is a bare repository: go into a checkout of it", dir)
	}
	if r.all, err = r.host.Checkouts(ctx); err != nil {
		return nil, err
	}
	if r.state, err = state.For(r.host); err != nil {
		return nil, err
	}
	return &r, r.state.Make(r.host)
}

// ShadowLock is held by whoever makes the repository of an execution or copies of it.
const ShadowLock = "shadow.lock"

// ShadowTop is the file beside a shadow that says which checkout it is for.
const ShadowTop = "top"

// shadow gives an execution a repository of its own, which is kept for the next
// one in the same checkout while commit, branch and index of that stay as they are.
func (r *repository) shadow(ctx context.Context, e *enclosure.Enclosure) (func() string, error) {
	here, err := r.checkout()
	if err != nil {
		return nil, err
	}
	branch := strings.TrimPrefix(here.Branch, "refs/heads/")
	if branch == "" {
		branch = "detached"
	}
	release, err := r.state.Await(ctx, ShadowLock) // another one may make it at this moment
	if err != nil {
		return nil, err
	}
	defer release()
	shadow, lost, err := r.freshShadow(ctx, here, branch)
	if err != nil {
		return nil, err
	}
	if e.Bind, err = enclosure.ShadowBinds(shadow, r.host.Top); err != nil {
		return nil, err
	}
	e.GitDir = enclosure.WritableBind(e.Bind)
	modules, err := enclosure.SubmoduleBinds(shadow, r.host.Top, gitfile.PlaceOf(r.host.Top, r.host.Private).Modules())
	if err != nil {
		return nil, err
	}
	e.Bind = append(e.Bind, modules...)
	if here.Head != "" {
		e.Tree = r.host.Top
	}
	return func() string {
		// A tip that is not found was packed with others.
		if lost == "" && hasHeadAndConfig(shadow) && tipOf(shadow, branch) != string(here.Head) {
			return "its commits are in a repository of its own (" + r.showCommits(ctx, shadow, here, branch,
				audit.Room(int64(e.Policy.Limits.Disk))) + "); yours has not changed, and the files are in your tree for you to commit"
		}
		return lost
	}, nil
}

// showCommits copies the commits of an execution, each object verified, into a bare
// repository of cordon's own making: git in the shadow would obey the configuration that
// the command wrote there. It returns where that is, or why there is none.
func (r *repository) showCommits(ctx context.Context, shadow worktree.Shadow, here git.Checkout, branch string, room int64) string {
	ctx = context.WithoutCancel(ctx)
	dir := r.state.History(filepath.Base(shadow.Dir))
	if err := r.copyCommits(ctx, shadow, here, branch, dir, room); err != nil {
		return "which cannot be shown: " + fault.OneLine(err)
	}
	return "git --git-dir=" + dir + " log"
}

func (r *repository) copyCommits(ctx context.Context, shadow worktree.Shadow, here git.Checkout, branch, dir string, room int64) (err error) {
	release, err := r.state.Await(ctx, ShadowLock)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		if err != nil { // half a copy helps nobody
			err = errors.Join(err, r.state.Erase(dir))
		}
	}()
	shallow, err := r.host.ShallowFile()
	if err == nil {
		err = r.state.Erase(dir)
	}
	if err != nil {
		return err
	}
	repo, err := git.Init(ctx, r.bin, dir, git.InitOptions{
		Bare: true, Format: r.host.Format, Alternate: r.state.Objects(), Shallow: shallow, Branch: branch,
	})
	if err != nil {
		return err
	}
	h, err := audit.ReadHistory(ctx, shadow.GitDir(), repo, here.Head, room)
	if err != nil {
		return err
	}
	for _, tip := range h.Tips {
		if name := string(tip.Ref); strings.HasPrefix(name, "refs/heads/") {
			if err := repo.UpdateRef(ctx, name, tip.OID, "", "cordon: exec"); err != nil {
				return err
			}
		}
	}
	return nil
}

// freshShadow is the repository of the checkout as it is now. One that holds
// commits of an earlier command is not thrown away, and it is said where it is.
func (r *repository) freshShadow(ctx context.Context, here git.Checkout, branch string) (worktree.Shadow, string, error) {
	shadow := worktree.Shadow{Dir: r.state.Shadow(state.Key(r.host.Top))}
	stamp, lost := r.madeOf(here, branch), ""
	have := readStart(filepath.Join(shadow.Dir, "base"))
	whole := hasHeadAndConfig(shadow) // one that a command has taken apart is made again
	if have == stamp && whole {
		return shadow, "", nil
	}
	was := strings.Fields(have)
	if len(was) == 3 && tipOf(shadow, was[1]) == was[0] && whole {
		// Nothing was committed in it: gc need not keep it.
		if err := os.Rename(shadow.Dir, shadow.Dir+".new"); err != nil {
			return shadow, "", err
		}
		if _, err := r.state.Trash(shadow.Dir+".new", time.Now()); err != nil {
			return shadow, "", err
		}
	}
	name, err := r.state.Trash(shadow.Dir, time.Now())
	if err != nil {
		return shadow, "", err
	}
	if name != "" {
		lost = "the commits of earlier commands here are in the trash (" + filepath.Join(r.state.Path(), "trash", name,
			".git") + "; its configuration is the command's, so do not run git in it): your checkout has moved on"
	}
	shadow, err = worktree.MakeShadow(ctx, worktree.ShadowOrder{
		Bin: r.bin, Host: r.host, GitDir: r.host.Private, Alternate: r.state.Objects(),
		Commit: here.Head, Branch: branch, Dir: shadow.Dir,
	})
	if err != nil {
		return shadow, "", err
	}
	for file, text := range map[string]string{ShadowTop: r.host.Top, "base": stamp} {
		if err := os.WriteFile(filepath.Join(shadow.Dir, file), []byte(text), 0o600); err != nil {
			return shadow, "", err
		}
	}
	return shadow, lost, nil
}

// madeOf is what a shadow was made of.
func (r *repository) madeOf(here git.Checkout, branch string) string {
	index := "none"
	if fi, err := os.Lstat(filepath.Join(r.host.Private, "index")); err == nil {
		index = fmt.Sprintf("%d-%d", fi.ModTime().UnixNano(), fi.Size())
	}
	return fmt.Sprintf("%s %s %s", cmp.Or(string(here.Head), "none"), branch, index)
}

func hasHeadAndConfig(s worktree.Shadow) bool {
	return readStart(filepath.Join(s.GitDir(), "HEAD")) != "" && readStart(filepath.Join(s.GitDir(), "config")) != ""
}

// tipOf is where a branch of a shadow is, as far as that is a plain file.
func tipOf(s worktree.Shadow, branch string) string {
	return readStart(filepath.Join(s.GitDir(), "refs", "heads", filepath.FromSlash(branch)))
}

// checkout is the one the operator stands in.
func (r *repository) checkout() (git.Checkout, error) {
	for _, c := range r.all {
		if real, err := filepath.EvalSymlinks(c.Top); err == nil && real == r.host.Top {
			return c, nil
		}
	}
	return git.Checkout{}, fault.Refuse("%s is not among the checkouts that git lists", r.host.Top)
}

// readStart reads the beginning of a plain file that a worker may have written.
func readStart(path string) string {
	f, err := plainfile.Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 512)
	n, _ := f.Read(buf)
	return strings.TrimSpace(string(buf[:n]))
}
