package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/guard"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// Imagined is a worker that nobody dispatched, for whom calls are judged to be
// explained.
type Imagined struct {
	Worktree   string           // need not be there; paths are then taken as they are written
	Host       string           // the repository it is of; "" is none
	Policy     string           // a file; "" is what the host's commit says, or the default
	Mode       policy.GuardMode // "" is the policy's
	Unconfined bool
}

// Imagine makes the scope of such a worker. What it could not find out it says,
// in words: nothing is decided by the answers, so that a default may stand in.
func Imagine(ctx context.Context, im Imagined) (*guard.Scope, string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, "", err
	}
	root, err := state.RealRoot()
	if err != nil {
		return nil, "", err
	}
	s := &guard.Scope{Worktree: realPath(im.Worktree), State: root, Home: realPath(home), Target: "refs/heads/main"}
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
	return s, note, err
}

// surroundings finds out about the host, and which policy holds.
func (im Imagined) surroundings(ctx context.Context, s *guard.Scope) (policy.Policy, string, error) {
	p, note := policy.Default(), ""
	if im.Host != "" {
		host := realPath(im.Host)
		s.Hosts = []string{host, host + "/.git"}
		here, err := Open(ctx, host)
		if err == nil {
			s.Hosts = here.hosts()
			p, err = here.about(ctx, s)
		}
		if err != nil {
			note = fmt.Sprintf("what %s says about policy and branches is not known (%s): the default policy is taken", im.Host, oneLine(err))
		}
	}
	s.Hosts = slices.DeleteFunc(s.Hosts, s.Inside) // of the repository at hand, nothing is another's
	if im.Policy == "" {
		return p, note, nil
	}
	p, _, err := (&Session{&Site{}}).PolicyFile(im.Policy)
	return p, "", err
}

// about is the policy of the commit that the host is on, whose branch is where
// work would land.
func (s *Session) about(ctx context.Context, scope *guard.Scope) (policy.Policy, error) {
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

// realPath is a path with the links of what is there resolved.
func realPath(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(abs)
		if err == nil {
			return filepath.Join(real, rest)
		}
		if !errors.Is(err, os.ErrNotExist) || abs == "/" {
			return filepath.Join(abs, rest)
		}
		rest = filepath.Join(filepath.Base(abs), rest)
		abs = filepath.Dir(abs)
	}
}
