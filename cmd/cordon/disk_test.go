package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// mounted runs a shell script in a mount namespace of its own, where it may
// mount things without being root outside of it.
func (s *site) mounted(script string) string {
	s.t.Helper()
	if runtime.GOOS != "linux" {
		s.t.Skip("mount namespaces are Linux's")
	}
	if out, err := exec.Command("unshare", "-rm", "true").CombinedOutput(); err != nil {
		s.t.Skipf("this machine lets nobody make a mount namespace: %v %s", err, out)
	}
	cmd := exec.Command("unshare", "-rm", "sh", "-euc", script)
	cmd.Dir, cmd.Env = s.repo, append(s.env, "PLACE="+s.place(""))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// digest names every file of the state and of the host's git directory with its
// content.
func (s *site) digest() string {
	s.t.Helper()
	out, err := exec.Command("sh", "-c", `cd "$1" && find state repo -type f ! -name '*lock' | LC_ALL=C sort | xargs -d '\n' sha256sum`, "sh",
		s.place("")).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestReadOnlyState(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", clean)
	id := s.only().Worker
	before := s.digest()
	out := s.mounted(strings.ReplaceAll(`
		mount --bind "$PLACE/state" "$PLACE/state"
		mount -o remount,bind,ro "$PLACE/state"
		! touch "$PLACE/state/x" 2>/dev/null
		reads() { cordon "$@" >/dev/null || { echo "cordon $* failed"; exit 1; }; }
		reads ls; reads ls --json; reads show ID; reads log; reads log verify; reads logs ID; reads audit ID
		refuses() {
			if said=$(cordon "$@" 2>&1 >/dev/null); then echo "cordon $* went through"; exit 1; fi
			echo "$said" | grep '^cordon: ' | grep -q 'read-only file system' || { echo "cordon $*: $said"; exit 1; }
		}
		refuses run -- true; refuses merge ID; refuses discard --yes ID; refuses gc --yes; refuses resume ID
		echo held`, "ID", id))
	if !strings.HasSuffix(out, "held\n") {
		t.Errorf("output: %s", out)
	}
	if s.digest() != before {
		t.Error("something changed")
	}
	s.cordon([]int{0}, "merge", id)
	s.mergedOnce("src/b.txt", "new")
}

// TestFullDisk has the state on a disk that fills up, a little later each time:
// whatever cannot be written, cordon ends with an error and goes on when there
// is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const script = `
		mkdir "$PLACE/disk"
		mount -t tmpfs -o size=32m none "$PLACE/disk"
		export XDG_STATE_HOME="$PLACE/disk"
		cordon run --no-merge -- true >/dev/null 2>&1
		cordon discard --yes "$(cordon ls | tail -n 1 | cut -d' ' -f1)" >/dev/null
		free=$(df -k --output=avail "$PLACE/disk" | tail -n 1)
		head -c $(((free - FREE) * 1024)) /dev/zero >"$PLACE/disk/ballast"
		code=0; cordon run --merge -- sh -c 'echo more >src/b.txt; head -c BIG /dev/urandom >src/big; echo done' >"$PLACE/out" 2>&1 || code=$?
		echo "code $code: $(grep '^cordon: ' "$PLACE/out" | head -n 1)"
		cordon log verify >/dev/null
		cordon ls >"$PLACE/ls"
		git fsck --strict >/dev/null 2>&1
		test -z "$(git status --porcelain)"
		rm "$PLACE/disk/ballast"
		test $code -eq 1
		grep -Eq '[Nn]o space left|Out of diskspace' "$PLACE/out"
		id=$(tail -n 1 "$PLACE/ls" | cut -d' ' -f1)
		if test "$(wc -l <"$PLACE/ls")" -gt 2; then
			echo "then $(tail -n 1 "$PLACE/ls")"
			cordon resume "$id"
		else
			cordon run --merge -- sh -c 'echo more >src/b.txt'
		fi
		cordon log verify >/dev/null
		test "$(git show main:src/b.txt)" = more
		test "$(git rev-list --count main)" -eq 2
		test -z "$(git status --porcelain)"
		echo went on`
	for _, room := range []struct{ free, big int }{ // KiB, bytes
		{0, 0},          // for the lease
		{12, 0},         // for the worktree
		{48, 0},         // for the start
		{52, 0},         // for the end
		{600, 0},        // for the audit
		{4600, 3 << 20}, // for the gate
	} {
		t.Run(fmt.Sprintf("%d KiB free", room.free), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			free := strings.NewReplacer("FREE", fmt.Sprint(room.free), "BIG", fmt.Sprint(room.big))
			if out := s.mounted(free.Replace(script)); !strings.HasSuffix(out, "went on\n") {
				t.Error(out)
			}
		})
	}
}

// Only git's own words say that a disk is full, and then a result waits. A name that says so leads to quarantine, like
// every other failure.
func TestNameLikeAFullDisk(t *testing.T) {
	t.Parallel()
	for says, status := range map[string]string{
		"fatal: unable to write: No space left on device":        "finished",
		"fatal: bad object in src/a: No space left on device.go": "quarantined",
	} {
		s := newSite(t)
		r := s.start(s.otherGit("fast-import", fmt.Sprintf("cat >/dev/null; echo '%s' >&2; exit 128", says)), "run", "--merge", "--", "sh", "-c", clean)
		r.awaitEnd()
		if w := s.only(); w.Status != status {
			t.Errorf("%s: it is %q\n%s%s", says, w.Status, r.out.String(), r.errs.String())
		}
	}
}
