package doctor

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/git"
	"cordon/internal/session"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// checkRepository looks at the repository around dir, where there is one.
func checkRepository(ctx context.Context, dir string) []check {
	s, err := session.Open(ctx, dir)
	if errors.Is(err, git.ErrNotRepository) {
		return []check{{"repository", statusInfo, "not inside one", ""}}
	}
	if err != nil {
		return []check{failed("repository", err, "")}
	}
	checks := []check{checkPlace(s.Host)}
	if s.Host.Shallow {
		checks = append(checks, check{"history", statusWarn, "shallow: workers see no more of it than this repository has", "git fetch --unshallow"})
	}
	checks = append(checks, checkStorage(ctx, s.Host)...)
	commit, err := s.Host.HeadCommit(ctx)
	if errors.Is(err, git.ErrNoRef) {
		return append(checks, check{"commit", statusWarn, "there is none yet on this branch", "a run needs one to start from"})
	}
	if err != nil {
		return append(checks, failed("commit", err, ""))
	}
	checks = append(checks, checkCommit(ctx, s, commit)...)
	return append(append(checks, checkPolicy(ctx, s, commit)), checkHooks(ctx, s)...)
}

func checkPlace(host git.Host) check {
	if host.Bare {
		return check{"repository", statusOK, fmt.Sprintf("bare at %s, objects %s", host.Dir, host.Format), ""}
	}
	return check{"repository", statusOK, fmt.Sprintf("checkout at %s, objects %s", host.Top, host.Format), ""}
}

// checkStorage looks at how the repository keeps its refs, objects and files.
func checkStorage(ctx context.Context, host git.Host) []check {
	var checks []check
	promisor, err := host.Promisor(ctx)
	if err != nil {
		return []check{failed("configuration", err, "")}
	}
	if promisor != "" {
		checks = append(checks, check{"objects", statusInfo, "a partial clone of " + promisor + ": before a run, your git fetches the objects of the commit " +
			"that are missing; workers see no more of the history than is here", "git fetch --refetch --no-filter " + promisor + " gets everything"})
	}
	filters, err := host.Filters(ctx)
	if err != nil {
		return append(checks, failed("configuration", err, ""))
	}
	if filters {
		checks = append(checks, check{"configuration", statusInfo, "names filter programs, which cordon does not run",
			"files that need one other than Git LFS do not land"})
	}
	return checks
}

// checkCommit looks for what cordon cannot work with in the commit that a run
// would start from.
func checkCommit(ctx context.Context, s *session.Session, commit git.OID) []check {
	promisor, err := s.Host.Promisor(ctx)
	if err == nil && promisor != "" {
		if missing, err := s.Host.Missing(ctx, commit); err == nil && len(missing) > 0 {
			return []check{{"commit", statusInfo, fmt.Sprintf("%s, of which %d objects are missing here", commit.Short(), len(missing)), "a run fetches them"}}
		}
	}
	files, err := s.FilesOf(ctx, commit)
	if err != nil {
		return []check{failed("commit", err, "")}
	}
	checks := []check{{"commit", statusOK, fmt.Sprintf("%s, %d files", commit.Short(), len(files)), ""}}
	p, _, err := s.PolicyAt(ctx, commit)
	if err != nil {
		return checks // the line on the policy says why
	}
	plan, err := workspace.SurveyCommit(ctx, s.Site, p, commit, false)
	if err != nil {
		return append(checks, failed("attributes", err, "a run would be refused"))
	}
	if n := len(plan.Modules); n > 0 {
		checks = append(checks, check{"submodules", statusOK, fmt.Sprintf("%d filled from this repository; a worker cannot change them", n), ""})
	}
	if n := len(plan.Empty); n > 0 {
		checks = append(checks, check{"submodules", statusWarn, fmt.Sprintf("%d, of which %s is the first: left empty in a worker's tree, "+
			"because this repository does not have them", n, plan.Empty[0]), "git submodule update --init"})
	}
	if n := len(plan.Content); n > 0 {
		checks = append(checks, check{"git lfs", statusOK, fmt.Sprintf("%d files in write_roots, with their content", n), ""})
	}
	if n := len(plan.Pointers); n > 0 {
		checks = append(checks, check{"git lfs", statusInfo, fmt.Sprintf("%d files outside write_roots stay pointers in a worker's tree", n), ""})
	}
	return checks
}

func checkPolicy(ctx context.Context, s *session.Session, commit git.OID) check {
	var unused *worksite.UnusedPolicyError
	if _, _, err := s.PolicyInUse(ctx, commit); errors.As(err, &unused) {
		return check{"policy", statusWarn, unused.What + "; cordon run refuses to start", unused.Ways}
	}
	p, source, err := s.DescribedPolicyAt(ctx, commit)
	if err != nil {
		return failed("policy", err, "cordon policy check shows the same for a file")
	}
	switch lacks, err := s.LacksConsent(p); {
	case err != nil:
		return failed("policy", err, "")
	case lacks != "":
		return check{"policy", statusWarn, source + "; cordon run refuses to start", lacks}
	}
	return check{"policy", statusOK, source, ""}
}
