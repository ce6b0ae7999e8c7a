package warrant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/guard"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Hypothetical is a worker that nobody dispatched, for whom calls are judged to be
// explained.
type Hypothetical struct {
	Worktree   string           // need not be there; paths are then taken as they are written
	Host       string           // the repository it is of; "" is none
	Policy     string           // a file; "" is what the host's commit says, or the default
	Mode       policy.GuardMode // "" is the policy's
	Unconfined bool
}

// HypotheticalScope makes the scope of such a worker. What it could not find out it says,
// in words: nothing is decided by the answers, so that a default may stand in.
func HypotheticalScope(ctx context.Context, im Hypothetical) (*guard.Scope, string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, "", err
	}
	root, err := state.RealRoot()
	if err != nil {
		return nil, "", err
	}
	s := &guard.Scope{Worktree: worksite.RealPath(im.Worktree), State: root, Home: worksite.RealPath(home), Target: "refs/heads/main"}
	p, note, err := im.surroundings(ctx, s)
	if err != nil {
		return nil, "", err
	}
	if im.Mode != "" {
		p.Guard.Mode = im.Mode
	}
	s.Rules, err = policy.Compile(p, policy.Location{Worktree: s.Worktree, Home: s.Home})
	s.Guard, s.Confined = p.Guard, !im.Unconfined && p.Isolation != policy.None
	s.Private, s.Branch = headOf(s.Worktree)
	s.Packages = movedPackages(s.Home, append([]string{s.Worktree, s.State}, s.Hosts...)...)
	return s, note, err
}

// surroundings finds out about the host, and which policy holds.
func (im Hypothetical) surroundings(ctx context.Context, s *guard.Scope) (policy.Policy, string, error) {
	p, note := policy.Default(), ""
	if im.Host != "" {
		host := worksite.RealPath(im.Host)
		s.Hosts = []string{host, host + "/.git"}
		here, err := worksite.Open(ctx, host)
		if err == nil {
			s.Hosts = here.Hosts()
			p, err = policyOfHead(ctx, here, s)
		}
		if err != nil {
			note = fmt.Sprintf("the policy and branches of %s are unknown (%s): using the default policy", im.Host, fault.OneLine(err))
		}
	}
	s.Hosts = slices.DeleteFunc(s.Hosts, s.Inside) // of the repository at hand, nothing is another's
	if im.Policy == "" {
		return p, note, nil
	}
	p, _, err := new(worksite.Site).PolicyFile(im.Policy)
	return p, "", err
}

// policyOfHead is the policy of the commit that the host is on, whose branch is where
// work would land.
func policyOfHead(ctx context.Context, s *worksite.Site, scope *guard.Scope) (policy.Policy, error) {
	branch, err := s.Host.HeadBranch(ctx)
	if err != nil {
		return policy.Default(), err
	}
	if branch == "" {
		return policy.Default(), errors.New("it is on no branch")
	}
	scope.Target = branch
	commit, err := s.Host.Ref(ctx, branch)
	if err != nil {
		return policy.Default(), err
	}
	p, _, err := s.PolicyAt(ctx, commit)
	if err != nil {
		return policy.Default(), err
	}
	return p, nil
}

// headOf reads whether a worktree has a repository of its own, and its branch. git
// is not asked: a worktree may be a worker's.
func headOf(dir string) (private bool, branch string) {
	at := filepath.Join(dir, ".git")
	fi, err := os.Lstat(at)
	private = err == nil && fi.IsDir()
	if err == nil && !private {
		link, _ := plainfile.Read(at, plainfile.Line)
		at = strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir: "))
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
	}
	head, err := plainfile.Read(filepath.Join(at, "HEAD"), plainfile.Line)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if err != nil || !ok {
		return private, ""
	}
	return private, ref
}
