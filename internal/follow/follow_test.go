package follow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/testfile"
)

// landed is a checkout whose branch has just been moved from old to new under
// it, as the gate does.
type landed struct {
	git.Host
	c        git.Checkout
	old, new git.OID
}

// land makes a repository, and a next commit that the branch is moved to while
// the checkout stays.
func land(t *testing.T, before, change map[string]string) landed {
	t.Helper()
	return landWith(t, nil, before, change)
}

// landWith is land in a repository that some git commands were run in first.
func landWith(t *testing.T, set []string, before, change map[string]string) landed {
	t.Helper()
	top := filepath.Join(t.TempDir(), "repo")
	write(t, filepath.Join(top, "keep"), "k\n")
	plain(t, top, "init", "-q", "-b", "main")
	for _, line := range set {
		plain(t, top, strings.Fields(line)...)
	}
	enter(t, top, before)
	old := oid(t, top, "HEAD")
	enter(t, top, change)
	l := landed{old: old, new: oid(t, top, "HEAD")}
	plain(t, top, "reset", "-q", "--hard", string(old))
	l.discover(t, top)
	return l
}

// discover finds the repository and its one checkout.
func (l *landed) discover(t *testing.T, top string) {
	t.Helper()
	ctx := context.Background()
	bin, err := git.Find(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if l.Host, err = git.Discover(ctx, bin, top); err != nil {
		t.Fatal(err)
	}
	all, err := l.Checkouts(ctx)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	l.c = all[0]
}

// enter commits files; an empty one is removed.
func enter(t *testing.T, top string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if content == "" {
			plain(t, top, "rm", "-q", name)
		}
	}
	for name, content := range files {
		if content != "" {
			write(t, filepath.Join(top, name), content)
		}
	}
	plain(t, top, "add", "-A")
	plain(t, top, "commit", "-q", "-m", "files")
}

func oid(t *testing.T, top, rev string) git.OID {
	t.Helper()
	return git.OID(plain(t, top, "rev-parse", rev))
}

func plain(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryPlain(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryPlain(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Operator", "GIT_AUTHOR_EMAIL=operator@example.com", "GIT_COMMITTER_NAME=Operator", "GIT_COMMITTER_EMAIL=operator@example.com")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// write and read are files of a test's own.
var write, read = testfile.Write, testfile.Read

func (l landed) begin(t *testing.T) (*Step, error) {
	t.Helper()
	return Begin(context.Background(), l.Repo, l.c, Move{"refs/heads/main", l.old, l.new}, t.TempDir())
}

// advance lets the checkout follow, unless something is in the way.
func (l landed) advance(t *testing.T, dry bool) error {
	t.Helper()
	s, err := l.begin(t)
	if err != nil {
		return err
	}
	if len(s.Blocked) > 0 || dry {
		s.Drop()
	}
	switch {
	case len(s.Blocked) > 0:
		return fmt.Errorf("blocked %q", s.Blocked)
	case dry:
		return nil
	}
	return s.finish(t)
}

// catchUp lets it follow whatever is in the way, as after a kill.
func (l landed) catchUp(t *testing.T) error {
	t.Helper()
	s, err := l.begin(t)
	if err != nil {
		return err
	}
	return s.finish(t)
}

func (l landed) move(t *testing.T) {
	t.Helper()
	if err := l.UpdateRef(context.Background(), "refs/heads/main", l.new, l.old, "t"); err != nil {
		t.Fatal(err)
	}
}

func (l landed) clean(t *testing.T) {
	t.Helper()
	if got := plain(t, l.Top, "status", "--porcelain"); got != "" {
		t.Errorf("the checkout is not clean:\n%s", got)
	}
}

func (l landed) path(name string) string { return filepath.Join(l.Top, name) }

var (
	before = map[string]string{"keep": "k\n", "edit": "1\n", "gone/away": "g\n", "becomes": "file\n", "was/dir": "d\n"}
	change = map[string]string{"edit": "2\n", "gone/away": "", "new/file": "n\n", "link": "x\n"}
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	write(t, l.path("untracked"), "mine\n")
	for name, content := range map[string]string{"keep": "k\n", "edit": "1\n"} { // touched, not changed
		if err := os.Remove(l.path(name)); err != nil {
			t.Fatal(err)
		}
		write(t, l.path(name), content)
	}
	if err := l.advance(t, true); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l.path("edit")); got != "1\n" {
		t.Errorf("a dry run wrote %q", got)
	}
	l.move(t)
	if got := plain(t, l.Top, "status", "--porcelain", "-uno"); got == "" {
		t.Fatal("moving the branch alone leaves the checkout clean: the test proves nothing")
	}
	for range 2 { // it may be repeated
		if err := l.advance(t, false); err != nil {
			t.Fatal(err)
		}
		if got := plain(t, l.Top, "status", "--porcelain"); got != "?? untracked" {
			t.Errorf("status: %q", got)
		}
	}
	if read(t, l.path("edit")) != "2\n" || read(t, l.path("new/file")) != "n\n" || read(t, l.path("untracked")) != "mine\n" {
		t.Error("the files did not follow")
	}
	if _, err := os.Stat(l.path("gone")); err == nil {
		t.Error("a deleted file's directory stayed")
	}
}

// Git writes the files, then the index; whatever it was killed in between, doing
// it again completes it.
func TestAdvanceAfterInterruption(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(*testing.T, landed){
		"before anything":      func(*testing.T, landed) {},
		"one file was written": func(t *testing.T, l landed) { write(t, l.path("edit"), "2\n") },
		"a new file was written": func(t *testing.T, l landed) {
			write(t, l.path("new/file"), "n\n")
		},
		"a file was deleted": func(t *testing.T, l landed) {
			if err := os.RemoveAll(l.path("gone")); err != nil {
				t.Fatal(err)
			}
		},
		"everything but the index": func(t *testing.T, l landed) {
			write(t, l.path("edit"), "2\n")
			write(t, l.path("new/file"), "n\n")
			write(t, l.path("link"), "x\n")
			if err := os.RemoveAll(l.path("gone")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := land(t, before, change)
			l.move(t)
			interrupt(t, l)
			if err := l.catchUp(t); err != nil {
				t.Fatal(err)
			}
			l.clean(t)
		})
	}
}

// Every byte that git does not have elsewhere is left alone.
func TestAdvanceLosesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mine   func(*testing.T, landed)
		file   string
		want   string
		change map[string]string
	}{
		"edited": {
			mine: func(t *testing.T, l landed) { write(t, l.path("edit"), "mine\n") }, file: "edit", want: "mine\n",
		},
		"staged": {
			mine: func(t *testing.T, l landed) {
				write(t, l.path("edit"), "mine\n")
				plain(t, l.Top, "add", "edit")
			}, file: "edit", want: "mine\n",
		},
		"deleted there, edited here": {
			mine: func(t *testing.T, l landed) { write(t, l.path("gone/away"), "mine\n") }, file: "gone/away", want: "mine\n",
		},
		"untracked": {
			mine: func(t *testing.T, l landed) { write(t, l.path("new/file"), "mine\n") }, file: "new/file", want: "mine\n",
		},
		"ignored by .git/info/exclude": {
			mine: func(t *testing.T, l landed) {
				write(t, filepath.Join(l.Dir, "info", "exclude"), "new/\n")
				write(t, l.path("new/file"), "mine\n")
			}, file: "new/file", want: "mine\n",
		},
		"ignored by an untracked .gitignore": {
			mine: func(t *testing.T, l landed) {
				write(t, l.path("new/.gitignore"), "*\n")
				write(t, l.path("new/file"), "mine\n")
			}, file: "new/file", want: "mine\n",
		},
		"an ignored file where a directory is to be": {
			mine: func(t *testing.T, l landed) {
				write(t, filepath.Join(l.Dir, "info", "exclude"), "new\n")
				write(t, l.path("new"), "mine\n")
			}, file: "new", want: "mine\n",
		},
		"an ignored directory where a file is to be": {
			mine: func(t *testing.T, l landed) {
				write(t, filepath.Join(l.Dir, "info", "exclude"), "link\n")
				write(t, l.path("link/mine"), "mine\n")
			}, file: "link/mine", want: "mine\n",
		},
		"an ignored file in a directory that becomes a file": {
			change: map[string]string{"was/dir": "", "was": "file now\n"},
			mine: func(t *testing.T, l landed) {
				write(t, filepath.Join(l.Dir, "info", "exclude"), "was/mine\n")
				write(t, l.path("was/mine"), "mine\n")
			}, file: "was/mine", want: "mine\n",
		},
		"assume-unchanged": {
			mine: func(t *testing.T, l landed) {
				plain(t, l.Top, "update-index", "--assume-unchanged", "edit")
				write(t, l.path("edit"), "mine\n")
			}, file: "edit", want: "mine\n",
		},
		"skip-worktree": {
			mine: func(t *testing.T, l landed) {
				plain(t, l.Top, "update-index", "--skip-worktree", "edit")
				write(t, l.path("edit"), "mine\n")
			}, file: "edit", want: "mine\n",
		},
		"same size and time": {mine: sameStat, file: "edit", want: "9\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := change
			if c.change != nil {
				next = map[string]string{}
				for k, v := range c.change {
					next[k] = v
				}
			}
			l := land(t, before, next)
			c.mine(t, l)
			index := read(t, filepath.Join(l.Dir, "index"))
			for _, dry := range []bool{true, false} {
				if err := l.advance(t, dry); err == nil {
					t.Errorf("dry %v: no refusal", dry)
				}
				if got := read(t, l.path(c.file)); got != c.want {
					t.Errorf("dry %v: %s is %q now", dry, c.file, got)
				}
			}
			if got := plain(t, l.Top, "ls-files", "-s"); !strings.Contains(got, "keep") {
				t.Errorf("the index is %q, was %d bytes", got, len(index))
			}
		})
	}
}

// sameStat edits a file so that a repository configured to trust size and
// seconds does not see it.
func sameStat(t *testing.T, l landed) {
	t.Helper()
	plain(t, l.Top, "config", "core.checkStat", "minimal")
	plain(t, l.Top, "config", "core.trustctime", "false")
	past := time.Unix(1_700_000_000, 0)
	for _, content := range []string{"1\n", "9\n"} {
		write(t, l.path(".git/edit"), content) // another file of that name, so that only the inode tells
		if err := os.Chtimes(l.path(".git/edit"), past, past); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(l.path(".git/edit"), l.path("edit")); err != nil {
			t.Fatal(err)
		}
		plain(t, l.Top, "status") // refreshes the index
	}
	if got := plain(t, l.Top, "status", "--porcelain"); got != "" {
		t.Fatalf("plain status sees %q: nothing is hidden", got)
	}
}

// What is staged is somebody's too, even when the file itself is already what it
// is to become.
func TestAdvanceKeepsTheIndex(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	write(t, l.path("edit"), "staged\n")
	plain(t, l.Top, "add", "edit")
	write(t, l.path("edit"), "2\n")
	if err := l.advance(t, false); err == nil {
		t.Error("no refusal")
	}
	if got := plain(t, l.Top, "show", ":edit"); got != "staged" {
		t.Errorf("the index holds %q now", got)
	}
}

// A directory that leaves with all its files makes room; so does a file that
// becomes a directory.
func TestAdvanceMakesRoom(t *testing.T) {
	t.Parallel()
	l := land(t, before, map[string]string{"was/dir": "", "was": "file now\n"})
	l.move(t)
	if err := l.advance(t, false); err != nil {
		t.Fatal(err)
	}
	l.clean(t)
	// And back: the file leaves, the directory comes.
	if err := l.UpdateRef(context.Background(), "refs/heads/main", l.old, l.new, "t"); err != nil {
		t.Fatal(err)
	}
	l.old, l.new = l.new, l.old
	if err := l.advance(t, false); err != nil {
		t.Fatal(err)
	}
	l.clean(t)
}

func TestAdvanceNamesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	write(t, filepath.Join(l.Dir, "info", "exclude"), "new/\n")
	write(t, l.path("new/file"), "mine\n")
	if got := plain(t, l.Top, "status", "--porcelain"); got != "" {
		t.Fatalf("plain status sees %q: the file is not ignored", got)
	}
	s, err := l.begin(t)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Obstacle{{"new/file", WhyUntracked}}; !slices.Equal(s.Blocked, want) {
		t.Errorf("got %v", s.Blocked)
	}
	s.Drop()
	// Positive control: git itself overwrites it.
	plain(t, l.Top, "read-tree", "-m", "-u", string(l.old), string(l.new))
	if got := read(t, l.path("new/file")); got != "n\n" {
		t.Errorf("plain read-tree left %q: the refusal is not needed", got)
	}
}

// finish is what the gate does once the branch has moved.
func (s *Step) finish(t *testing.T) error {
	t.Helper()
	return errors.Join(s.Carry(context.Background()), s.Release())
}
