package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// armRepository makes a repository at $1 that touches $VICTIM/PWNED, wherever it lies.
const armRepository = `
arm() { mkdir -p $1 && git init -q $1 && git --git-dir=$1/.git config core.fsmonitor "touch $VICTIM/PWNED; false" &&
git --git-dir=$1/.git config core.worktree $TREE; }
`

// useEverywhere asks git for its status in directories that cannot be listed, and in all
// that can, with those of cordon's own.
const useEverywhere = `
find . $STATE/cordon/aside -type d >$VICTIM/dirs 2>/dev/null
for d in . a a/b .git .git/x $(cat $VICTIM/dirs); do git -C $d status; done >/dev/null 2>&1
chmod -R u+rwx . || exit 1
for d in . a a/b; do git -C $d status; done >/dev/null 2>&1
true
`

// plantLocked runs an attack with and without cordon, uses git in all directories that are
// left, and returns what cordon said.
func plantLocked(t *testing.T, s *site, state, attack string) string {
	t.Helper()
	dir := plainDirectory(s)
	pwned := filepath.Join(filepath.Dir(s.write("victim/x", "x\n")), "PWNED")
	s.env = append(s.env, "VICTIM="+filepath.Dir(pwned), "TREE="+dir, "XDG_STATE_HOME="+state, "STATE="+state)
	script := s.write("attack.sh", "set -e\nVICTIM="+filepath.Dir(pwned)+" TREE="+dir+armRepository+attack+"\n")
	use := s.write("use.sh", useEverywhere)
	operatorShell(s, dir, s.env, nil, "-c", "sh "+script+" && . "+use)
	if os.Remove(pwned) != nil {
		t.Fatal("without cordon the attack does nothing: this shows nothing")
	}
	operatorShell(s, dir, s.env, nil, "-c", "rm -rf a .git")
	cell := s.write("plain/attack.sh", "set -e\nVICTIM="+filepath.Dir(pwned)+" TREE="+dir+armRepository+attack+"\n")
	out := operatorShell(s, dir, s.env, nil, "-c", "cordon exec -- sh "+cell+"; . "+use)
	if _, err := os.Lstat(pwned); err == nil || strings.Contains(out, "CAREFUL") || !strings.Contains(out, " aside as ") {
		t.Errorf("git ran what the command left, or cordon did not look: %v\n%s", err, out)
	}
	return out
}

// lockedAttacks lock what they leave, or arm it twice. For the superuser no lock counts.
var lockedAttacks = map[string]string{
	"the top":                     "arm . && chmod 111 .",
	"the top without listing":     "arm . && chmod 311 .",
	"a directory":                 "arm a && chmod 111 a",
	"directories":                 "arm a/b && chmod 111 a/b a",
	"closed directories":          "arm a/b && chmod 000 a/b a",
	"directories without a way":   "arm a/b && chmod 444 a/b a",
	"a .git":                      "arm . && chmod 111 .git",
	"a .git that cannot change":   "arm . && chmod 555 .git",
	"a closed .git":               "arm a && chmod 000 a/.git",
	"a .git in a .git":            "arm . && arm .git",
	"a .git in a locked .git":     "arm . && arm .git && chmod 111 .git",
	"a repository in a .git":      "arm . && arm .git/x && chmod 111 .git/x",
	"the name of a disarmed HEAD": "arm . && mkdir -p .git/HEAD.disarmed/x",
}

func TestExecLockedIsSearched(t *testing.T) {
	t.Parallel()
	for name, attack := range lockedAttacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			plantLocked(t, s, s.place("state"), attack)
		})
	}
}

// The same where cordon's state lies on another file system, so that what is placed is copied.
func TestExecStateElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"the top", "a .git", "a .git in a .git", "a repository in a .git", "the name of a disarmed HEAD"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, attack := newSite(t), lockedAttacks[name]
			state, err := os.MkdirTemp("/dev/shm", "cordon-test-")
			if err != nil {
				t.Skipf("there is no other file system: %v", err)
			}
			t.Cleanup(func() { os.RemoveAll(state) })
			var here, there unix.Stat_t
			if unix.Stat(s.repo, &here) != nil || unix.Stat(state, &there) != nil || here.Dev == there.Dev {
				t.Skip("/dev/shm is no other file system")
			}
			plantLocked(t, s, state, attack)
		})
	}
}

// Directories that a command has locked are as it left them.
func TestExecLeavesModes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	s.cordon([]int{0}, "-C", dir, "exec", "--", "sh", "-c", "mkdir -p a/b && chmod 111 a/b && chmod 444 a && chmod 711 .")
	out := operatorShell(s, dir, s.env, nil, "-c", "stat -c %a . a && chmod 755 a && stat -c %a a/b; chmod -R 755 .")
	if got := strings.Fields(out); len(got) != 3 || strings.Join(got, " ") != "711 444 111" {
		t.Errorf("the modes are %v", got)
	}
}
