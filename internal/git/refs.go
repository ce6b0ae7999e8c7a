package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/gitfile"
)

// Ref is a name and what it points at.
type Ref struct {
	Name   string `json:"name"`
	OID    OID    `json:"oid"`
	Symref string `json:"symref,omitempty"`
}

// Refs lists every ref below the prefixes, or all of them.
func (r Repo) Refs(ctx context.Context, prefixes ...string) ([]Ref, error) {
	args := append([]string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)%00", "--"}, prefixes...)
	if len(prefixes) == 0 {
		args = args[:len(args)-1]
	}
	ask := func() ([]byte, error) { return r.run(ctx, args...) }
	out, err := r.allRefs(len(prefixes) == 0, ask)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for _, rec := range strings.Split(string(out), "\x00\n") {
		if rec == "" {
			continue
		}
		f := strings.Split(rec, "\x00")
		if len(f) != 3 {
			return nil, fmt.Errorf("unexpected answer from git for-each-ref: %q", rec)
		}
		refs = append(refs, Ref{Name: f[0], OID: OID(f[1]), Symref: f[2]})
	}
	return refs, nil
}

// allRefs remembers the answer about all refs.
func (r Repo) allRefs(all bool, ask func() ([]byte, error)) ([]byte, error) {
	if !all || r.asked == nil {
		return ask()
	}
	return r.recall(&r.asked.said.refs, "refs", gitfile.OfRefs(r.Dir), ask)
}

// ErrNoRef says that a ref does not exist, and ErrNoFile that FileAt and Blob read no such thing.
var ErrNoRef, ErrNoFile = errors.New("no such ref"), errors.New("not a regular file of at most 16 MiB")

// Ref reads one ref by its full name. It does not search as rev-parse does: a
// tag called refs/heads/main is not the branch main, even when that is gone.
func (r Repo) Ref(ctx context.Context, name string) (OID, error) {
	if oid, ok := r.looseRef(name); ok {
		return oid, nil
	}
	out, err := r.run(ctx, "show-ref", "--verify", "--hash", "--", name)
	var e *Error
	if errors.As(err, &e) && strings.Contains(e.Stderr, "not a valid ref") {
		return "", fmt.Errorf("%s: %w", name, ErrNoRef)
	}
	if err != nil {
		return "", err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}

// IsSymbolic reports whether a name is a symbolic ref, also one that leads nowhere.
func (r Repo) IsSymbolic(ctx context.Context, name string) (bool, error) {
	_, err := r.run(ctx, "symbolic-ref", "-q", name)
	var e *Error
	if errors.As(err, &e) && e.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// ErrMoved says that a compare-and-swap found another value than expected.
var ErrMoved = errors.New("the ref moved meanwhile")

// UpdateRef moves a ref from old to new, or fails with ErrMoved. old empty
// means that the ref must not exist yet.
func (r Repo) UpdateRef(ctx context.Context, name string, new, old OID, reason string) error {
	if old == "" {
		old = r.Format.Zero()
	}
	_, err := r.run(ctx, "update-ref", "--no-deref", "-m", reason, name, string(new), string(old))
	var e *Error
	if errors.As(err, &e) && moved(e.Stderr) {
		return fmt.Errorf("%s: %w", name, ErrMoved)
	}
	return err
}

// moved recognises git's words for a ref that has another value than expected.
func moved(stderr string) bool {
	return strings.Contains(stderr, "but expected") || strings.Contains(stderr, "already exists") || strings.Contains(stderr, "unable to resolve reference")
}

// SetRefs gives refs of cordon's own new values, whatever they had, and deletes those that get
// none. It does all of it or nothing.
func (r Repo) SetRefs(ctx context.Context, refs []Ref, reason string) error {
	if len(refs) == 0 {
		return nil
	}
	var in strings.Builder
	for _, ref := range refs {
		fmt.Fprintf(&in, "update %s\x00%s\x00\x00", ref.Name, cmp.Or(ref.OID, r.Format.Zero()))
	}
	_, err := r.call(ctx, call{args: []string{"update-ref", "--no-deref", "-m", reason, "-z", "--stdin"}, stdin: strings.NewReader(in.String())})
	return err
}

// Holds reports whether a ref has a value already, as far as that can be told without git.
func (r Repo) Holds(ref Ref) bool {
	now, ok := r.looseRef(ref.Name)
	return ok && now == ref.OID
}

// HeadBranch returns the branch that the HEAD of a git directory points at, by
// its full name; "" when it is detached. dir is Host.Private.
func (h Host) HeadBranch(ctx context.Context) (string, error) {
	if name, ok := gitfile.Head(h.Private); ok {
		return name, nil
	}
	out, err := h.bin.run(ctx, call{dir: h.Private, repo: []string{"--git-dir=" + h.Private}, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// HeadCommit is the commit of the checkout that the operator stands in, which in a linked
// worktree is not that of the repository's own HEAD. A branch without a commit is ErrNoRef.
func (h Host) HeadCommit(ctx context.Context) (OID, error) {
	branch, err := h.HeadBranch(ctx)
	if err != nil {
		return "", err
	}
	if branch != "" {
		return h.Ref(ctx, branch)
	}
	return h.Commit(ctx, "HEAD")
}

// ValidBranch reports whether a short branch name may be used.
func (r Repo) ValidBranch(ctx context.Context, short string) bool {
	if gitfile.Plain("refs/heads/" + short) {
		return true
	}
	_, err := r.run(ctx, "check-ref-format", "--branch", short)
	return err == nil && !strings.HasPrefix(short, "@")
}

// IsAncestor reports whether a is an ancestor of b, or b itself.
func (r Repo) IsAncestor(ctx context.Context, a, b OID) (bool, error) {
	_, err := r.run(ctx, "merge-base", "--is-ancestor", string(a), string(b))
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// MergeBase returns the best common ancestor of two commits.
func (r Repo) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	out, err := r.run(ctx, "merge-base", string(a), string(b))
	if exitCode(err) == 1 {
		return "", fmt.Errorf("%s and %s have no common ancestor", a.Short(), b.Short())
	}
	if err != nil {
		return "", err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}

// Subject is the first line of a commit's message.
func (r Repo) Subject(ctx context.Context, commit OID) (string, error) {
	out, err := r.run(ctx, "rev-list", "--no-commit-header", "--format=%s", "--max-count=1", string(commit), "--") // not git log, see Committers
	return strings.TrimSuffix(string(out), "\n"), err
}

// Committers lists the committers' addresses of the commits that new reaches
// and old does not. old may be empty.
func (r Repo) Committers(ctx context.Context, old, new OID) ([]string, error) {
	// Not git log: that one can be configured to run programs on signatures.
	args := []string{"rev-list", "--no-commit-header", "--format=%ce", string(new)}
	if !old.IsZero() {
		args = append(args, "^"+string(old))
	} else {
		args = append(args, "--max-count=100")
	}
	out, err := r.run(ctx, append(args, "--")...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}
