package guard

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/mark"
	"cordon/internal/policy"
)

// shared are directories of a home in which unrelated things lie side by side.
var shared = []string{"~", "~/.config", "~/.local", "~/.local/share", "~/.local/state", "~/.cache", "~/Library", "~/Library/Application Support"}

// liftable adds what would allow a refused read: the entry of read_roots, and what the agent
// says to its operator. Secrets, trees of repositories and homes of other users have none.
func (j *judge) liftable(f finding, place Place, p string) finding {
	if j.scope.Liftable(place, p) {
		f.lift = j.readRoot(p)
		f.instead = "continue without it; if the task needs it, stop and say so: the operator can allow it with read_roots in the policy"
	}
	return f
}

// Liftable reports whether an entry of read_roots could let a worker read a path.
func (s *Scope) Liftable(place Place, p string) bool {
	switch place {
	case Home, Elsewhere:
	default:
		return false
	}
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p || mark.In(p) || policy.HasWildcard(p) || s.Rules.Hides(p) || private(p) {
		return false
	}
	if place == Home {
		return s.Home != "" && p != s.Home && s.below(p, s.Home)
	}
	for _, held := range append([]string{s.Worktree, s.State, s.Home}, s.Hosts...) {
		if held != "" && (s.below(p, held) || s.below(held, p)) {
			return false
		}
	}
	return path.Dir(p) != "/"
}

// LiftedBy reports whether an entry that a record names is one that the guard would propose.
func (s *Scope) LiftedBy(entry string) bool {
	p := home(entry, s.Home)
	return shown(entry) == entry && s.Liftable(s.place(p), p)
}

// readRoot is the directory of a file, or the path itself where that is a directory or
// where its directory holds more than belongs together.
func (j *judge) readRoot(p string) string {
	root := path.Dir(p)
	if _, err := j.scope.files().ReadDir(p); err == nil || slices.Contains(shared, j.scope.inHome(root)) || path.Dir(root) == "/" {
		root = p
	}
	return j.scope.inHome(root)
}

// inHome is a path as a policy has it, with ~ for the home.
func (s *Scope) inHome(p string) string {
	if s.Home != "" && s.below(p, s.Home) {
		return "~" + p[len(s.Home):]
	}
	return p
}

// liftOf is the entry that would allow a call: none, if the call was refused for anything
// else as well.
func liftOf(found []finding) string {
	lift := ""
	for _, f := range found {
		if f.lift == "" || lift != "" && lift != f.lift {
			return ""
		}
		lift = f.lift
	}
	return lift
}
