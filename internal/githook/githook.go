// Package githook finds the operator's own git hooks that guard a branch, checks that
// they may run during a landing, and runs them.
//
// A landing brings an agent's files to the operator's checkout. A hook that lies among
// those files, or that calls one, would run the agent's work as the operator, outside
// every cell. The package therefore refuses a hook that lies in a tree or that somebody
// else can write, and a script that names a program of a tree. A hook runs in an empty
// directory with a git directory of its own (see Place), so that nothing of a tree is
// found by accident.
//
// It cannot know what a compiled program does, or a script that computes the names of
// what it calls. It refuses to change a file that the operator has, to decide when a hook
// is due, and to overrule a hook that refuses: package gate does the first, and nobody
// the second.
package githook

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/git"
	"cordon/internal/gitfile"
)

// The hooks with which people guard a branch against what lands.
const (
	PreMergeCommit       = "pre-merge-commit"
	CommitMsg            = "commit-msg"
	ReferenceTransaction = "reference-transaction"
)

// names lists them in the order in which a landing runs them.
var names = []string{PreMergeCommit, CommitMsg, ReferenceTransaction}

// Hooks are those of one repository that guard a branch.
type Hooks struct {
	Output io.Writer // gets what they print

	own     git.Operator
	host    git.Host
	trees   []string
	dir     string
	files   map[string]string // by name
	configs []string          // hooks that the configuration of git defines
}

// Find looks for the hooks of a repository, where the operator's git would. trees are the
// directories in which workers write, and checkouts.
func Find(own git.Operator, host git.Host, trees []string) *Hooks {
	h := &Hooks{own: own, host: host, trees: trees, files: map[string]string{}}
	h.dir = cmp.Or(git.Homed(own.Value("core.hookspath")), filepath.Join(host.Dir, "hooks"))
	if !filepath.IsAbs(h.dir) {
		h.dir = filepath.Join(cmp.Or(host.Top, host.Dir), h.dir)
	}
	for _, name := range names {
		path := filepath.Join(h.dir, name)
		if fi, err := os.Stat(path); err == nil && !fi.IsDir() && fi.Mode()&0o111 != 0 {
			h.files[name] = path
		}
	}
	for _, s := range own.Under("hook", "event") {
		if slices.Contains(names, s.Value) {
			h.configs = append(h.configs, fmt.Sprintf("%s (%s)", s.Value, s))
		}
	}
	return h
}

// None reports whether there is no hook.
func (h *Hooks) None() bool { return len(h.files) == 0 && len(h.configs) == 0 }

// Names lists the hooks for a person, with where they are.
func (h *Hooks) Names() string {
	var list []string
	for _, name := range names {
		if h.files[name] != "" {
			list = append(list, name)
		}
	}
	text := strings.Join(list, ", ")
	if text != "" {
		text += " in " + h.dir
	}
	return strings.TrimPrefix(strings.Join(append([]string{text}, h.configs...), ", "), ", ")
}

// Has reports whether there is a hook of a name.
func (h *Hooks) Has(name string) bool { return h != nil && h.files[name] != "" }

// UnsafeError is a hook that is not run.
type UnsafeError struct {
	Name, Path string
	Why        error
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("the hook %s (%s) is not run: %v", e.Name, e.Path, e.Why)
}

func (e *UnsafeError) Unwrap() error { return e.Why }

// Check refuses hooks that may not run, before any of them does.
func (h *Hooks) Check() error {
	if len(h.configs) > 0 {
		return fmt.Errorf("the hook %s is not run: cordon runs only hooks that are files of a hooks directory", h.configs[0])
	}
	for _, name := range names {
		if err := h.check(name); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hooks) check(name string) error {
	path := h.files[name]
	if path == "" {
		return nil
	}
	c := checker{own: h.own, trees: h.trees, tops: h.tops(), path: git.SafePath(h.trees...), seen: map[string]bool{}}
	if err := c.program(path, 0); err != nil {
		return &UnsafeError{Name: name, Path: path, Why: err}
	}
	return nil
}

// tops are the checkouts, which a hook of the operator's is written for.
func (h *Hooks) tops() []string {
	if h.host.Top == "" {
		return nil
	}
	return gitfile.CheckoutsAround(h.host.Top)
}
