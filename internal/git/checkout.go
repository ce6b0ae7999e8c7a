package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
)

// Checkout is a working tree together with the git directory that the host's
// own registry names for it; the .git entry inside the tree is never followed.
type Checkout struct {
	Top      string `json:"top"`
	GitDir   string `json:"git_dir"`
	Branch   string `json:"branch,omitempty"` // full ref name; "" when detached
	Head     OID    `json:"head,omitempty"`
	Linked   bool   `json:"linked,omitempty"`
	Prunable bool   `json:"prunable,omitempty"`
	Index    string `json:"-"` // an index file to use instead of the checkout's own; "" for its own
}

// index is the index file that calls on the checkout use.
func (c Checkout) index() string {
	if c.Index != "" {
		return c.Index
	}
	return filepath.Join(c.GitDir, "index")
}

// Checkouts lists the main checkout and every linked worktree of the repository.
func (r Repo) Checkouts(ctx context.Context) ([]Checkout, error) {
	if r.asked != nil {
		if branch, head, ok := gitfile.OnlyCheckout(r.Dir, r.digits()); ok {
			return []Checkout{{Top: filepath.Dir(r.Dir), GitDir: r.Dir, Branch: branch, Head: OID(head)}}, nil
		}
	}
	ask := func() ([]byte, error) { return r.run(ctx, "worktree", "list", "--porcelain", "-z") }
	out, err := []byte(nil), error(nil)
	if r.asked != nil {
		out, err = r.recall(&r.asked.said.checkouts, "checkouts", gitfile.OfCheckout(r.Dir, r.digits()), ask)
	} else {
		out, err = ask()
	}
	if err != nil {
		return nil, err
	}
	var all []Checkout
	for i, block := range strings.Split(strings.TrimSuffix(string(out), "\x00\x00"), "\x00\x00") {
		c, bare := parseCheckout(block)
		if bare || c.Top == "" {
			continue
		}
		c.Linked = i > 0
		all = append(all, c)
	}
	return r.locate(all)
}

func parseCheckout(block string) (c Checkout, bare bool) {
	for _, line := range strings.Split(block, "\x00") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "worktree":
			c.Top = value
		case "HEAD":
			if o := OID(value); !o.IsZero() {
				c.Head = o
			}
		case "branch":
			c.Branch = value
		case "bare":
			bare = true
		case "prunable":
			c.Prunable = true
		}
	}
	return c, bare
}

// GitDirs are the directories that may hold the index of a checkout, without asking
// git.
func (r Repo) GitDirs() []string {
	dirs := []string{r.Dir}
	entries, _ := os.ReadDir(filepath.Join(r.Dir, "worktrees"))
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(r.Dir, "worktrees", e.Name()))
	}
	return dirs
}

// locate finds the git directory of each checkout from the registry.
func (r Repo) locate(all []Checkout) ([]Checkout, error) {
	dirs := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(r.Dir, "worktrees"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, e := range entries {
		dir := filepath.Join(r.Dir, "worktrees", e.Name())
		b, err := plainfile.Read(filepath.Join(dir, "gitdir"), plainfile.Line)
		if err != nil {
			continue
		}
		dotGit := strings.TrimSuffix(string(b), "\n")
		if !filepath.IsAbs(dotGit) { // relative worktrees, git 2.48 and later
			dotGit = filepath.Join(dir, dotGit)
		}
		dirs[filepath.Clean(filepath.Dir(dotGit))] = dir
	}
	for i := range all {
		all[i].GitDir = r.Dir
		if all[i].Linked {
			if all[i].GitDir = dirs[filepath.Clean(all[i].Top)]; all[i].GitDir == "" {
				return nil, fmt.Errorf("the repository lists a worktree at %s but has no record of it", all[i].Top)
			}
		}
	}
	return all, nil
}

// in calls git on a checkout, with every driver muted if git reads or writes the
// content of files there.
func (r Repo) in(ctx context.Context, c Checkout, k call) ([]byte, error) {
	if !k.listing {
		var err error
		if k.mute, err = r.neutral(ctx, c.GitDir); err != nil {
			return nil, err
		}
	}
	k.dir, k.repo = c.Top, []string{"--git-dir=" + c.GitDir, "--work-tree=" + c.Top}
	if c.Index != "" {
		k.env = append(k.env, "GIT_INDEX_FILE="+c.Index)
	}
	return r.bin.run(ctx, k)
}

// neutral returns settings that make every filter, merge driver and hook known to
// a checkout do nothing: they are programs. They are read where they will be used,
// because a linked worktree may have configuration of its own.
func (r Repo) neutral(ctx context.Context, gitDir string) ([]setting, error) {
	out, err := r.bin.run(ctx, call{
		dir: gitDir, repo: []string{"--git-dir=" + gitDir},
		args: []string{"config", "-z", "--includes", "--name-only", "--get-regexp", `^((filter|merge)\.|hook\..*\.)`},
	})
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	var mute []setting
	for _, key := range lines(out) {
		switch {
		case strings.HasPrefix(key, "hook."):
			mute = append(mute, setting{key[:strings.LastIndexByte(key, '.')] + ".enabled", "false"})
		case strings.HasPrefix(key, "merge.") && strings.HasSuffix(key, ".driver"):
			mute = append(mute, setting{key, "false"}) // a driver that fails is a conflict; an empty one would keep one side
		case strings.HasPrefix(key, "merge."):
		case strings.HasSuffix(key, ".required"):
			mute = append(mute, setting{key, "false"})
		default:
			mute = append(mute, setting{key, ""})
		}
	}
	return mute, nil
}

// withoutHooks returns such settings for a call that reads no file of a checkout, but may move a ref or write
// an index. core.hooksPath says nothing of hooks that a configuration defines (git 2.54).
func (r Repo) withoutHooks(ctx context.Context) ([]setting, error) {
	if !gitfile.Mentions(r.Dir, "[hook") {
		return nil, nil // the usual case needs no process
	}
	return r.neutral(ctx, r.Dir)
}

// Filters reports whether the repository's configuration names filter drivers,
// so that only the operator's own git can write its files correctly.
func (r Repo) Filters(ctx context.Context) (bool, error) {
	return r.FiltersIn(ctx, Checkout{GitDir: r.Dir})
}

// FiltersIn is Filters for one checkout, which may have configuration of its own.
func (r Repo) FiltersIn(ctx context.Context, c Checkout) (bool, error) {
	mute, err := r.neutral(ctx, c.GitDir)
	for _, s := range mute {
		if strings.HasPrefix(s.key, "filter.") {
			return true, err
		}
	}
	return false, err
}

// Change is one line of git status.
type Change struct {
	Code string `json:"code"` // two letters: index, working tree
	Path string `json:"path"`
}

// Staged reports whether the index differs from HEAD there.
func (c Change) Staged() bool { return c.Code[0] != ' ' && c.Code != "??" }

// fewPaths is how many paths a call is told of. For more, it looks at all of them.
const fewPaths = 200

// only limits a call to some paths, which mean nothing but themselves. None, and more than
// a few, mean all.
func only(c call, paths []string) call {
	if len(paths) > 0 && len(paths) <= fewPaths {
		c.env = append(c.env, "GIT_LITERAL_PATHSPECS=1")
		c.args = append(append(c.args, "--"), paths...)
	}
	return c
}

// Status lists what differs from HEAD in a checkout of the operator's. It may be limited to
// some paths, which in a large checkout is much quicker, and then lists at least those.
func (r Repo) Status(ctx context.Context, c Checkout, untracked bool, paths ...string) ([]Change, error) {
	mode := "--untracked-files=no"
	if untracked {
		mode = "--untracked-files=all"
	}
	config, err := r.lineEnds(ctx, c)
	if err != nil {
		return nil, err
	}
	args := []string{"status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", mode}
	out, err := r.in(ctx, c, only(call{config: config, args: args}, paths))
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, rec := range lines(out) {
		if len(rec) < 4 || rec[2] != ' ' {
			return nil, fmt.Errorf("unexpected answer from git status: %q", rec)
		}
		changes = append(changes, Change{Code: rec[:2], Path: rec[3:]})
	}
	return changes, nil
}

// HiddenBits lists the index entries whose changes git was told not to show, like Status.
func (r Repo) HiddenBits(ctx context.Context, c Checkout, paths ...string) ([]string, error) {
	out, err := r.in(ctx, c, only(call{listing: true, args: []string{"ls-files", "-z", "-v"}}, paths))
	if err != nil {
		return nil, err
	}
	var hidden []string
	for _, rec := range lines(out) {
		if len(rec) > 2 && rec[0] != 'H' && rec[0] != 'M' && rec[0] != 'R' && rec[0] != 'C' && rec[0] != 'K' && rec[0] != '?' {
			hidden = append(hidden, rec)
		}
	}
	return hidden, nil
}

// Conceal marks files of the index as not in the tree, which no worker has had yet:
// git neither looks for them there nor takes them for deleted.
func (r Repo) Conceal(ctx context.Context, c Checkout, paths []string) error {
	_, err := r.in(ctx, c, call{
		args:  []string{"update-index", "-z", "--skip-worktree", "--stdin"},
		stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	return err
}

// Progress is told how many files of how many have been written.
type Progress func(done, total int)

// raw makes git write and read a tree's files byte for byte: no end-of-line,
// ident, encoding or filter conversion, in the private repository it is put in.
const raw = "* -text -ident -filter !eol !working-tree-encoding !diff\n"

// Found makes a repository that was just made by Init take files byte for byte, and
// begin with a commit on a branch.
func (r Repo) Found(ctx context.Context, commit OID, branch string) error {
	info := filepath.Join(r.Dir, "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(raw), 0o644); err != nil {
		return err
	}
	const reason = "cordon: base"
	if name := "refs/heads/" + branch; gitfile.FirstRef(r.Dir, name, string(commit), reason) {
		return nil
	}
	return r.UpdateRef(ctx, "refs/heads/"+branch, commit, "", reason)
}

// Populate fills the empty directory top, whose private repository r was just
// made by Init, with the files of a commit, and leaves HEAD on branch.
func (r Repo) Populate(ctx context.Context, top string, commit OID, branch string, progress Progress) error {
	if err := r.Found(ctx, commit, branch); err != nil {
		return err
	}
	c := Checkout{Top: top, GitDir: r.Dir}
	meter := &meter{report: progress}
	_, err := r.in(ctx, c, call{
		config: []string{"core.fsync=none", "checkout.workers=1"}, stderr: meter, patience: -1, // it shows its progress
		args: []string{"read-tree", "-m", "-u", "-v", string(commit)},
	})
	return err
}

// meter reads git's own progress lines.
type meter struct {
	report Progress
	rest   string
}

var meterLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\((\d+)/(\d+)\)`) })

func (m *meter) Write(p []byte) (int, error) {
	if m.report == nil {
		return len(p), nil
	}
	m.rest += string(p)
	for {
		i := strings.IndexAny(m.rest, "\r\n")
		if i < 0 {
			return len(p), nil
		}
		if f := meterLine().FindStringSubmatch(m.rest[:i]); f != nil {
			done, _ := strconv.Atoi(f[1])
			total, _ := strconv.Atoi(f[2])
			m.report(done, total)
		}
		m.rest = m.rest[i+1:]
	}
}

// IgnoredWith lists the untracked files of a checkout that a pattern file in
// gitignore syntax matches and that the checkout's own rules ignore.
func (r Repo) IgnoredWith(ctx context.Context, c Checkout, patterns string) ([]string, error) {
	matched, err := r.in(ctx, c, call{listing: true, args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-from=" + patterns}})
	if err != nil {
		return nil, err
	}
	ignored, err := r.in(ctx, c, call{listing: true, args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}})
	if err != nil {
		return nil, err
	}
	both := map[string]bool{}
	for _, p := range lines(ignored) {
		both[p] = true
	}
	var paths []string
	for _, p := range lines(matched) {
		if both[p] {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// CheckIgnore returns those of the paths that the .gitignore files below top
// ignore. top is a directory of cordon's own that holds nothing else.
func (r Repo) CheckIgnore(ctx context.Context, top string, paths []string) (map[string]bool, error) {
	ignored := map[string]bool{}
	// A worker decides how many and how long they are: none is held twice.
	for len(paths) > 0 {
		var in strings.Builder
		n := 0
		for ; n < len(paths) && in.Len() < 8<<20; n++ {
			// A name may look like pathspec magic, which this command always reads.
			in.WriteString("./" + paths[n] + "\x00")
		}
		out, err := r.bin.run(ctx, call{
			dir: top, repo: []string{"--git-dir=" + r.Dir, "--work-tree=" + top},
			args:  []string{"check-ignore", "-z", "--stdin", "--no-index"},
			stdin: strings.NewReader(in.String()),
		})
		if err != nil && exitCode(err) != 1 {
			return nil, err
		}
		asked := paths[:n]
		for _, p := range lines(out) { // in the order of the question
			i := slices.Index(asked, strings.TrimPrefix(p, "./"))
			if i < 0 {
				return nil, fmt.Errorf("unexpected answer from git check-ignore: %q", p)
			}
			ignored[asked[i]] = true
			asked = asked[i:]
		}
		paths = paths[n:]
	}
	return ignored, nil
}

// ConfigValue reads one value of the repository's own configuration.
func (r Repo) ConfigValue(ctx context.Context, key string) (string, bool, error) {
	out, err := r.run(ctx, "config", "--local", "--includes", "-z", "--get", key)
	if exitCode(err) == 1 {
		return "", false, nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err == nil, err
}
