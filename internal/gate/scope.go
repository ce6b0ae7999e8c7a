package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/git"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
)

// A command of acceptance that looks at some paths runs on a tree that has nothing else, so
// that its success depends on them alone and counts again for a tree that has the same.

// scoped is a commit with those paths of another that a command looks at. It has no history.
type scoped struct {
	commit git.OID
	tree   git.OID
}

// only makes the commit for one command; ok is false if no path is left.
func (g *Gate) only(ctx context.Context, name string, commit git.OID, in func(string) bool) (s scoped, ok bool, err error) {
	files, err := g.repo.Tree(ctx, commit)
	if err != nil {
		return s, false, err
	}
	left := slices.DeleteFunc(slices.Clone(files), func(f git.File) bool { return in(f.Path) })
	if len(left) == len(files) {
		return s, false, nil
	}
	cut, err := g.repo.Snapshot(ctx, snapshots+name+".only", commit, "paths of an acceptance command\n", func(w *git.Writer) error {
		for _, f := range left {
			w.Delete(f.Path)
		}
		return nil
	})
	if err != nil {
		return s, false, err
	}
	if s.tree, err = g.repo.TreeOf(ctx, cut); err != nil {
		return s, false, err
	}
	s.commit, err = g.repo.CommitTree(ctx, s.tree, nil, "paths of an acceptance command\n", git.Person{Name: "cordon", Email: "cordon@localhost"})
	return s, true, err
}

// scopedRun runs a command on the paths that it looks at, unless it has passed on the same.
func (a Acceptance) scopedRun(ctx context.Context, commit git.OID, line string, in func(string) bool) (Check, error) {
	s, ok, err := a.Gate.only(ctx, string(a.Lease.Lease().ID), commit, in)
	if err != nil {
		return Check{}, err
	}
	if !ok {
		return Check{Command: line, Code: 1, Ended: "had nothing to look at: the merged tree has none of its paths"}, nil
	}
	key := a.key(s.tree, line)
	if c, known := a.Gate.passedBefore(key); known && c.Command == line {
		c.Took, c.Output, c.Reused = 0, "", true
		_, err := a.Output.Write([]byte("$ " + line + "\nit has passed on the same files before\n"))
		return c, err
	}
	checks, err := a.on(ctx, s.commit, []string{line})
	if err != nil || len(checks) == 0 {
		return Check{}, cmp.Or(err, errors.New("the command did not run"))
	}
	if c := checks[0]; c.Code == 0 {
		a.Gate.keepPassed(key, c)
	}
	return checks[0], nil
}

// key names the circumstances of a test: the files, the command, the home, and the policy, which is
// about the cell and what runs before. Limits do not count: auto is another number each time.
func (a Acceptance) key(tree git.OID, line string) string {
	l := a.Lease.Lease()
	same := l.Policy
	same.Limits = policy.Default().Limits
	text := strings.Join([]string{string(tree), line, l.Home, string(same.YAML())}, "\x00")
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// maxPassed is how many tests are remembered.
const maxPassed = 2000

func (g *Gate) passedDir() string { return filepath.Join(g.state.Path(), "accepted") }

// passedBefore is a test that passed under the same circumstances.
func (g *Gate) passedBefore(key string) (c Check, ok bool) {
	text, err := plainfile.Read(filepath.Join(g.passedDir(), key), 1<<20)
	return c, err == nil && json.Unmarshal(text, &c) == nil && c.Code == 0 && c.Ended == ""
}

// keepPassed remembers a test. One that cannot be remembered runs again.
func (g *Gate) keepPassed(key string, c Check) {
	c.Output = ""
	text, err := json.Marshal(c)
	dir := g.passedDir()
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, key))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // made just now
	}
	g.forgetPassed()
}

// forgetPassed removes all that is remembered when it has become too much.
func (g *Gate) forgetPassed() {
	found, err := os.ReadDir(g.passedDir())
	if err != nil || len(found) <= maxPassed {
		return
	}
	for _, f := range found {
		_ = os.Remove(filepath.Join(g.passedDir(), f.Name())) // files that cordon made; a test runs again
	}
}
