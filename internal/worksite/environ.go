package worksite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
)

// Environ is the environment for a lease's worktree, with the secrets of its policy that
// the operator shares with this repository.
func (s *Site) Environ(l lease.Lease) []string {
	shared, _ := s.Shared() // without a configuration nothing is
	l.Policy.Secrets = shared.Secrets(l.Policy.Secrets)
	env := enclosure.Environ(l, os.Environ(), s.hostNames()...)
	return append(env, cell.Place+"="+filepath.Base(s.State.Path()))
}

// hostNames are the paths by which the environment may name the host: its git
// directory, its checkouts, and the way by links that the operator came.
func (s *Site) hostNames() []string {
	names := []string{s.Host.Dir, s.Host.Top}
	if filepath.Base(s.Host.Dir) == ".git" {
		names = append(names, filepath.Dir(s.Host.Dir))
	}
	at := os.Getenv("PWD")
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return names
	}
	for _, top := range names {
		if rest, ok := strings.CutPrefix(real, top); ok && top != "" && strings.HasSuffix(at, rest) {
			names = append(names, strings.TrimSuffix(at, rest))
		}
	}
	return names
}

// Hosts are the directories of the operator's repository, links resolved.
func (s *Site) Hosts() []string {
	var list []string
	for _, name := range []string{s.Host.Dir, s.Host.Top, s.Host.Private} {
		if name == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(name); err == nil {
			name = real
		}
		list = append(list, name)
		if filepath.Base(name) == ".git" {
			list = append(list, filepath.Dir(name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
