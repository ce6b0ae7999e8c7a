package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testground"
)

// massacre kills cordon at random moments while it makes or removes what a tree that
// is copied on write consists of, or while a worker writes in one, and has the next
// command go on.
type massacre struct {
	*site
	rng   *rand.Rand
	span  time.Duration // how long what is interrupted takes
	round int
}

// newMassacre makes a site of many files. CORDON_SEED plays a game again.
func newMassacre(t *testing.T, files int) *massacre {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("CORDON_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("CORDON_SEED=%d", seed)
	m := &massacre{site: newSite(t), rng: rand.New(rand.NewPCG(seed, 0))}
	m.grow(files)
	return m
}

// layersOnly names why a test of what plain trees do not have is not run on them.
func layersOnly(t *testing.T) {
	if os.Getenv("CORDON_TREE") == "copy" {
		t.Skip("plain directories have neither bases nor layers")
	}
}

// kill starts cordon and kills it some time after a sign is there, within the time
// that what it does then took the last time. It reports whether it was in time. If it
// was not, that took longer when it was measured, on a machine that had much else to do.
func (m *massacre) kill(sign string, args ...string) bool {
	m.t.Helper()
	r := m.start(nil, args...)
	m.await(r, sign)
	seen, began := !r.over(), time.Now()
	delay := time.Duration(m.rng.Float64() * float64(m.span))
	defer time.AfterFunc(delay, func() { _ = r.cmd.Process.Kill() }).Stop() // it may have ended at this moment
	r.awaitEnd()
	if took := time.Since(began); seen && took < delay {
		m.span = took
	}
	o := ended(r.cmd, r.out.String(), r.errs.String())
	m.t.Logf("round %d: killed %v after %s: %v, ended with %d", m.round, delay, sign, o.signal == syscall.SIGKILL, o.code)
	return o.signal == syscall.SIGKILL
}

// await waits until a pattern has a match in the state, or cordon has ended.
func (m *massacre) await(r *running, sign string) {
	m.t.Helper()
	m.site.await(sign+" is in the state", func() bool { return sign == "" || m.there(sign) || r.over() })
}

// there reports whether a pattern has a match in the state.
func (m *massacre) there(pattern string) bool {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.place("state"), "cordon", "*", pattern))
	if err != nil {
		m.t.Fatal(err)
	}
	return len(found) > 0
}

// measure runs cordon undisturbed and takes the time from when a sign is there until
// it is gone; with end, until that is there.
func (m *massacre) measure(sign, end string, args ...string) {
	m.t.Helper()
	r := m.start(nil, args...)
	m.await(r, sign)
	began := time.Now()
	m.site.await(fmt.Sprintf("%q is gone, or %q is there", sign, end), func() bool {
		return r.over() || end == "" && !m.there(sign) || end != "" && m.there(end)
	})
	m.span = time.Since(began)
	r.awaitEnd()
	if r.cmd.ProcessState.ExitCode() != 0 {
		m.t.Fatalf("undisturbed: %s%s", r.out.String(), r.errs.String())
	}
	m.t.Logf("undisturbed it takes %v", m.span)
}

// quiet waits for what a killed cordon left running: its git goes on by itself.
func (m *massacre) quiet() {
	m.t.Helper()
	m.awaitNone(m.place("state"))
}

// live are the workers that gc has not removed and nobody has discarded.
func (m *massacre) live() (list []worker) {
	m.t.Helper()
	var all struct{ Workers []worker }
	m.parse(m.cordon([]int{0}, "ls", "--json").out, &all)
	for _, w := range all.Workers {
		if w.Status != "discarded" {
			list = append(list, w)
		}
	}
	return list
}

// comparing is a worker that compares every file that it sees with its commit, and git's
// own view of them.
const comparing = `set -e
git fsck --strict
git status --porcelain >/tmp/known
export GIT_INDEX_FILE=/tmp/index
git read-tree HEAD
git status --porcelain --ignored >>/tmp/known
cat /tmp/known
test ! -s /tmp/known
git ls-files | LC_ALL=C sort >/tmp/want
find . -name .git -prune -o ! -type d -print | cut -c3- | LC_ALL=C sort | cmp - /tmp/want`

// whole wants a base that is what the commit is, as a worker sees it.
func (m *massacre) whole() {
	m.t.Helper()
	o := m.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", comparing)
	if !strings.Contains(o.err, "no change") {
		m.t.Errorf("it ended with %s%s", o.out, o.err)
	}
}

// goOn resumes the worker that was killed, or dispatches it again where none was
// leased, and wants what it was to write on main.
func (m *massacre) goOn(args []string) {
	m.t.Helper()
	m.quiet()
	m.sound()
	mark := fmt.Sprintf("src/mark-%d", m.round)
	for _, w := range m.live() {
		switch w.Status {
		case "merged", "no change", "finished":
			if w.Status != "finished" || m.anchor(w) {
				continue
			}
			fallthrough
		default:
			m.t.Logf("%s is %s", w.Worker, w.Status)
			if o := m.cordon([]int{0}, "resume", w.Worker); !strings.Contains(o.err, "  merged") {
				m.t.Errorf("resumed: %s%s", o.out, o.err)
			}
		}
	}
	if m.git("ls-tree", "--name-only", "main", mark) == "" {
		m.cordon([]int{0}, args...)
	}
	if got := m.git("show", "main:"+mark); got != fmt.Sprint(m.round) {
		m.t.Errorf("main has %q in %s", got, mark)
	}
	m.sound()
}

// anchor reports whether a worker is the one that keeps a base in use.
func (m *massacre) anchor(w worker) bool {
	b, err := os.ReadFile(m.place("anchor"))
	return err == nil && string(b) == w.Worker
}

// settle removes what can be, and wants nothing half made anywhere.
func (m *massacre) settle() {
	m.t.Helper()
	m.cordon([]int{0}, "gc", "--yes", "--wait")
	keep := 0
	for _, w := range m.live() {
		if !m.anchor(w) {
			m.t.Errorf("%s is left as %s", w.Worker, w.Status)
			continue
		}
		keep++
	}
	for part, want := range map[string]int{"layers": keep, "bases": keep, "trash": 0, "accept": 0, "ignore": 0, "trees": 0} {
		var left []string
		for _, path := range m.stateEntries(part) {
			if filepath.Ext(path) != ".lock" && filepath.Base(path) != "lock" {
				left = append(left, path)
			}
		}
		if os.Getenv("CORDON_TREE") == "copy" && (part == "trees" || part == "bases") {
			want = 0
		}
		if len(left) != want {
			m.t.Errorf("%s: %v, want %d", part, left, want)
		}
	}
}

// marking is a worker that writes the mark of this round.
func (m *massacre) marking() []string {
	line := fmt.Sprintf("echo %d >src/mark-%[1]d; git add -A; git commit -qm %[1]d || :", m.round)
	return []string{"run", "--merge", "--", "sh", "-c", line}
}

// pin has a worker that nobody merges keep the base of now in use.
func (m *massacre) pin() {
	m.t.Helper()
	m.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "echo anchor >src/anchor")
	all := m.live()
	m.write("anchor", all[len(all)-1].Worker)
}

// change commits a change of some of the many files.
func (m *massacre) change(files int) {
	m.t.Helper()
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter Operator <operator@example.com> now\ndata 6\nchange\nfrom refs/heads/main^0\n")
	for i := range files {
		text := fmt.Sprintf("file %d, round %d\n", i, m.round)
		fmt.Fprintf(&in, "M 644 inline many/%d/%d\ndata %d\n%s\n", i/100, i, len(text), text)
	}
	in.WriteString("done\n")
	cmd := exec.Command("git", "fast-import", "--quiet", "--done", "--date-format=now")
	cmd.Dir, cmd.Env, cmd.Stdin = m.repo, m.env, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
	m.git("reset", "-q", "--hard", "main")
}

// rounds plays one: what is made before each, what the sign is, what it takes.
func (m *massacre) rounds(n int, before func(), sign, end string) {
	m.t.Helper()
	if before != nil {
		before()
	}
	m.measure(sign, end, m.marking()...)
	m.settle()
	hits := 0
	for m.round = 1; m.round <= n || hits == 0 && m.round <= n+moreRounds; m.round++ {
		if before != nil {
			before()
		}
		args := m.marking()
		if m.kill(sign, args...) {
			hits++
		}
		m.goOn(args)
		m.whole()
		m.settle()
		if m.t.Failed() {
			m.t.FailNow()
		}
	}
	if hits == 0 {
		m.t.Errorf("none of %d kills came in time: this shows nothing", n+moreRounds)
	}
}

// moreRounds is how often a test goes on whose kills all came too late: what they interrupt is quicker than it was when
// it was measured.
const moreRounds = 10

// sampled is how often a test kills: always in .ci/full, and fewer times for each change.
func sampled(all, some int) int {
	if testground.Wanted() == testground.Change {
		return some
	}
	return all
}

func killedMakingBase(t *testing.T, files, n int) {
	m := newMassacre(t, files)
	m.rounds(n, nil, "bases/*.new", "")
}

func killedMakingThinLayer(t *testing.T, files, n int) {
	m := newMassacre(t, files)
	m.pin()
	m.rounds(n, func() { m.change(files / 4) }, "bases/*.new", "")
}

// The files of a small repository are copied beforehand into a worker's layer.
func killedMakingLayers(t *testing.T, n int) {
	m := newMassacre(t, 900)
	m.rounds(n, nil, "layers/*-*.new", "")
}

func TestKilledMakingBase(t *testing.T) {
	layersOnly(t)
	t.Parallel()
	killedMakingBase(t, 3000, sampled(5, 3))
}

func TestKilledMakingThinLayer(t *testing.T) {
	layersOnly(t)
	t.Parallel()
	killedMakingThinLayer(t, 3000, 5)
}

func TestKilledMakingLayers(t *testing.T) {
	layersOnly(t)
	t.Parallel()
	killedMakingLayers(t, sampled(6, 4))
}

// diligent is a worker that commits in a loop. The second time it says what it finds.
const diligent = `
if ! test -e src/begun-$0; then
	touch $HOME/log; echo x >src/begun-$0
	while :; do
		i=$((i+1)); echo $i >>src/log-$0; cp src/log-$0 $HOME/next; mv $HOME/next $HOME/log
		git add -A; git commit -qm "$0 $i"
	done
fi
set -e
find .git -name '*.lock' -delete # as after any kill -9
git fsck --strict
git log --format=%s >src/seen-$0
cp src/log-$0 src/kept-$0
cp $HOME/log src/home-$0
git status --porcelain >/dev/null
echo $0 >src/mark-$0
git add -A
git commit -qm end`

// killedWhileItWrites kills cordon, and its worker with it, while that commits. What
// lay on disk then is what the resumed worker finds, and what lands.
func killedWhileItWrites(t *testing.T, n int) {
	m := newMassacre(t, 200)
	m.span = 300 * time.Millisecond
	for m.round = 1; m.round <= n; m.round++ {
		begun := fmt.Sprintf("trees/*/src/begun-%d", m.round)
		if os.Getenv("CORDON_TREE") != "copy" {
			begun = fmt.Sprintf("layers/*/tree/upper/src/begun-%d", m.round)
		}
		if !m.kill(begun, "run", "--merge", "--", "sh", "-c", diligent, fmt.Sprint(m.round)) {
			t.Fatal("it ended by itself")
		}
		m.quiet()
		m.sound()
		all := m.live()
		w := all[len(all)-1]
		if w.Status != "lost" {
			t.Errorf("%s is %s", w.Worker, w.Status)
		}
		m.untilDead(w.Worker)
		_, gitDir, err := onHost(w.Tree, w.Kind)
		if err != nil {
			t.Fatal(err)
		}
		commits := m.git("--git-dir", gitDir, "log", "--format=%s")
		log, err := os.ReadFile(filepath.Join(w.Tree, fmt.Sprintf("src/log-%d", m.round)))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("it had %d commits and %d lines", strings.Count(commits, "\n"), strings.Count(string(log), "\n"))
		m.cordon([]int{0}, "resume", w.Worker)
		show := func(name string) string { return m.git("show", fmt.Sprintf("main:src/%s-%d", name, m.round)) }
		if got := show("seen"); got != commits {
			t.Errorf("resumed it finds the commits %q, want %q", got, commits)
		}
		if got := show("kept"); got != strings.TrimSpace(string(log)) {
			t.Errorf("resumed it finds %q, want %q", got, log)
		}
		// The last line may be on its way from the one to the other.
		if got := show("home"); !strings.HasPrefix(strings.TrimSpace(string(log)), got) || len(log)-len(got) > 8 {
			t.Errorf("in its home it finds %q, want %q", got, log)
		}
		if m.landed(w.Worker) != 1 {
			t.Errorf("it landed %d times", m.landed(w.Worker))
		}
		m.sound()
		m.settle()
		if t.Failed() {
			t.FailNow()
		}
	}
}

func TestKilledWhileItWrites(t *testing.T) {
	t.Parallel()
	killedWhileItWrites(t, 1)
}

func TestKilledWhileItWritesAll(t *testing.T) {
	t.Parallel()
	killedWhileItWrites(t, 8)
}

// killedRemoving kills gc while it removes two workers and the bases of both.
func killedRemoving(t *testing.T, files, n int) {
	m := newMassacre(t, files)
	prepare := func() {
		for range 2 {
			m.round++
			m.cordon([]int{0}, m.marking()...)
		}
	}
	prepare()
	m.measure("", "none/such", "gc", "--yes", "--wait")
	hits := 0
	for range n {
		prepare()
		if m.kill("", "gc", "--yes", "--wait") {
			hits++
		}
		m.quiet()
		m.sound()
		for _, w := range m.workers() {
			if w.Status != "no change" && (w.Status != "merged" || m.landed(w.Worker) != 1) {
				t.Errorf("%s is %s, and %d times on main", w.Worker, w.Status, m.landed(w.Worker))
			}
		}
		if m.rng.IntN(2) == 0 { // or somebody begins meanwhile
			m.whole()
		}
		m.settle()
		if t.Failed() {
			t.FailNow()
		}
	}
	m.whole()
	if hits == 0 {
		t.Errorf("none of %d kills came in time: this shows nothing", n)
	}
}

func TestKilledRemoving(t *testing.T) {
	t.Parallel()
	killedRemoving(t, 2000, 5)
}
