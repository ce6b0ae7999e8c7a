package session

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

// unseenBy lists the tracked files that a worker cannot see.
func (s *Session) unseenBy(ctx context.Context, sealed lease.Sealed) ([]string, error) {
	if sealed.Lease().Policy.Isolation == policy.None {
		return nil, nil
	}
	return s.tracked(ctx, sealed.Lease().Base, sealed.Rules())
}

// tracked lists the files of a commit that deny_read names.
func (s *Session) tracked(ctx context.Context, commit git.OID, rules policy.Rules) ([]string, error) {
	if !rules.HidesInTree() {
		return nil, nil
	}
	files, err := s.filesOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, f := range files {
		if f.Mode != git.Gitlink && rules.Unseen(f.Path) {
			list = append(list, f.Path)
		}
	}
	return list, nil
}

// Revealed warns of a policy that hides tracked files: hiding keeps them from being
// read by accident and from being changed, and keeps nothing secret. It is "" where
// the policy hides none.
func (s *Session) Revealed(ctx context.Context, p policy.Policy, commit git.OID) (string, error) {
	rules, err := treeRules(p)
	if err != nil {
		return "", err
	}
	list, err := s.tracked(ctx, commit, rules)
	if err != nil || len(list) == 0 {
		return "", err
	}
	shown := make([]string, 0, 3)
	for _, p := range list[:min(3, len(list))] {
		shown = append(shown, audit.Path(p).String())
	}
	more := ""
	if n := len(list) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("deny_read names %s (%s%s), and a worker can still read them with git show: "+
		"remove secrets from the repository and its history", count(len(list), "tracked file"), strings.Join(shown, ", "), more), nil
}

// treeRules compiles what a policy says about a tree, wherever it is.
func treeRules(p policy.Policy) (policy.Rules, error) {
	rules, err := policy.Compile(p, policy.Location{Worktree: "/worktree", Home: "/home"})
	if err != nil {
		return rules, &RefusedError{err}
	}
	return rules, nil
}

// hideBehindLinks adds to deny_read where the base commit's links lead from the
// names in it: the cell hides that place too, so it must not land unseen either.
func (s *Session) hideBehindLinks(ctx context.Context, l *lease.Lease) error {
	rules, err := treeRules(l.Policy)
	if err != nil || !rules.HidesInTree() {
		return err
	}
	files, err := s.filesOf(ctx, l.Base)
	if err != nil {
		return err
	}
	var oids []git.OID
	links := map[string]git.OID{}
	from := slices.DeleteFunc(slices.Clone(l.Policy.Filesystem.DenyRead), func(entry string) bool {
		return strings.ContainsAny(entry, "*?[]{}") || strings.ContainsAny(entry[:1], "/~@") // wildcards are not followed through links
	})
	for _, f := range files {
		if f.Mode != git.Symlink {
			continue
		}
		links[f.Path], oids = f.OID, append(oids, f.OID)
		if rules.Unseen(f.Path) {
			from = append(from, f.Path)
		}
	}
	if len(links) == 0 {
		return nil
	}
	targets, err := s.Host.Links(ctx, oids)
	if err != nil {
		return err
	}
	lookup := func(p string) (string, bool) {
		oid, ok := links[p]
		return targets[oid], ok
	}
	for _, p := range from {
		final, why := audit.Follow(p, lookup)
		if why == "" && final != "." && final != p && !rules.Unseen(final) {
			l.Policy.Filesystem.DenyRead = append(slices.Clip(l.Policy.Filesystem.DenyRead), literal(final))
		}
	}
	return l.Policy.Validate()
}

// literal writes a path as a pattern. A character that means something in one
// stands for any.
func literal(p string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}\\!$~@", r) {
			return '?'
		}
		return r
	}, p)
}
