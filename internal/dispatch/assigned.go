package dispatch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/config"
	"cordon/internal/confine"
	"cordon/internal/consent"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// checkAway refuses what a node cannot do for a worker.
func (s maker) checkAway(d Request) error {
	if d.Options.On == "" {
		return nil
	}
	for _, c := range []struct {
		asked bool
		what  string
	}{
		{d.Adopt != "", "--adopt: the worktree is on this machine"},
		{d.Options.KeepHistory || d.Options.LandAs == string(config.History), "--keep-history: a node returns one commit"},
		{d.Agent != nil && len(d.Agent.Servers) > 0, "--mcp: the values of servers do not leave this machine"},
		{d.Agent != nil && len(d.Agent.Hooks) > 0, "--hooks: they are commands of this machine"},
	} {
		if c.asked {
			return fault.Refuse("a worker on a node cannot use %s", c.what)
		}
	}
	now, err := s.Ledger()
	if err != nil {
		return err
	}
	return CheckNode(now, d.Options.On)
}

// draftAssigned is the lease for terms that the home of a fleet has sealed. This machine names the
// worker and the place. It takes the policy as it is or not at all: rights that do not allow
// it are a refusal, because a narrower worker would be another one than the home asked for.
func (s maker) draftAssigned(ctx context.Context, d *Request) (l lease.Lease, err error) {
	t := d.Terms
	if d.Policy != nil {
		return l, fault.Refuse("--policy: the terms of the home have a policy")
	}
	if t.Policy.Isolation == policy.None {
		return l, fault.Refuse("isolation: none cannot run on a node: a home would run commands here without a cell")
	}
	l.Base, l.Target, l.Policy, l.Source = t.Base, t.Target, t.Policy, t.Source+", sealed by the home of a fleet"
	d.Options.NewTarget = true // its branches are at home
	if err := s.complete(ctx, l.Base); err != nil {
		return l, err
	}
	if d.Tree != workspace.PlainTree || s.BaseStore().HasSnapshots() {
		s.VerifyBaseEarly(ctx, l.Base)
	}
	loaded, err := s.Operator()
	if err != nil {
		return l, err
	}
	if _, lost := l.Policy.Within(loaded.Bound); len(lost) > 0 {
		return l, fault.Refuse("the stage needs more than the rights in the configuration of this node allow: %s", strings.Join(lost, "; "))
	}
	if err := refuseDesk(l.Policy); err != nil {
		return l, err
	}
	d.opens = consent.OfMachine(consent.Needed(l.Policy))
	if err := worksite.RefuseUnshared(l.Policy, d.opens, loaded, s.Host.Dir, os.Environ()); err != nil {
		return l, err
	}
	if l.Home, err = os.UserHomeDir(); err != nil {
		return l, err
	}
	l.Home = filepath.Clean(l.Home)
	if err := workspace.CheckFill(ctx, s.Site, l); err != nil {
		return l, err
	}
	if err := confine.ProtectExecuted(ctx, s.Site, &l); err != nil {
		return l, err
	}
	for _, p := range t.Executed { // what the operator's git runs at home
		if !slices.Contains(l.Executed, p) {
			l.Executed = append(l.Executed, p)
		}
	}
	return l, nil
}
