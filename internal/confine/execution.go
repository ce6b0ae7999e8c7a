// Package confine puts a cell around a directory that is written in place: that of cordon
// exec, or a linked worktree of the operator's that a worker adopted. It finds the files
// there that the operator's own git runs or obeys, holds them, and afterwards moves aside
// what the command left in their place, also when cordon was killed.
//
// It refuses to start in a repository that another running command may have made, and
// never runs git with the configuration that a command wrote. Trees that cordon makes
// itself are the business of package workspace.
package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/config"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/publish"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Execution is a command that is run confined, without a lease.
type Execution struct {
	Dir    string
	Policy policy.Policy
	Source string   // the file that Policy was read from; "": none was
	Write  []string // instead of the policy's write_roots; as typed
	Argv   []string
	Loud   bool // the notice has what was reached also when nothing was refused
	// Published is told the addresses of the ports that the policy publishes.
	Published func(port int, address string)
}

// Exec prepares a command for a cell around a directory. The notice is for when the
// command has ended: it disarms what git would obey of what was left, and says so, and
// what became of its commits.
func Exec(ctx context.Context, x Execution) (c cell.Command, notice func() string, err error) {
	dir, err := filepath.Abs(x.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return c, nil, &fault.MistakeError{Err: err}
	}
	if inside, err := state.Inside(dir); err != nil || inside {
		return c, nil, errors.Join(err, worksite.ErrInside)
	}
	if x.Policy.Isolation != policy.None {
		x.askAhead(ctx, dir)
	}
	if x.Policy.Limits, err = worksite.LimitsAt(x.Policy.Limits, dir); err != nil {
		return c, nil, err
	}
	repo, err := repositoryAround(ctx, dir)
	if err != nil {
		return c, nil, err
	}
	l := lease.Lease{Terms: lease.Terms{ID: "exec", Policy: x.Policy}, Place: lease.Place{Worktree: dir}}
	if repo != nil {
		l.Worktree = repo.host.Top
	}
	if err := shareWith(repo, &l); err != nil {
		return c, nil, err
	}
	if l.Home, err = os.UserHomeDir(); err != nil {
		return c, nil, err
	}
	c = cell.Command{
		Argv: x.Argv, Dir: dir, Env: enclosure.Environ(l, os.Environ()),
		Limit: time.Duration(x.Policy.Limits.Time), Weaker: x.Policy.Isolation == policy.Degraded,
	}
	if x.Policy.Isolation == policy.None {
		return c, func() string { return "" }, nil
	}
	left := &InPlace{}
	order, commits, err := x.order(ctx, l, dir, repo, left)
	if err != nil {
		return c, nil, err
	}
	c.Cell, c.Started = order, left.begin
	cellnet.JoinPublished(&c, x.Policy, filepath.Base(dir), "", func(site *publish.Site) {
		for _, port := range x.Policy.Network.Publish {
			x.Published(port, site.Address(port))
		}
	})
	tally, err := x.connect(&c)
	return c, func() string { return strings.TrimSpace(left.End() + "\n" + commits() + "\n" + tally()) }, err
}

// shareWith refuses variables of the operator's that they do not share with a repository.
// Outside of one there is nobody else's policy: the operator named the file.
func shareWith(repo *repository, l *lease.Lease) error {
	if repo == nil || len(l.Policy.Secrets) == 0 {
		return nil
	}
	loaded, err := config.Load()
	if err != nil {
		return err
	}
	shared := worksite.SharedWith(loaded, repo.host.Dir)
	if err := worksite.RefuseUnshared(l.Policy, shared, os.Environ()); err != nil {
		return err
	}
	l.Policy.Secrets = shared.Secrets(l.Policy.Secrets)
	return nil
}

// askAhead has git list the operator's configuration while everything else is found out. It
// is the git that is found later, or none: what the command could have written is left out
// here too.
func (x Execution) askAhead(ctx context.Context, dir string) {
	written := append(append(state.Written(), dir), x.Write...)
	for _, root := range x.Policy.Filesystem.WriteRoots {
		if filepath.IsAbs(root) {
			written = append(written, root)
		}
	}
	if bin, err := git.Located(append(written, gitfile.CheckoutsAround(dir)...)...); err == nil {
		go bin.Remembering(state.Recalled).Ahead(ctx)
	}
}

// order is the cell of an execution.
func (x Execution) order(ctx context.Context, l lease.Lease, dir string, repo *repository, left *InPlace) (*cell.Order, func() string, error) {
	own := ""
	if repo != nil {
		own = filepath.Join(l.Worktree, ".git")
	}
	e, err := x.enclosure(ctx, l, dir, own, left)
	if err != nil {
		return nil, nil, err
	}
	if repo == nil {
		root, err := state.RealRoot()
		if err != nil {
			return nil, nil, err
		}
		e.State = []string{root}
		o, err := e.Order()
		return &o, func() string { return "" }, err
	}
	return repo.order(ctx, e, left)
}

// enclosure is what an execution may touch, whatever repository is around it. The .git
// entry own, if any, is replaced with a private one.
func (x Execution) enclosure(ctx context.Context, l lease.Lease, dir, own string, left *InPlace) (e enclosure.Enclosure, err error) {
	e = enclosure.Enclosure{Policy: x.Policy, Home: filepath.Clean(l.Home)}
	if e.Rules, err = policy.Compile(x.Policy, policy.Location{Worktree: l.Worktree, Home: e.Home}); err != nil {
		return e, err
	}
	if e.Write, err = x.writeDirs(l.Worktree, dir); err != nil {
		return e, err
	}
	if err := x.ownPolicy(e.Write); err != nil {
		return e, err
	}
	denied, err := e.Denied()
	if err != nil {
		return e, err
	}
	e.Held = denied
	if x.Write != nil {
		left.opened = e.Write
	}
	e.HideAhead()
	return e, left.guard(ctx, &e, own)
}

// writeDirs are the directories that an execution writes in place. There is no
// audit after it, so the kernel has to hold every one of them.
func (x Execution) writeDirs(top, dir string) ([]string, error) {
	names, base := x.Policy.Filesystem.WriteRoots, top
	if x.Write != nil {
		names, base = x.Write, dir
	}
	var list []string
	for _, name := range names {
		p := name
		if !filepath.IsAbs(p) {
			p = filepath.Join(base, p)
		}
		p, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		real, err := filepath.EvalSymlinks(p)
		if fi, serr := os.Stat(real); err != nil || serr != nil || !fi.IsDir() {
			return nil, fault.Refuse("write root %s: %s is not a directory: exec opens only existing plain directories", name, p)
		}
		if slices.Contains(strings.Split(real, "/"), ".git") {
			return nil, fault.Refuse("write root %s: a git directory cannot be opened for writing", name)
		}
		if real != p {
			return nil, fault.Refuse("write root %s leads through a symbolic link to %s: name that, if it is what you mean", name, real)
		}
		list = append(list, real)
	}
	return list, nil
}

// Unusable recognises the failure of a launch in a private repository that an
// earlier command has spoilt.
func Unusable(err error) bool {
	return err != nil && strings.Contains(err.Error(), "proof failed: commit")
}

// Reset moves the private repository of a directory's checkout to the trash.
func Reset(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	r, err := repositoryAround(ctx, dir)
	if err != nil || r == nil {
		return err
	}
	_, err = r.state.Trash(r.state.Shadow(state.Key(r.host.Top)), time.Now())
	return err
}

// ownPolicy refuses a policy that the command could change for its next run.
func (x Execution) ownPolicy(write []string) error {
	if x.Source == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(x.Source)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	for _, dir := range write {
		if strings.HasPrefix(real, dir+string(filepath.Separator)) {
			return fault.Refuse("--policy %s lies where the command can write: keep it somewhere else", x.Source)
		}
	}
	return nil
}
