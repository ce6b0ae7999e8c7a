package gitfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shell runs a line in a directory, with no configuration of git's and nothing above that
// directory for git to find.
func shell(t *testing.T, dir, line string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", line)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// forms are directories that could be repositories. Each line runs in an empty directory,
// and ../repo is a repository with a commit.
var forms = map[string]string{
	"nothing":                                "true",
	"a repository":                           "git init -q",
	"a bare one":                             "git init -q --bare",
	"one of sha256":                          "git init -q --object-format=sha256",
	"a detached HEAD":                        "cp -R ../repo/.git .git; git checkout -q --detach",
	"a detached HEAD of sha256":              "git init -q --object-format=sha256; git commit -q --allow-empty -m x; git checkout -q --detach",
	"an empty .git":                          "mkdir .git",
	"an empty .git in a bare one":            "git init -q --bare; mkdir .git",
	"an empty file":                          ": > .git",
	"a .git of all but HEAD":                 "git init -q; rm .git/HEAD",
	"a .git of all but objects":              "git init -q; rm -r .git/objects",
	"a .git of all but refs":                 "git init -q; rm -r .git/refs",
	"a .git of no more than it takes":        "mkdir -p .git/objects .git/refs; echo 'ref: refs/heads/x' > .git/HEAD",
	"the same, bare":                         "mkdir objects refs; echo 'ref: refs/heads/x' > HEAD",
	"objects and refs that are programs":     "mkdir .git; echo 'ref: refs/heads/x' > .git/HEAD; : > .git/objects; : > .git/refs; chmod +x .git/*",
	"objects that lead nowhere":              "git init -q; rm -r .git/objects; ln -s nowhere .git/objects",
	"objects that lead somewhere":            "git init -q; mv .git/objects o; ln -s ../o .git/objects",
	"reftable":                               "git init -q; echo 'ref: refs/heads/.invalid' > .git/HEAD; rm -r .git/refs; mkdir .git/refs .git/reftable; : > .git/refs/heads",
	"a HEAD that is a link to no branch yet": "git init -q; ln -sf refs/heads/none .git/HEAD",
	"a HEAD that is a link to a branch":      "cp -R ../repo/.git .git; ln -sf refs/heads/main .git/HEAD",
	"a HEAD that is a link out of refs":      "git init -q; mv .git/HEAD .git/HEAD2; ln -s HEAD2 .git/HEAD",
	"a HEAD that is a link to nothing":       "git init -q; ln -sf nowhere .git/HEAD",
	"a HEAD that is empty":                   "git init -q; : > .git/HEAD",
	"a HEAD of a few digits":                 "git init -q; echo 0123456789abcdef > .git/HEAD",
	"a HEAD of enough digits":                "git init -q; printf 0123456789ABCDEFabcdef0123456789abcdef01 > .git/HEAD",
	"a HEAD of digits and more":              "git init -q; echo 0123456789abcdef0123456789abcdef01234567x > .git/HEAD",
	"a HEAD without a space":                 "git init -q; printf ref:refs/heads/x > .git/HEAD",
	"a HEAD with many":                       "git init -q; printf 'ref: \\t\\r\\n refs/' > .git/HEAD",
	"a HEAD with more than git reads":        "git init -q; printf 'ref:%300srefs/heads/x' '' > .git/HEAD",
	"a HEAD out of refs":                     "git init -q; echo 'ref: heads/x' > .git/HEAD",
	"a HEAD with a space before it":          "git init -q; echo ' ref: refs/heads/x' > .git/HEAD",
	"a .git that is a link":                  "ln -s ../repo/.git .git",
	"a .git that is a link to nothing":       "ln -s nowhere .git",
	"a .git that is a link to an empty one":  "mkdir e; ln -s e .git",
	"a .git that is a pipe":                  "mkfifo .git",
	"a .git in capitals":                     "git init -q; mv .git .GIT",
	"a linked worktree":                      "git -C ../repo worktree add -q --detach \"$PWD\"",
	"its git directory, entered":             "git -C ../repo worktree add -q --detach \"$PWD/../linked\"; rmdir \"$PWD\"; ln -s ../repo/.git/worktrees/linked \"$PWD\"",
	"a linked worktree of a bare repository": "git clone -q --bare ../repo ../bare; git -C ../bare worktree add -q --detach \"$PWD\"",
	"a linked worktree without its registry": "git -C ../repo worktree add -q --detach \"$PWD\"; rm -r ../repo/.git/worktrees",
	"a linked worktree without its objects":  "git -C ../repo worktree add -q --detach \"$PWD\"; rm -rf ../repo/.git/objects",
	"a commondir to nothing":                 "git init -q; echo nowhere > .git/commondir",
	"a commondir":                            "mkdir .git; echo \"$(cd ../repo && pwd)/.git\" > .git/commondir; echo 'ref: refs/heads/x' > .git/HEAD",
	"a .git file":                            "git init -q --separate-git-dir=../sep",
	"a .git file with a relative name":       "echo 'gitdir: ../repo/.git' > .git",
	"a .git file without a line end":         "printf 'gitdir: ../repo/.git' > .git",
	"a .git file with many":                  "{ echo 'gitdir: ../repo/.git'; head -c 100000 /dev/zero | tr '\\0' '\\n'; } > .git",
	"a .git file through a link":             "mkdir -p ../deep/er; ln -s ../deep/er l; echo 'gitdir: l/../../repo/.git' > .git",
	"a .git file that is a link":             "mkdir sub; echo 'gitdir: ../repo/.git' > sub/file; ln -s sub/file .git",
	"a .git file to an empty directory":      "mkdir e; echo 'gitdir: e' > .git",
	"a .git file to nothing":                 "echo 'gitdir: nowhere' > .git",
	"a .git file to a checkout":              "echo 'gitdir: ../repo' > .git",
	"a .git file to itself":                  "echo 'gitdir: .git' > .git",
	"a .git file that names nothing":         "echo 'gitdir: ' > .git",
	"a .git file without a space":            "echo 'gitdir:../repo/.git' > .git",
	"a .git file with only a name":           "echo ../repo/.git > .git",
	"a .git file with a zero":                "printf 'gitdir: ../repo/.git\\0junk' > .git",
}

// stricter are forms in which git finds nothing, or waits without an end. They count: what
// cannot be looked into may be a repository for somebody else, or soon.
var stricter = map[string]string{
	"a repository that only root can enter": "git init -q; chmod 0 .git",
	"refs that only root can enter":         "git init -q; chmod 0 .git/refs .git/objects",
	"a .git that is a link to itself":       "ln -s .git .git",
	"a HEAD that is a pipe":                 "git init -q; rm .git/HEAD; mkfifo .git/HEAD",
	"a HEAD that is a directory":            "git init -q; rm .git/HEAD; mkdir .git/HEAD",
	"a commondir that cannot be read":       "git init -q; mkdir .git/commondir",
	"a .git file that is too long":          "{ echo 'gitdir: ../repo/.git'; head -c 1100000 /dev/zero | tr '\\0' '\\n'; } > .git",
	"a bare one with a broken .git file":    "git init -q --bare; echo 'gitdir: nowhere' > .git",
}

// What counts as a repository is what git takes for one, and leads where git goes.
func TestHere(t *testing.T) {
	for name, line := range forms {
		t.Run(name, func(t *testing.T) {
			top := ground(t, line)
			out, err := shell(t, top, "git -c safe.bareRepository=all -c safe.directory='*' rev-parse --path-format=absolute --git-dir --git-common-dir")
			var got, want []string
			if err == nil {
				want = strings.Split(out, "\n")
			}
			if p, ok := Here(top); ok {
				got = []string{p.GitDir, p.Common}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, and git says %q (%s)", got, want, out)
			}
		})
	}
	for name, line := range stricter {
		t.Run(name, func(t *testing.T) {
			if _, ok := Here(ground(t, line)); !ok {
				t.Error("it does not count")
			}
		})
	}
}

// ground is a directory in which a line ran, beside a repository with a commit.
func ground(t *testing.T, line string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = shell(t, dir, "chmod -R u+rwX .") }) // so that it can be removed
	for _, l := range []string{"mkdir top; git init -q -b main repo; git -C repo commit -q --allow-empty -m x", "cd top; " + line} {
		if out, err := shell(t, dir, l); err != nil {
			t.Fatalf("%s: %v: %s", l, err, out)
		}
	}
	return filepath.Join(dir, "top")
}

// A directory lies in the checkouts of every repository above it, wherever the way there
// begins, and in no others.
func TestCheckoutsAround(t *testing.T) {
	dir := filepath.Dir(ground(t, "mkdir -p a/.git a/b; cd ..; git -C repo worktree add -q --detach ../top/a/w; mkdir top/a/w/sub; ln -s top/a/w/sub link; "+
		"git clone -q --bare repo bare; git -C bare worktree add -q --detach ../of"))
	for at, want := range map[string][]string{
		"top/a/b":       nil,
		"top/a/w/sub":   {"top/a/w", "repo", "top/a/w"},
		"link":          {"top/a/w", "repo", "top/a/w"},
		"repo/.git/sub": {"repo/.git", "repo", "top/a/w", "repo", "repo", "top/a/w"},
		"of":            {"of", "of"},
		"bare":          {"bare", "of"},
	} {
		var got []string
		for _, top := range CheckoutsAround(filepath.Join(dir, at)) {
			if rel, err := filepath.Rel(dir, top); err == nil && filepath.IsLocal(rel) { // what is above is of this machine
				got = append(got, rel)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}
