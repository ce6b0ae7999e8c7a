package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/guard"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// imagined is the scope of a worker that nobody dispatched.
func (a *app) imagined(ctx context.Context, o checkOptions) (*guard.Scope, error) {
	dir := o.worktree
	if dir == "" {
		s, err := a.open(ctx)
		if err != nil {
			return nil, err
		}
		if dir = s.Host.Top; dir == "" {
			return nil, usage("cordon check: this repository has no checkout; name one with --worktree")
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	p := policy.Default()
	if o.policy != "" {
		data, err := os.ReadFile(o.policy)
		if err != nil {
			return nil, err
		}
		if p, err = policy.Parse(o.policy, data); err != nil {
			return nil, err
		}
	}
	if o.mode != "" {
		if err := p.Guard.Mode.UnmarshalText([]byte(o.mode)); err != nil {
			return nil, usage("cordon check: --mode: %v", err)
		}
	}
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	return imagine(dir, o.host, realPath(home), root, p, !o.unconfined)
}

// imagine makes a scope of directories.
func imagine(dir, host, home, root string, p policy.Policy, confined bool) (*guard.Scope, error) {
	dir = realPath(dir)
	rules, err := policy.Compile(p, policy.Location{Worktree: dir, Home: home})
	if err != nil {
		return nil, err
	}
	s := &guard.Scope{
		Worktree: dir, State: root, Home: home, Rules: rules, Guard: p.Guard, Confined: confined && p.Isolation != policy.None,
		Target: "refs/heads/main",
	}
	if host != "" {
		host = realPath(host)
		s.Hosts = []string{host, host + "/.git"}
		if ref := attached(host + "/.git/HEAD"); ref != "" {
			s.Target = ref
		}
	}
	fi, err := os.Lstat(dir + "/.git")
	s.Private = err == nil && fi.IsDir()
	s.Branch = strings.TrimPrefix(attached(headFile(dir, s.Private)), "refs/heads/")
	return s, nil
}

// headFile is where a worktree's HEAD is.
func headFile(dir string, private bool) string {
	if private {
		return dir + "/.git/HEAD"
	}
	link, err := os.ReadFile(dir + "/.git")
	if err != nil {
		return ""
	}
	at := strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir: "))
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	return at + "/HEAD"
}

// attached is the branch that a HEAD file names.
func attached(file string) string {
	b, err := os.ReadFile(file)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: ")
	if err != nil || !ok {
		return ""
	}
	return ref
}

// realPath is a path with the links of what is there resolved.
func realPath(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return filepath.Join(real, rest)
		} else if !errors.Is(err, os.ErrNotExist) || abs == "/" {
			return filepath.Join(abs, rest)
		}
		rest = filepath.Join(filepath.Base(abs), rest)
		abs = filepath.Dir(abs)
	}
}
