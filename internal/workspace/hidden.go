package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// hiddenFiles lists the tracked files that a worker cannot see.
func hiddenFiles(ctx context.Context, s *worksite.Site, sealed lease.Sealed) ([]string, error) {
	if sealed.Lease().Policy.Isolation == policy.None {
		return nil, nil
	}
	return hiddenIn(ctx, s, sealed.Lease().Base, sealed.Rules())
}

// hiddenIn lists the files of a commit that deny_read names.
func hiddenIn(ctx context.Context, s *worksite.Site, commit git.OID, rules policy.Rules) ([]string, error) {
	if !rules.HidesInTree() {
		return nil, nil
	}
	files, err := s.FilesOf(ctx, commit)
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
func Revealed(ctx context.Context, s *worksite.Site, p policy.Policy, commit git.OID) (string, error) {
	rules, err := treeRules(p)
	if err != nil {
		return "", err
	}
	list, err := hiddenIn(ctx, s, commit, rules)
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
		"remove secrets from the repository and its history", worksite.Count(len(list), "tracked file"), strings.Join(shown, ", "), more), nil
}

// treeRules compiles what a policy says about a tree, wherever it is.
func treeRules(p policy.Policy) (policy.Rules, error) {
	rules, err := policy.Compile(p, policy.Location{Worktree: "/worktree", Home: "/home"})
	if err != nil {
		return rules, &fault.RefusedError{Err: err}
	}
	return rules, nil
}

// HideBehindLinks adds to deny_read where the base commit's links lead from the
// names in it: the cell hides that place too, so it must not land unseen either.
func HideBehindLinks(ctx context.Context, s *worksite.Site, l *lease.Lease) error {
	rules, err := treeRules(l.Policy)
	if err != nil || !rules.HidesInTree() {
		return err
	}
	files, err := s.Special(ctx, l.Base)
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
			l.Policy.Filesystem.DenyRead = append(slices.Clip(l.Policy.Filesystem.DenyRead), literalPattern(final))
		}
	}
	return l.Policy.Validate()
}

// literalPattern writes a path as a pattern. A character that means something in one
// stands for any.
func literalPattern(p string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}\\!$~@", r) {
			return '?'
		}
		return r
	}, p)
}
