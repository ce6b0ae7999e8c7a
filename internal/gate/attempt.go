package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

// KeepAttempt keeps the evidence of an attempt under names of its own, so that the next
// attempt's does not take its place: refs/cordon/quarantine/ID/attempts/N. It may be repeated.
func (g *Gate) KeepAttempt(ctx context.Context, id lease.ID, n int) error {
	under := EvidenceOf(id, "")
	refs, err := g.host.Refs(ctx, strings.TrimSuffix(under, "/"))
	if err != nil {
		return err
	}
	var copies []Naming
	for _, r := range refs {
		name := strings.TrimPrefix(r.Name, under)
		if strings.Contains(name, "/") { // of an attempt before that
			continue
		}
		copies = append(copies, Naming{Ref: fmt.Sprintf("%sattempts/%d/%s", under, n, name), OID: r.OID, From: r.Name})
	}
	return g.name(ctx, id, copies...)
}

// Carried is where the next attempt of a worker begins.
type Carried struct {
	Origin    git.OID      // the commit without the worker's changes
	Base      git.OID      // the same with those of its changes that its lease allows
	Conflicts []audit.Path // files of Base with both sides between conflict markers, or with one side
	Left      []audit.Finding
}

// Carry makes the base of a worker's next attempt: what it left, without everything that its
// lease does not allow, on the base it had. With onto, the target as it is now is merged
// in first, with both sides and markers where they conflict. The base is kept in the host.
//
// Unresolved are the files that the worker was to resolve before.
func (g *Gate) Carry(ctx context.Context, l lease.Lease, stored git.OID, onto bool, rules policy.Rules, unresolved []audit.Path) (Carried, error) {
	c := Carried{Origin: l.Base}
	var err error
	if c.Conflicts, err = g.untouched(ctx, l.Base, stored, unresolved); err != nil {
		return c, err
	}
	from := stored
	if onto {
		if c.Origin, err = g.tip(ctx, l.Target); err != nil {
			return c, err
		}
		merge, err := g.repo.MergeTrees(ctx, c.Origin, stored)
		if err != nil {
			return c, err
		}
		c.Conflicts = append(c.Conflicts, paths(merge.Conflicts)...)
		who := git.Person{Name: "cordon", Email: "cordon@localhost"}
		if from, err = g.repo.CommitTree(ctx, merge.Tree, []git.OID{c.Origin}, "both sides of "+string(l.ID)+"\n", who); err != nil {
			return c, err
		}
	}
	found, err := audit.Merged(ctx, g.repo, c.Origin, from, rules)
	if err != nil {
		return c, err
	}
	if c.Base, err = g.Inside(ctx, l.ID, c.Origin, found); err != nil {
		return c, err
	}
	again, err := audit.Merged(ctx, g.repo, c.Origin, c.Base, rules)
	if err != nil {
		return c, err
	}
	for _, f := range again {
		if f.Class != audit.Landing {
			return c, fmt.Errorf("%s cannot be carried over without the rest: %s", f.Path, f.Rule)
		}
	}
	_, c.Left = Parts(found)
	marked, err := g.marked(ctx, c.Origin, c.Base, unresolved)
	if err != nil {
		return c, err
	}
	c.Conflicts = append(c.Conflicts, marked...)
	slices.Sort(c.Conflicts)
	c.Conflicts = slices.Compact(c.Conflicts)
	return c, g.keep(ctx, l.ID, PinOf(l.ID), c.Base, c.Origin)
}
