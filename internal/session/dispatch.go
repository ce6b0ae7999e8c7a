package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/confine"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/launch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
	"cordon/internal/worktree"
)

// Dispatch is what an operator asks for.
type Dispatch struct {
	Command   []string           // empty: an agent
	Agent     *ledger.Agent      // nil: a command
	Policy    *policy.Policy     // nil: the base commit's
	Source    string             // where Policy came from
	Write     []string           // write_roots instead of the policy's; nil: the policy's
	Base      string             // revision; "": the target's tip
	Target    string             // branch; "": the one the operator is on
	Adopt     string             // an existing linked worktree
	Tree      workspace.TreeKind // "": auto
	Exclusive bool               // refuse to overlap with a live worker
	Options   ledger.Options
}

// Lease seals a lease for a dispatch and writes it to the journal.
func (s *Session) Lease(ctx context.Context, d Dispatch) (*ledger.Worker, error) {
	if d.Agent != nil {
		d.Command = d.Agent.Words()
	}
	if len(d.Command) == 0 {
		return nil, errors.New("no command to run")
	}
	for _, word := range d.Command {
		if !utf8.ValidString(word) {
			return nil, fault.Refuse("%q is not valid UTF-8: the journal cannot record it", word)
		}
	}
	if _, err := s.Operator(); err != nil {
		return nil, err
	}
	draft, err := s.draft(ctx, &d)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	if err := launch.CheckClient(ctx, s.Site, d.Agent, draft); err != nil {
		return nil, err
	}
	if draft.Fold, err = worktree.FoldsCase(s.State.Path()); err != nil {
		return nil, err
	}
	if err := confine.ProveConfinable(ctx, s.Site, draft.Policy); err != nil {
		return nil, err
	}
	if err := workspace.ChooseTree(ctx, s.Site, d.Tree, &draft); err != nil {
		return nil, err
	}
	for {
		id, err := s.enterAndPin(ctx, d, draft)
		if errors.Is(err, errTaken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.Find(string(id))
	}
}

// enterAndPin writes a lease and the ref that keeps its base, both while nobody
// compares the host with a baseline: the one explains the other.
func (s *Session) enterAndPin(ctx context.Context, d Dispatch, draft lease.Lease) (lease.ID, error) {
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return "", err
	}
	defer release()
	id, err := s.writeLease(ctx, d, draft)
	if err != nil {
		return "", err
	}
	return id, s.Gate.Pin(ctx, id, draft.Base)
}

// draft is the lease without its name, place and time.
func (s *Session) draft(ctx context.Context, d *Dispatch) (lease.Lease, error) {
	var l lease.Lease
	tip, err := s.aim(ctx, d, &l)
	if err != nil {
		return l, err
	}
	l.Base = tip
	if d.Base != "" {
		if l.Base, err = s.Host.Commit(ctx, d.Base); err != nil {
			return l, &fault.MistakeError{Err: fmt.Errorf("--base: %w", err)}
		}
	}
	if err := s.bindAdopted(ctx, *d, tip, &l); err != nil {
		return l, err
	}
	if err := s.complete(ctx, l.Base); err != nil {
		return l, err
	}
	if !l.Adopted && (d.Tree != workspace.PlainTree || s.BaseStore().HasSnapshots()) {
		s.VerifyBaseEarly(ctx, l.Base)
	}
	if err := s.policyFor(ctx, *d, &l); err != nil {
		return l, err
	}
	if l.Home, err = os.UserHomeDir(); err != nil {
		return l, err
	}
	l.Home = filepath.Clean(l.Home)
	if err := workspace.HideBehindLinks(ctx, s.Site, &l); err != nil {
		return l, err
	}
	if err := workspace.CheckFill(ctx, s.Site, l); err != nil {
		return l, err
	}
	return l, confine.ProtectExecuted(ctx, s.Site, &l)
}

// complete fetches what a partial clone lacks of a commit.
func (s *Session) complete(ctx context.Context, commit git.OID) error {
	err := s.Host.Complete(ctx, commit, s.SayFetching)
	var lacks *git.IncompleteError
	if errors.As(err, &lacks) {
		return &fault.RefusedError{Err: err}
	}
	return err
}

// bindAdopted binds a lease to the linked worktree that a dispatch adopts, if any. Its
// base is the common ancestor with the target, unless the dispatch names one.
func (s *Session) bindAdopted(ctx context.Context, d Dispatch, tip git.OID, l *lease.Lease) error {
	if d.Adopt == "" {
		return nil
	}
	c, err := confine.Adopt(ctx, s.Site, d.Adopt, l)
	if err == nil && d.Base == "" {
		l.Base, err = s.Host.MergeBase(ctx, tip, c.Head)
	}
	return err
}

func (s *Session) policyFor(ctx context.Context, d Dispatch, l *lease.Lease) (err error) {
	if d.Policy != nil {
		l.Policy, l.Source = *d.Policy, d.Source
	} else if l.Policy, l.Source, err = s.PolicyInUse(ctx, l.Base); err != nil {
		return err
	}
	if err := forAgent(d.Agent, l); err != nil {
		return err
	}
	if d.Write != nil {
		if l.Policy, err = WithWriteRoots(l.Policy, d.Write); err != nil {
			return err
		}
		l.Source += " with --write"
	}
	if l.Policy.Limits, err = worksite.LimitsAt(l.Policy.Limits, s.State.Path()); err != nil {
		return err
	}
	return s.narrow(l)
}

// forAgent opens what a client needs to reach its own models: whoever names the client
// wants it to work. A client that is pointed at another address needs that in the
// policy.
func forAgent(a *ledger.Agent, l *lease.Lease) error {
	if a == nil {
		return nil
	}
	known, err := clients.Of(client.Name(a.Client))
	if err != nil {
		return &fault.MistakeError{Err: err}
	}
	n := &l.Policy.Network
	elsewhere := slices.ContainsFunc(known.Addresses, func(name string) bool { return os.Getenv(name) != "" })
	if known.Preset == "" || elsewhere || l.Policy.Isolation == policy.None || slices.Contains(n.AllowedDomains, known.Preset) {
		return nil
	}
	n.AllowedDomains = append(slices.Clone(n.AllowedDomains), known.Preset)
	l.Source += " with " + known.Preset
	return l.Policy.Validate()
}

// WithWriteRoots replaces the write_roots of a policy, checked as if they had
// been written there.
func WithWriteRoots(p policy.Policy, roots []string) (policy.Policy, error) {
	p.Filesystem.WriteRoots = roots
	p, err := policy.Parse("--write", p.YAML())
	var bad *policy.Error
	if errors.As(err, &bad) {
		return p, fault.Refuse("--write: %s", bad.Problem) // the position is in a text that nobody wrote
	}
	return p, err
}

// target is the branch that the result is for, by its full name.
func (s *Session) target(ctx context.Context, name string) (string, error) {
	if name == "" {
		ref, err := s.Host.HeadBranch(ctx)
		if err != nil {
			return "", err
		}
		if ref == "" {
			return "", fault.Refuse("HEAD is detached, so there is no branch to merge into: name one with --target")
		}
		return ref, nil
	}
	return "refs/heads/" + strings.TrimPrefix(name, "refs/heads/"), nil
}

// aim binds a lease to its target, and returns the commit that the worker starts from
// unless the dispatch names one: the tip of the target, or that of the operator's checkout for a
// branch that is only created when the result lands.
func (s *Session) aim(ctx context.Context, d *Dispatch, l *lease.Lease) (git.OID, error) {
	var err error
	if l.Target, err = s.target(ctx, d.Target); err != nil {
		return "", err
	}
	tip, err := s.Host.Ref(ctx, l.Target)
	name := strings.TrimPrefix(l.Target, "refs/heads/")
	switch {
	case errors.Is(err, git.ErrNoRef) && d.Target == "":
		return "", fault.Refuse("branch %s has no commit yet: make a first commit and try again", name)
	case !errors.Is(err, git.ErrNoRef):
		return tip, err
	}
	if err := s.creatable(ctx, name); err != nil {
		return "", err
	}
	d.Options.NewTarget = true
	tip, err = s.Host.HeadCommit(ctx)
	if errors.Is(err, git.ErrNoRef) {
		return "", fault.Refuse("there is no commit yet that %s could begin at: make a first commit and try again", name)
	}
	return tip, err
}

// creatable refuses a name that no branch can get here.
func (s *Session) creatable(ctx context.Context, name string) error {
	mistake := func(format string, args ...any) error {
		return &fault.MistakeError{Err: fmt.Errorf("--target: "+format, args...)}
	}
	if !s.Host.ValidBranch(ctx, name) || strings.HasPrefix(name, "-") {
		return mistake("%q is not a name that git accepts for a branch", name)
	}
	switch {
	case strings.HasPrefix(name, "refs/"):
		return mistake("%s is not the name of a branch, and as a new one it would be taken for another ref", name)
	case legible.Text(name) != name:
		return mistake("%s has characters that cannot be seen", legible.Text(name))
	}
	all, err := s.Host.Refs(ctx, "refs/heads/")
	if err != nil {
		return err
	}
	for _, r := range all {
		there := strings.TrimPrefix(r.Name, "refs/heads/")
		if strings.HasPrefix(name, there+"/") || strings.HasPrefix(there, name+"/") {
			return mistake("%s cannot be created, because there is a branch %s", name, there)
		}
		if strings.EqualFold(name, there) {
			return mistake("%s differs from the branch %s only in case: some file systems treat both as one", name, there)
		}
	}
	checkouts, err := s.Host.Checkouts(ctx)
	if err != nil {
		return err
	}
	for _, c := range checkouts {
		if c.Branch == "refs/heads/"+name {
			return mistake("%s has no commit yet, and the checkout %s is on it: make a first commit", name, c.Top)
		}
	}
	return nil
}

// plainRoots refuses a write root that the base commit has as a symbolic link,
// or below one: it would lead somewhere else.
func (s *Session) plainRoots(ctx context.Context, sealed lease.Sealed) error {
	files, err := s.FilesOf(ctx, sealed.Lease().Base)
	if err != nil {
		return err
	}
	links := map[string]bool{}
	for _, f := range files {
		if f.Mode == git.Symlink {
			links[f.Path] = true
		}
	}
	for _, root := range sealed.Rules().Roots() {
		for p := path.Clean(root); p != "." && p != "/"; p = path.Dir(p) {
			if links[p] {
				return fault.Refuse("write_roots: %q is a symbolic link in the base commit (%s): name where it leads instead", root, p)
			}
		}
	}
	return nil
}

var errTaken = errors.New("the name is taken")

// writeLease names the worker and writes its lease, with the journal locked while it
// is decided whether that is allowed.
func (s *Session) writeLease(ctx context.Context, d Dispatch, l lease.Lease) (lease.ID, error) {
	now, err := s.Ledger()
	if err != nil {
		return "", err
	}
	if l.ID, err = lease.NewID(now.Taken); err != nil {
		return "", err
	}
	if !l.Adopted {
		l.Worktree = s.State.Tree(string(l.ID))
	}
	l.Branch = strings.ReplaceAll(l.Policy.Git.Branch, "{id}", string(l.ID))
	if !s.Host.ValidBranch(ctx, l.Branch) {
		return "", fault.Refuse("git.branch: %q is not a branch name", l.Branch)
	}
	l.Created = s.Now()
	l.Expires = l.Created.Add(time.Duration(l.Policy.Expires))
	sealed, err := lease.Seal(l)
	if err != nil {
		return "", &fault.RefusedError{Err: err}
	}
	if err := s.plainRoots(ctx, sealed); err != nil {
		return "", err
	}
	data := ledger.Lease{Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: d.Command, Options: d.Options, Agent: d.Agent}
	if data.Overlap, err = s.overlaps(ctx, now, sealed, worthSaying(sealed)); err != nil {
		return "", err
	}
	return l.ID, s.AppendIf(l.ID, ledger.Leased, data, func(now *ledger.Ledger) error { return s.mayEnter(ctx, d, sealed, now) })
}

func (s *Session) mayEnter(ctx context.Context, d Dispatch, sealed lease.Sealed, now *ledger.Ledger) error {
	l := sealed.Lease()
	if now.Taken(l.ID) {
		return errTaken
	}
	if l.Adopted {
		if err := confine.FreeToAdopt(ctx, s.Site, now, l.Worktree); err != nil {
			return err
		}
	}
	if !d.Exclusive {
		return nil
	}
	others, err := s.overlaps(ctx, now, sealed, func(*ledger.Worker, ledger.Status) bool { return true })
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fault.Refuse("the write_roots overlap with those of %s: wait for it, narrow the policy, or leave out --exclusive", strings.Join(others, ", "))
	}
	return nil
}

// worthSaying picks the overlaps that a person is told of: with workers that run or whose
// result may still land as it is, and not where one of the two may write everything anyway.
func worthSaying(sealed lease.Sealed) func(*ledger.Worker, ledger.Status) bool {
	everywhere := func(l lease.Sealed) bool { return slices.Equal(l.Rules().Roots(), []string{"."}) }
	return func(w *ledger.Worker, status ledger.Status) bool {
		switch status {
		case ledger.Failed, ledger.Lost, ledger.Stopped:
			return false
		}
		return !everywhere(sealed) && !everywhere(w.Lease)
	}
}

// overlaps lists the wanted live workers whose write_roots may intersect.
func (s *Session) overlaps(ctx context.Context, now *ledger.Ledger, sealed lease.Sealed,
	wanted func(*ledger.Worker, ledger.Status) bool) ([]string, error) {
	all, err := s.Standings(ctx, now.Workers)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, w := range now.Workers {
		if status := all[w.ID].Status; !status.Live() || !wanted(w, status) || w.Removal != nil || w.Lease.Lease().Target != sealed.Lease().Target {
			continue
		}
		if len(policy.Overlap(sealed.Rules().Roots(), w.Lease.Rules().Roots())) > 0 {
			names = append(names, string(w.ID))
		}
	}
	return names, nil
}
