package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a linked worktree's .git leads to, whether it is there at all, and what is
// staged under a change are compared too: git status of the main checkout says
// nothing of the first two, and the same letters of the third.
func TestTripwireWatchesCheckouts(t *testing.T) {
	wanted := map[string]string{"repointed": "/wt/.git", "removed": "/wt", "staged": "/t.txt"}
	for name, act := range map[string]func(t *testing.T, top, wt string, git func(string, ...string)){
		"repointed": func(t *testing.T, top, wt string, git func(string, ...string)) {
			must(t, os.WriteFile(filepath.Join(wt, ".git"), []byte("gitdir: /elsewhere\n"), 0o644))
		},
		"removed": func(t *testing.T, top, wt string, git func(string, ...string)) { must(t, os.RemoveAll(wt)) },
		"staged": func(t *testing.T, top, wt string, git func(string, ...string)) {
			must(t, os.WriteFile(filepath.Join(top, "t.txt"), []byte("other\n"), 0o644))
			git(top, "add", "t.txt")
			must(t, os.WriteFile(filepath.Join(top, "t.txt"), []byte("worked\n"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := host(t)
			git := func(dir string, args ...string) {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			plant(t, h.Top, map[string]string{"t.txt": "base\n"})
			git(h.Top, "add", "t.txt")
			git(h.Top, "commit", "-qm", "t")
			wt := filepath.Join(t.TempDir(), "wt")
			git(h.Top, "worktree", "add", "-q", wt)
			must(t, os.WriteFile(filepath.Join(h.Top, "t.txt"), []byte("staged\n"), 0o644))
			git(h.Top, "add", "t.txt")
			must(t, os.WriteFile(filepath.Join(h.Top, "t.txt"), []byte("worked\n"), 0o644))
			before := baseline(t, h)
			if found := compare(t, h, before, Expected{}); len(found) > 0 {
				t.Fatalf("the control finds %+v", found)
			}
			act(t, h.Top, wt, git)
			found := compare(t, h, before, Expected{})
			if len(found) == 0 || found[0].Class != Violation || !strings.HasSuffix(string(found[0].Path), wanted[name]) {
				t.Errorf("found %+v", found)
			}
		})
	}
}
