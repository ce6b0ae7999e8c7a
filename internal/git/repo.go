package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
)

// Repo is a repository named by its git directory.
type Repo struct {
	bin    Binary
	Dir    string // the common git directory, absolute
	Format Format
	asked  *asked // nil: every question takes a process of its own
}

// Host is the operator's repository as it was found from a directory.
type Host struct {
	Repo
	Top     string // the checkout the operator stands in; "" in a bare repository
	Private string // the git directory of that checkout: Dir, or a linked worktree's own
	Bare    bool
	Shallow bool
}

// ErrNotRepository says that a directory is in no repository.
var ErrNotRepository = errors.New("not inside a git repository")

// ForeignError says that git refuses a repository, because it belongs to somebody else.
type ForeignError = gitfile.ForeignError

// Discover finds the repository around dir. dir must be the operator's own
// place, never one that a worker writes. A repository of somebody else's is a *ForeignError,
// by git's own check and before its configuration is read.
func Discover(ctx context.Context, bin Binary, dir string) (Host, error) {
	ask := func(args ...string) (string, error) {
		out, err := bin.run(ctx, call{operator: true, dir: dir, args: append([]string{"rev-parse", "--path-format=absolute"}, args...)})
		return strings.TrimSuffix(string(out), "\n"), err
	}
	found, ok := discoverAtOnce(func(args ...string) (string, error) {
		return bin.rememberSame(func() (string, bool) { return bin.discoverQuestion(dir) }, func() (string, error) { return ask(args...) })
	})
	if !ok {
		var err error
		if found, err = discoverBySteps(ask, dir); err != nil {
			return Host{}, err
		}
	}
	h := Host{Repo: Repo{bin: bin, Format: Format(found.format), asked: &asked{}}, Private: found.private, Bare: found.bare, Shallow: found.shallow}
	if h.Format != SHA1 && h.Format != SHA256 {
		return Host{}, fmt.Errorf("object format %q is not known to cordon", h.Format)
	}
	var err error
	if h.Dir, err = filepath.EvalSymlinks(found.common); err != nil || h.Bare {
		return h, err
	}
	h.Top, err = filepath.EvalSymlinks(found.top)
	return h, err
}

// discovered is what git rev-parse says of a repository.
type discovered struct {
	bare, shallow                bool
	format, private, common, top string
}

// discoverAtOnce asks everything in one call. That works in a checkout whose paths hold no
// newline: inside of a checkout the last path is never empty, so seven lines are seven
// answers.
func discoverAtOnce(ask func(...string) (string, error)) (discovered, bool) {
	facts, err := ask("--is-inside-work-tree", "--is-bare-repository", "--is-shallow-repository", "--show-object-format",
		"--git-dir", "--git-common-dir", "--show-toplevel")
	words := strings.Split(facts, "\n")
	if err != nil || len(words) != 7 || words[0] != "true" || words[1] != "false" {
		return discovered{}, false
	}
	return discovered{shallow: words[2] == "true", format: words[3], private: words[4], common: words[5], top: words[6]}, true
}

// discoverBySteps asks for each path alone, and says what is wrong where it is no checkout.
func discoverBySteps(ask func(...string) (string, error), dir string) (found discovered, err error) {
	if found.common, err = ask("--git-common-dir"); err != nil {
		switch {
		case exitCode(err) != 128:
		case strings.Contains(err.Error(), "dubious ownership"):
			err = gitfile.Foreign(dir)
		case strings.Contains(err.Error(), "not a git repository"):
			err = fmt.Errorf("%s: %w", dir, ErrNotRepository)
		}
		return found, err
	}
	facts, err := ask("--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--git-dir")
	if err != nil {
		return found, err
	}
	words := strings.SplitN(facts, "\n", 4) // the last may hold newlines
	if len(words) != 4 {
		return found, fmt.Errorf("unexpected answer from git rev-parse: %q", facts)
	}
	found.bare, found.shallow, found.format, found.private = words[0] == "true", words[1] == "true", words[2], words[3]
	if found.bare {
		return found, nil
	}
	if found.top, err = ask("--show-toplevel"); err == nil && found.top == "" {
		err = fmt.Errorf("%s is inside a git directory, not in a checkout: go to the checkout and try again", dir)
	}
	return found, err
}

// InitOptions say how a private repository is made.
type InitOptions struct {
	Bare      bool
	Format    Format
	Alternate string // an object directory to read from
	Shallow   []byte // content of the shallow file, for a shallow host
	Branch    string // name HEAD points at, under refs/heads/
}

// Init makes a repository of cordon's own at dir, which must not hold one yet.
func Init(ctx context.Context, bin Binary, dir string, o InitOptions) (Repo, error) {
	args := []string{"init", "-q", "--template=", "--object-format=" + string(o.Format)}
	if o.Branch != "" {
		args = append(args, "--initial-branch="+o.Branch)
	}
	gitDir := filepath.Join(dir, ".git")
	if o.Bare {
		args, gitDir = append(args, "--bare"), dir
	}
	if !gitfile.Init(gitDir, gitfile.New{Bare: o.Bare, Format: string(o.Format), Branch: cmp.Or(o.Branch, "main")}) {
		if _, err := bin.run(ctx, call{args: append(args, "--", dir)}); err != nil {
			return Repo{}, err
		}
	}
	r := Repo{bin: bin, Dir: gitDir, Format: o.Format, asked: &asked{}}
	if o.Shallow != nil {
		if err := os.WriteFile(filepath.Join(gitDir, "shallow"), o.Shallow, 0o644); err != nil {
			return Repo{}, err
		}
	}
	if o.Alternate == "" {
		return r, nil
	}
	return r, gitfile.WriteAlternates(filepath.Join(gitDir, "objects"), o.Alternate)
}

// OpenBare names a bare repository that cordon made earlier.
func OpenBare(bin Binary, dir string, format Format) Repo {
	return Repo{bin: bin, Dir: dir, Format: format, asked: &asked{}}
}

// run calls git on the repository alone, without any checkout.
func (r Repo) run(ctx context.Context, args ...string) ([]byte, error) {
	return r.call(ctx, call{args: args})
}

func (r Repo) call(ctx context.Context, c call) ([]byte, error) {
	c.repo = append([]string{"--git-dir=" + r.Dir}, c.repo...)
	if c.dir == "" {
		c.dir = r.Dir
	}
	hooks, err := r.withoutHooks(ctx)
	if err != nil {
		return nil, err
	}
	c.mute = append(c.mute, hooks...)
	return r.bin.run(ctx, c)
}

// Commit resolves a revision that the operator typed to a commit.
func (r Repo) Commit(ctx context.Context, rev string) (OID, error) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("not a revision: %q", rev)
	}
	if _, err := ParseOID(rev); err == nil {
		found, err := r.Lookup(ctx, []string{rev + "^{commit}"})
		if err != nil {
			return "", err
		}
		if found[0].OID == "" {
			return "", fmt.Errorf("no commit is named %q", rev)
		}
		return found[0].OID, nil
	}
	out, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if exitCode(err) == 1 {
		return "", fmt.Errorf("no commit is named %q", rev)
	}
	if err != nil {
		return "", err
	}
	return ParseOID(strings.TrimSpace(string(out)))
}

// ObjectsDir is where the repository's own objects are.
func (r Repo) ObjectsDir() string { return filepath.Join(r.Dir, "objects") }

// ShallowFile returns the content of the shallow file, nil when there is none.
func (r Repo) ShallowFile() ([]byte, error) {
	b, err := plainfile.ReadLinked(filepath.Join(r.Dir, "shallow"), plainfile.Text)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// lines splits NUL-terminated output.
func lines(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
