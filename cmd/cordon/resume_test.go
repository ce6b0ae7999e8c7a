package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// returning is a worker that leaves something of every kind, says so, and goes on
// until something ends it. The second time it says what it finds.
const returning = `
set -e
if ! test -e src/left; then
	echo one >src/left; git add src/left; git commit -qm first
	echo two >>src/left; git commit -qam second
	echo staged >src/staged; git add src/staged
	echo loose >>src/a.txt
	rm docs/d.txt
	git branch idea HEAD~1
	mkdir -p "$HOME/.cache/agent"; echo memory >"$HOME/.cache/agent/memory"
	echo ready >src/ready
	ENDLESS
fi
{
	cat src/left src/a.txt "$HOME/.cache/agent/memory"
	git log --format=%s -n 3
	git log --format=%s -n 1 idea
	git diff --cached --name-only
	git status --porcelain
	test ! -e docs/d.txt
} >/tmp/found
mv /tmp/found src/found`

const found = `one
two
a
loose
memory
second
first
base
first
src/staged
 D docs/d.txt
 M src/a.txt
A  src/staged
?? src/ready`

// ways are what stops a worker, each with what it does meanwhile, its policy, and
// the status that it has then.
var ways = map[string]struct {
	endless string
	policy  string
	signal  syscall.Signal // 0: a limit ends it
	status  string
	says    string
}{
	// On a busy machine, what comes before takes seconds.
	"time limit": {endless: "sleep 600", policy: "limits: {time: 20s}", status: "failed", says: "time limit"},
	"disk limit": {
		endless: `while head -c 1048576 /dev/zero >>"$HOME/.cache/filler"; do :; done; sleep 600`,
		policy:  "limits: {disk: 8MiB}", status: "failed", says: "disk limit",
	},
	"interrupt": {endless: "sleep 600", signal: syscall.SIGINT, status: "interrupted"},
	"kill":      {endless: "sleep 600", signal: syscall.SIGKILL, status: "lost"},
}

// TestResumeInTheSameTree stops a worker in every way that there is. It goes on in
// the same tree, with its files, its commits, its index and its private home.
func TestResumeInTheSameTree(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			args := []string{"run", "--merge"}
			if way.policy != "" {
				args = append(args, "--policy", s.write("policy.yaml", "version: 1\n"+way.policy+"\n"))
			}
			args = append(args, "--", "sh", "-c", strings.Replace(returning, "ENDLESS", way.endless, 1))
			r := s.start(nil, args...)
			if way.signal != 0 {
				r.await("there is a worker", func() bool { return len(s.workers()) > 0 })
				r.until(filepath.Join(s.only().Tree, "src/ready"))
				r.signal(way.signal)
			}
			r.awaitEnd()
			w := s.only()
			if w.Status != way.status || !strings.Contains(r.errs.String(), way.says) {
				t.Fatalf("it is %q, want %q and %q\n%s%s", w.Status, way.status, way.says, r.out.String(), r.errs.String())
			}
			s.sound()
			if s.landed(w.Worker) != 0 {
				t.Error("it landed")
			}
			if _, err := os.Stat(filepath.Join(s.home, ".cache")); err == nil {
				t.Error("its home is the operator's: this shows nothing")
			}
			s.cordon([]int{0}, "resume", w.Worker)
			if again := s.only(); again.Tree != w.Tree {
				t.Errorf("its tree was %s and is %s", w.Tree, again.Tree)
			}
			s.mergedOnce("src/found", found)
			s.mergedOnce("src/staged", "staged")
			if got := s.git("ls-tree", "--name-only", "main", "docs/"); got != "" {
				t.Errorf("main has %q", got)
			}
			s.oneTree()
		})
	}
}

// TestResumeRefusesAChangedBase is a worker whose base was tampered with while it was
// stopped: it goes on above one that was made again, or not at all.
func TestResumeRefusesAChangedBase(t *testing.T) {
	layersOnly(t)
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{6}, "run", "--merge", "--write", "src", "--", "sh", "-c", "cat docs/d.txt; echo half >src/b.txt; test -e src/again || { touch src/again; exit 7; }")
	lower, err := filepath.Glob(filepath.Join(s.place("state"), "cordon", "*", "bases", "*", "tree", "docs", "d.txt"))
	if err != nil || len(lower) != 1 {
		t.Fatalf("%v, %v", lower, err)
	}
	fi, err := os.Stat(lower[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lower[0], []byte("e\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(lower[0], fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
	id := s.only().Worker
	o := s.cordon([]int{0}, "resume", id)
	if said := s.cordon([]int{0}, "logs", id).out; fmt.Sprint(strings.Fields(said)) != "[d d]" || !strings.Contains(o.err, " base ") {
		t.Errorf("it read %q\n%s", said, o.err)
	}
	s.mergedOnce("src/b.txt", "half")
}
