package follow

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// act changes a file of a checkout as an operator would.
type act struct {
	name string
	do   func(t *testing.T, top, file, landed string)
}

func save(content string) func(t *testing.T, top, file, landed string) {
	return func(t *testing.T, top, file, _ string) { write(t, filepath.Join(top, file), content) }
}

// acts are what an operator may have done to a file; landed is what the move writes there.
var acts = []act{
	{"nothing", func(*testing.T, string, string, string) {}},
	{"edited", save("mine\n")},
	{"staged", func(t *testing.T, top, file, _ string) {
		write(t, filepath.Join(top, file), "mine\n")
		plain(t, top, "add", file)
	}},
	{"staged, then edited", func(t *testing.T, top, file, _ string) {
		write(t, filepath.Join(top, file), "mine\n")
		plain(t, top, "add", file)
		write(t, filepath.Join(top, file), "mine again\n")
	}},
	{"staged, then back", func(t *testing.T, top, file, _ string) {
		old, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			old = []byte("nothing was there\n")
		}
		write(t, filepath.Join(top, file), "mine\n")
		plain(t, top, "add", file)
		write(t, filepath.Join(top, file), string(old))
	}},
	{"staged as it lands", func(t *testing.T, top, file, landed string) {
		write(t, filepath.Join(top, file), landed)
		plain(t, top, "add", file)
	}},
	{"staged as it lands, then edited", func(t *testing.T, top, file, landed string) {
		write(t, filepath.Join(top, file), landed)
		plain(t, top, "add", file)
		write(t, filepath.Join(top, file), "mine\n")
	}},
	{"removed from the index", func(t *testing.T, top, file, _ string) {
		plain(t, top, "rm", "-q", "--cached", "--ignore-unmatch", file)
	}},
	{"made executable", func(t *testing.T, top, file, _ string) {
		_ = os.Chmod(filepath.Join(top, file), 0o755) // where there is one
	}},
}

// Where git merge --ff-only goes through over the operator's changes, a step does, and
// with the same result; where git refuses, a step does.
func TestGoesThroughWhereGitDoes(t *testing.T) {
	t.Parallel()
	first := land(t, map[string]string{"touched": "old\n", "other": "other\n", "removed": "r\n"},
		map[string]string{"touched": "new\n", "added": "added\n", "removed": ""})
	through, refused := 0, 0
	for _, file := range []string{"touched", "added", "other"} {
		for _, a := range acts {
			ours, theirs := twin(t, first, a, file), twin(t, first, a, file)
			out, failed := tryPlain(t, theirs.c.Top, "merge", "-q", "--ff-only", string(theirs.new))
			err := ours.advance(t, false)
			if (failed == nil) != (err == nil) {
				t.Errorf("%s %s: git says %v (%s), a step says %v", file, a.name, failed, out, err)
				continue
			}
			if refused++; err == nil {
				refused--
				through++
				plain(t, ours.c.Top, "update-ref", "refs/heads/main", string(ours.new))
			}
			if mine, gits := state(t, ours.c.Top), state(t, theirs.c.Top); mine != gits {
				t.Errorf("%s %s: a step leaves\n%s\ngit leaves\n%s", file, a.name, mine, gits)
			}
		}
	}
	if through < len(acts) || refused == 0 {
		t.Errorf("%d went through, %d were refused", through, refused)
	}
}

// twin is a copy of a checkout before a move that changes one file, adds one and removes
// one, in which the operator has done something.
func twin(t *testing.T, first landed, a act, file string) landed {
	t.Helper()
	top := filepath.Join(t.TempDir(), "repo")
	if out, err := exec.Command("cp", "-a", first.c.Top, top).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	plain(t, top, "update-index", "-q", "--refresh") // the copies are other files
	l := landed{old: first.old, new: first.new}
	l.discover(t, top)
	a.do(t, l.c.Top, file, map[string]string{"touched": "new\n", "added": "added\n", "other": "other\n"}[file])
	return l
}

// state is what a checkout holds: index, changes and files.
func state(t *testing.T, top string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, plain(t, top, "ls-files", "-s"))
	fmt.Fprintln(&b, plain(t, top, "status", "--porcelain"))
	for _, name := range []string{"touched", "added", "other", "removed"} {
		content, err := os.ReadFile(filepath.Join(top, name))
		fmt.Fprintf(&b, "%s %q %v\n", name, content, err == nil)
	}
	return b.String()
}
