// Package confine puts a cell around a directory of the operator's: that of cordon exec, or a
// linked worktree that a worker adopted. What the command writes goes into a private layer, which
// is placed into the directory when it has ended. What the operator's git, shell or editor would
// run or obey there is kept aside.
//
// It refuses to write the directory while the command runs, unless somebody typed --live, and
// never runs git with the configuration that a command wrote. Trees that cordon makes itself are
// the business of package workspace.
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
	"cordon/internal/paths"
	"cordon/internal/policy"
	"cordon/internal/publish"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// Execution is a command that is run confined, without a lease.
type Execution struct {
	Dir    string
	Policy policy.Policy
	Source string   // the file that Policy was read from; "": none was
	Write  []string // instead of the policy's write_roots; as typed
	Live   bool     // it writes the directories themselves, and at once
	Trial  bool     // the directory is cordon's own, with nothing in it
	Argv   []string
	Loud   bool // the notice has what was reached also when nothing was refused
	// Published is told the addresses of the ports that the policy publishes.
	Published func(port int, address string)
}

// Exec prepares a command for a cell around a directory. The notice is for when the
// command has ended, and has to be asked for also when it did not start: it places what the command
// wrote, and says what was not placed and what became of its commits.
func Exec(ctx context.Context, x Execution) (c cell.Command, notice func(cell.Exit) string, err error) {
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
	if x.Live {
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
	l.Home = filepath.Clean(l.Home)
	c = cell.Command{
		Argv: x.Argv, Dir: dir, Env: enclosure.Environ(l, os.Environ()),
		Limit: time.Duration(x.Policy.Limits.Time), Weaker: x.Policy.Isolation == policy.Degraded,
	}
	if x.Policy.Isolation == policy.None {
		return c, func(cell.Exit) string { return "" }, nil
	}
	w := &Written{Command: x.Argv, Typed: x.Write != nil, Top: l.Worktree, Home: l.Home, Policy: x.Policy}
	order, commits, err := x.order(ctx, l, dir, repo, w)
	if err != nil {
		w.End(cell.Exit{})
		return c, nil, err
	}
	c.Cell, c.Started = order, w.begin
	if x.Trial {
		c.Started = func(cell.Launch) error { return nil }
	}
	cellnet.JoinPublished(&c, x.Policy, filepath.Base(dir), "", func(site *publish.Site) {
		for _, port := range x.Policy.Network.Publish {
			x.Published(port, site.Address(port))
		}
	})
	rules, err := policy.Compile(x.Policy, policy.Location{Worktree: l.Worktree, Home: l.Home})
	if err != nil {
		w.End(cell.Exit{})
		return c, nil, err
	}
	enclosure.ShowTyped(order, rules, l.Home, x.Argv)
	unseen := func(exit cell.Exit) string {
		if exit.OK() {
			return ""
		}
		return enclosure.ExplainHome(l, rules, order, strings.Join(x.Argv, " "))
	}
	tally, err := x.connect(&c)
	return c, func(exit cell.Exit) string {
		said := []string{unseen(exit), w.End(exit), commits(), tally()}
		return strings.Join(slices.DeleteFunc(said, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n")
	}, err
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
	if err := worksite.RefuseUnshared(l.Policy, nil, loaded, repo.host.Dir, os.Environ()); err != nil {
		return err
	}
	l.Policy.Secrets = worksite.SharedWith(loaded, repo.host.Dir).Secrets(l.Policy.Secrets)
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
func (x Execution) order(ctx context.Context, l lease.Lease, dir string, repo *repository, w *Written) (*cell.Order, func() string, error) {
	if repo != nil {
		w.Own = filepath.Join(l.Worktree, ".git")
	}
	e, err := x.enclosure(ctx, l, dir, w)
	if err != nil {
		return nil, nil, err
	}
	commits := func() string { return "" }
	var o *cell.Order
	if repo == nil {
		root, err := state.RealRoot()
		if err != nil {
			return nil, nil, err
		}
		e.State = []string{root}
		own, err := e.Order()
		if err != nil {
			return nil, nil, err
		}
		o = &own
	} else if o, commits, err = repo.order(ctx, e); err != nil {
		return nil, nil, err
	}
	w.Hidden = slices.DeleteFunc(slices.Clone(o.Hide), func(p string) bool { return paths.Holding(p, w.Dirs) == "" })
	if w.file != nil {
		err = w.write()
	}
	return o, commits, err
}

// enclosure is what an execution may touch, whatever repository is around it.
func (x Execution) enclosure(ctx context.Context, l lease.Lease, dir string, w *Written) (e enclosure.Enclosure, err error) {
	e = enclosure.Enclosure{Policy: x.Policy, Home: filepath.Clean(l.Home)}
	if e.Rules, err = policy.Compile(x.Policy, policy.Location{Worktree: l.Worktree, Home: e.Home}); err != nil {
		return e, err
	}
	dirs, err := x.writeDirs(l.Worktree, dir)
	if err != nil {
		return e, err
	}
	if err := x.ownPolicy(dirs); err != nil {
		return e, err
	}
	switch {
	case x.Trial:
		e.Write = dirs
		return e, nil
	case x.Live:
		w.Live = dirs
		if err := w.guardLive(ctx, &e); err != nil {
			return e, err
		}
		e.HideAhead()
		return e, nil
	}
	w.Dirs = outermost(dirs)
	if err := w.open(); err != nil {
		return e, err
	}
	e.Layers = w.layers()
	for i, dir := range w.Dirs {
		e.Over = append(e.Over, cell.Over{At: dir, Below: []string{dir}, Layer: layerOf(i)})
	}
	e.HideAhead()
	return e, nil
}

// outermost leaves out directories that lie in others.
func outermost(dirs []string) []string {
	list := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return paths.Holding(dir, dirs) != "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// guardLive refuses directories in which something of the operator's would run or obey what the command
// writes, or whose files have names elsewhere.
func (w *Written) guardLive(ctx context.Context, e *enclosure.Enclosure) error {
	hazards, err := worktree.FindHazards(w.Live, w.Own)
	if err != nil {
		return &fault.RefusedError{Err: err}
	}
	const instead = "without --live, cordon checks what the command wrote and places it at the end"
	if n := len(hazards.Linked); n > 0 {
		return fault.Refuse("--live: %d files have another name outside, as %s, and writing them would write those; %s", n, hazards.Linked[0], instead)
	}
	var opened []string
	if w.Typed {
		opened = w.Live
	}
	o, err := findObeyed(ctx, w.Live, opened, w.Own)
	if err != nil {
		return err
	}
	delete(o.named, w.Own) // the command has one of its own
	if at, why := o.first(); at != "" {
		return fault.Refuse("--live: the command could write %s, and %s; %s", at, why, instead)
	}
	e.Write, e.Sockets = w.Live, hazards.Sockets
	return nil
}

// writeDirs are the directories that an execution writes. There is no audit after it, so each has to be
// a plain one.
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

// FromHere makes directories that were typed absolute, from where we are.
func FromHere(names []string) ([]string, error) {
	var list []string
	for _, name := range names {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		list = append(list, abs)
	}
	return list, nil
}
