package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A new repository with plain settings stays only if nothing else in it leads out of the
// tree or to a program. Each attack leaves a trace outside when the operator uses git.
func TestExecPlainSettingsAreNotEnough(t *testing.T) {
	t.Parallel()
	const begin = `set -e
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
git init -q -b main d && cd d && echo 1 >f && git add f && git commit -q -m one && rm -rf .git/hooks
mkdir -p .git/branches
CODE='x;touch${IFS}PWNED;'
`
	for name, c := range map[string]struct{ attack, use string }{
		"the log of HEAD is a link": {`git checkout -q -b "$CODE" && rm .git/logs/HEAD && ln -s $VICTIM/.bashrc .git/logs/HEAD`, `git checkout -q main`},
		"the log of a branch is a link": {`git checkout -q -b "$CODE" && rm .git/logs/refs/heads/main && ln -s $VICTIM/.bashrc .git/logs/refs/heads/main`,
			`git checkout -q main && git commit -q --allow-empty -m two`},
		"the directory of refs is a link": {`git pack-refs --all && rmdir .git/refs/heads && ln -s $VICTIM .git/refs/heads`, `git commit -q --allow-empty -m two`},
		"directories of objects are links": {`cd .git/objects && for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do for j in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
[ -d $i$j ] || ln -s $VICTIM $i$j; done; done`, `for m in 2 3 4 5; do git commit -q --allow-empty -m $m; done`}, // one may have a real directory
		"a remote of the oldest kind": {`echo "ext::sh -c touch% $VICTIM/PWNED" >.git/branches/origin`, `git fetch -q || true`},
		"a remote of the old kind":    {`mkdir .git/remotes && echo "URL: ext::sh -c touch% $VICTIM/PWNED" >.git/remotes/origin`, `git fetch -q || true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dir := plainDirectory(s)
			s.git("config", "--global", "protocol.ext.allow", "always")
			s.git("config", "--global", "gc.auto", "0")
			victim := filepath.Dir(s.write("victim/.bashrc", "# rc\n"))
			s.env = append(s.env, "VICTIM="+victim)
			attack := s.write("plain/attack.sh", begin+"VICTIM="+victim+"\n"+c.attack+"\n")
			untouched := func() bool {
				entries, err := os.ReadDir(victim)
				rc, rerr := os.ReadFile(filepath.Join(victim, ".bashrc"))
				if err != nil || rerr != nil {
					t.Fatal(err, rerr)
				}
				return len(entries) == 1 && string(rc) == "# rc\n"
			}
			operatorShell(s, dir, s.env, nil, "-c", "sh attack.sh && cd d && "+c.use)
			if untouched() {
				t.Fatal("without cordon the attack does nothing: this shows nothing")
			}
			if err := os.RemoveAll(victim); err != nil {
				t.Fatal(err)
			}
			s.write("victim/.bashrc", "# rc\n")
			out := operatorShell(s, dir, s.env, nil, "-c", "rm -rf d && cordon exec -- sh "+attack+" && cd d && { "+c.use+" || true; }")
			if !untouched() || !strings.Contains(out, "/d/.git aside as ") {
				t.Errorf("the operator's git left the tree, or the repository stayed\n%s", out)
			}
		})
	}
}
