package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/errand"
	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/plainfile"
)

// limit is how long a hook may take.
const limit = 10 * time.Minute

// RefusedError is a hook that refused a landing.
type RefusedError struct {
	Name, Path string
	How        string // it ended
	Output     string // its end, on one line; "": it printed nothing
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("the hook %s (%s) refused the landing: it %s", e.Name, e.Path, e.How)
	if e.Output != "" {
		text += ", and printed: " + e.Output
	}
	return text
}

// Place is where the hooks of one landing run: an empty directory, and a git directory
// of its own in which HEAD is the target branch and the index holds the result. Objects,
// branches and configuration are those of the operator's repository. Git makes the same for
// a linked worktree, but this one is not registered anywhere.
type Place struct {
	hooks *Hooks
	dir   string
	Ran   []string // names of the hooks that ran, in their order
}

// Landing is what the hooks are asked about.
type Landing struct {
	Head string  // content of HEAD: the branch, or the commit that a new branch begins at
	Tree git.OID // that it gets
	Tip  git.OID // the other parent of a merge; "": there is none
}

// Enter makes the place. repo has the objects.
func (h *Hooks) Enter(ctx context.Context, repo git.Repo, l Landing) (_ *Place, err error) {
	dir, err := os.MkdirTemp("", "cordon-hook-")
	if err != nil {
		return nil, err
	}
	p := &Place{hooks: h, dir: dir}
	defer func() {
		if err != nil {
			p.Leave()
		}
	}()
	if h.own.InTree(dir) {
		return nil, fmt.Errorf("hooks are not run: the temporary directory %s lies in a tree", dir)
	}
	files := map[string]string{"HEAD": l.Head, "commondir": h.host.Dir}
	if l.Tip != "" {
		files["MERGE_HEAD"] = string(l.Tip)
	}
	for _, name := range []string{p.gitDir(), p.top()} {
		if err := os.Mkdir(name, 0o700); err != nil {
			return nil, err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.gitDir(), name), []byte(text+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return p, repo.WriteIndex(ctx, l.Tree, p.index())
}

func (p *Place) gitDir() string { return filepath.Join(p.dir, "git") }
func (p *Place) top() string    { return filepath.Join(p.dir, "empty") }
func (p *Place) index() string  { return filepath.Join(p.gitDir(), "index") }

// Leave removes the place, whatever the hooks left there.
func (p *Place) Leave() {
	if p != nil {
		_ = os.RemoveAll(p.dir) // in the system's directory for temporary files
	}
}

// PreMergeCommit asks whether the result may become a commit.
func (p *Place) PreMergeCommit(ctx context.Context) error { return p.run(ctx, PreMergeCommit, "") }

// CommitMsg asks about the message of a commit, and returns what the hook made of it.
func (p *Place) CommitMsg(ctx context.Context, text string) (string, error) {
	if !p.hooks.Has(CommitMsg) {
		return text, nil
	}
	file := filepath.Join(p.gitDir(), "MERGE_MSG")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := p.run(ctx, CommitMsg, "", file); err != nil {
		return "", err
	}
	edited, err := plainfile.Read(file, plainfile.Line)
	if err != nil {
		return "", p.refused(CommitMsg, "left a message that cannot be read: "+err.Error(), "")
	}
	return string(edited), nil
}

// Reject is the refusal of a message that a hook left.
func (p *Place) Reject(why error) error {
	return p.refused(CommitMsg, "left a message that cannot land: "+why.Error(), "")
}

// Phase is a state of a move of a branch that reference-transaction is told.
type Phase string

// The phases. Only Prepared can be refused.
const (
	Prepared  Phase = "prepared"
	Committed Phase = "committed"
	Aborted   Phase = "aborted"
)

// ReferenceTransaction tells of a move of a branch. It does nothing in a place that is nil.
func (p *Place) ReferenceTransaction(ctx context.Context, phase Phase, old, new git.OID, ref string) error {
	if p == nil {
		return nil
	}
	return p.run(ctx, ReferenceTransaction, fmt.Sprintf("%s %s %s\n", old, new, ref), string(phase))
}

// run checks a hook once more and runs it.
func (p *Place) run(ctx context.Context, name, input string, args ...string) error {
	h := p.hooks
	if !h.Has(name) {
		return nil
	}
	if err := h.check(name); err != nil {
		return err
	}
	if len(p.Ran) == 0 || p.Ran[len(p.Ran)-1] != name {
		p.Ran = append(p.Ran, name)
	}
	r := errand.Errand{
		Argv: append([]string{name}, args...), File: h.files[name], Closed: true, Dir: p.top(), Written: h.trees, Limit: limit, Input: input,
		Output: h.Output, Vars: []errand.Var{
			{Name: "GIT_DIR", Value: p.gitDir()}, {Name: "GIT_INDEX_FILE", Value: p.index()}, {Name: "GIT_WORK_TREE", Value: p.top()},
			{Name: "GIT_EDITOR", Value: ":"}, {Name: "PWD", Value: p.top()},
		},
	}.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !r.OK():
		return p.refused(name, r.How(), r.Tail)
	}
	return nil
}

// shown is how many of the last lines of a hook are repeated.
const shown = 5

func (p *Place) refused(name, how, output string) error {
	var list []string
	for line := range strings.SplitSeq(strings.TrimSpace(output), "\n") {
		if line = legible.Line(line); line != "" {
			list = append(list, line)
		}
	}
	return &RefusedError{Name: name, Path: p.hooks.files[name], How: how, Output: strings.Join(list[max(0, len(list)-shown):], " / ")}
}

// Stopped reports whether an error is about a hook: it refused, or may not run.
func Stopped(err error) bool {
	var refused *RefusedError
	var unsafe *UnsafeError
	return errors.As(err, &refused) || errors.As(err, &unsafe)
}
