// Package guard decides about one tool call of a worker before it runs: allow,
// deny or ask, with the reason, what was tried and what to do instead.
//
// It interprets: package shell runs the command without running anything, package
// tool says what each program does with its arguments, and every path is resolved
// link by link and judged against the worker's Scope, which comes from the lease
// and from nothing that the worker can change. Text that merely mentions a path
// is never looked at. What cannot be known is asked about when it would be
// written, entered or run, and answered by the policy when it would be read.
//
// The guard is not the boundary: the cell is. It explains, early, what the cell
// would refuse and the audit would report. It refuses to execute anything, to
// write anything and to ask the environment anything; it reads directories and
// links of the file system, and nothing else of it.
package guard

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"cordon/internal/paths"
	"cordon/internal/policy"
)

// Scope is where a worker may be, from its lease. The zero Scope allows nothing.
type Scope struct {
	Worktree string       // absolute, links resolved
	Hosts    []string     // the operator's checkout and git directory, links resolved
	State    string       // cordon's own state
	Post     string       // the directory of it that a worker in a cell sees; "" is none
	Home     string       // what ~ stands for
	Branch   string       // the worker's own, short
	Target   string       // the branch that its work lands on, full
	Private  bool         // the tree's git state is the worker's alone
	Confined bool         // a cell holds if the guard is wrong
	Fold     bool         // the file system folds case
	Packages []string     // where the operator's package managers keep what they download, but for the usual places
	Web      bool         // tools may look at the web from their maker's servers
	Guard    policy.Guard // how strict
	Rules    policy.Rules // where it may write
	Files    Files        // nil is the machine's own
}

// Files is what the guard looks at. Paths are absolute.
type Files interface {
	Readlink(name string) (string, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// disk is the machine's own file system.
type disk struct{}

func (disk) Readlink(name string) (string, error)       { return os.Readlink(name) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (s *Scope) files() Files {
	if s.Files == nil {
		return disk{}
	}
	return s.Files
}

// below reports whether a path is root or below it, by whole components.
func (s *Scope) below(p, root string) bool {
	if s.Fold {
		return paths.WithinFold(p, root)
	}
	return paths.Within(p, root)
}

// Inside reports whether a path is in the worktree.
func (s *Scope) Inside(p string) bool { return s.below(p, s.Worktree) }

// relative is a path of the worktree from its root; "" is the root.
func (s *Scope) relative(p string) string { return strings.TrimPrefix(p[len(s.Worktree):], "/") }

func base(p string) string { return path.Base(p) }
