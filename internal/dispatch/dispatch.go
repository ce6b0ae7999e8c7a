// Package dispatch makes leases: from the operator's request, their configuration and the
// policy of the base commit. It chooses base, target and name, narrows the policy to the
// operator's rights, seals the lease and writes it to the journal. It also renews the lease
// of a worker that makes another attempt or is released.
//
// It refuses to start anything: package session takes a leased worker through the pipeline.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/confine"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/launch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
	"cordon/internal/worktree"
)

// Request is what an operator asks for.
type Request struct {
	Command   []string           // empty: an agent
	Agent     *ledger.Agent      // nil: a command
	Policy    *policy.Policy     // nil: the base commit's
	Source    string             // where Policy came from
	Named     bool               // the operator named Policy: what it opens needs no further consent
	Write     []string           // write_roots instead of the policy's; nil: the policy's
	MaxWrite  []string           // the most of its write_roots; nil: all of them
	Base      string             // revision; "": the target's tip
	Target    string             // branch; "": the one the operator is on
	Adopt     string             // an existing linked worktree
	Tree      workspace.TreeKind // "": auto
	Exclusive bool               // refuse to overlap with a live worker
	Options   ledger.Options
	Stage     *ledger.StageOf // nil: it is for no plan
	Terms     *lease.Terms    // of a home, for a node of its fleet; nil: they are made here
	Feedback  string          // about an earlier attempt on another machine
	Signal    string          // its place in a plan on another machine

	memory int64    // bytes that the policy names; 0: it names no size
	opens  []string // what the policy of the repository opens, which needs consent
}

// maker makes the leases of a repository.
type maker struct{ *worksite.Site }

// Lease seals a lease for a request and writes it to the journal.
func Lease(ctx context.Context, site *worksite.Site, d Request) (*ledger.Worker, error) {
	s := maker{site}
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
	if err := s.checkAway(d); err != nil {
		return nil, err
	}
	draft, err := s.draft(ctx, &d)
	if err != nil {
		return nil, err
	}
	if d.Options.On != "" && draft.Policy.Isolation == policy.None {
		return nil, fault.Refuse("isolation: none cannot run on a node: the result is unpacked in a cell")
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	if d.Options.On == "" { // the node has its own clients
		if err := launch.CheckClient(ctx, s.Site, d.Agent, draft); err != nil {
			return nil, err
		}
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
	if err := workspace.ChooseCaches(ctx, s.Site, d.Agent, &draft); err != nil {
		return nil, err
	}
	for {
		id, err := s.writeLease(ctx, d, draft)
		if errors.Is(err, errTaken) {
			continue
		}
		if err == nil {
			err = s.Gate.Pin(ctx, id, draft.Base)
		}
		if err != nil {
			return nil, err
		}
		return s.Find(string(id))
	}
}

// draft is the lease without its name, place and time.
func (s maker) draft(ctx context.Context, d *Request) (lease.Lease, error) {
	var l lease.Lease
	if d.Terms != nil {
		return s.draftAssigned(ctx, d)
	}
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
	if err := s.policyFor(ctx, d, &l); err != nil {
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
func (s maker) complete(ctx context.Context, commit git.OID) error {
	err := s.Host.Complete(ctx, commit, s.SayFetching)
	var lacks *git.IncompleteError
	if errors.As(err, &lacks) {
		return &fault.RefusedError{Err: err}
	}
	return err
}

// bindAdopted binds a lease to the linked worktree that a request adopts, if any. Its
// base is the common ancestor with the target, unless the request names one.
func (s maker) bindAdopted(ctx context.Context, d Request, tip git.OID, l *lease.Lease) error {
	if d.Adopt == "" {
		return nil
	}
	c, err := confine.Adopt(ctx, s.Site, d.Adopt, l)
	if err == nil && d.Base == "" {
		l.Base, err = s.Host.MergeBase(ctx, tip, c.Head)
	}
	return err
}

// plainRoots refuses a write root that the base commit has as a symbolic link,
// or below one: it would lead somewhere else.
func (s maker) plainRoots(ctx context.Context, sealed lease.Sealed) error {
	files, err := s.Special(ctx, sealed.Lease().Base)
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
func (s maker) writeLease(ctx context.Context, d Request, l lease.Lease) (lease.ID, error) {
	now, err := s.Ledger()
	if err != nil {
		return "", err
	}
	if l.ID, err = lease.NewID(now.Taken); err != nil {
		return "", err
	}
	if l.Worktree == "" { // it was neither adopted nor given the path that all workers share
		l.Worktree = s.State.Tree(string(l.ID))
	}
	l.Branch = strings.ReplaceAll(l.Policy.Git.Branch, "{id}", string(l.ID))
	if !s.Host.ValidBranch(ctx, l.Branch) {
		return "", fault.Refuse("git.branch: %q is not a branch name", l.Branch)
	}
	l.Created = s.Now()
	l.Expires = l.Created.Add(time.Duration(l.Policy.Expires))
	if d.Terms != nil && d.Terms.Expires.Before(l.Expires) {
		l.Expires = d.Terms.Expires
	}
	sealed, err := lease.Seal(l)
	if err != nil {
		return "", &fault.RefusedError{Err: err}
	}
	if err := s.plainRoots(ctx, sealed); err != nil {
		return "", err
	}
	data := ledger.Lease{
		Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: d.Command, Options: d.Options, Agent: d.Agent.Recorded(), Stage: d.Stage, Feedback: d.Feedback,
		Signal: d.Signal, Memory: d.memory, Opens: d.opens,
	}
	if data.Overlap, err = s.overlaps(ctx, now, sealed, worthSaying(sealed)); err != nil {
		return "", err
	}
	err = s.AppendIf(l.ID, ledger.Leased, data, func(now *ledger.Ledger) error { return s.mayEnter(ctx, d, sealed, now) })
	if err == nil && d.Agent != nil {
		err = s.KeepServers(l.ID, d.Agent.Servers)
	}
	return l.ID, err
}

func (s maker) mayEnter(ctx context.Context, d Request, sealed lease.Sealed, now *ledger.Ledger) error {
	l := sealed.Lease()
	if now.Taken(l.ID) {
		return errTaken
	}
	if l.Adopted {
		if err := confine.FreeToAdopt(ctx, s.Site, now, l.Worktree); err != nil {
			return err
		}
	}
	if err := freeStage(d.Stage, now); err != nil {
		return err
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

// freeStage refuses a second worker for a stage: two processes may have asked what is next.
func freeStage(asked *ledger.StageOf, now *ledger.Ledger) error {
	if asked == nil {
		return nil
	}
	p := now.Plan(asked.Plan)
	if p == nil || p.Run != asked.Run || p.Closed != nil {
		return fault.Refuse("the plan %s is not open", asked.Plan)
	}
	for _, w := range now.StageWorkers(p, asked.Role)[asked.Stage] {
		if w.Discard == nil && asked.Role == ledger.Author {
			return fault.Refuse("stage %s of plan %s has a worker already: %s", asked.Stage, asked.Plan, w.ID)
		}
	}
	return nil
}

// Renew seals a lease from now on.
func Renew(ctx context.Context, site *worksite.Site, l lease.Lease) (sealed lease.Sealed, err error) {
	s := maker{site}
	if l.Policy.Limits, err = worksite.LimitsAt(l.Policy.Limits, s.State.Path()); err != nil {
		return sealed, err
	}
	if err := s.narrow(&l); err != nil {
		return sealed, err
	}
	l.Created = s.Now()
	l.Expires = l.Created.Add(time.Duration(l.Policy.Expires))
	if err := confine.ProtectExecuted(ctx, s.Site, &l); err != nil {
		return sealed, err
	}
	if err := workspace.HideBehindLinks(ctx, s.Site, &l); err != nil {
		return sealed, err
	}
	if sealed, err = lease.Seal(l); err != nil {
		return sealed, &fault.RefusedError{Err: err}
	}
	return sealed, s.plainRoots(ctx, sealed)
}
