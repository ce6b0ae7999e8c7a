package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fillCaches fills caches with the number of a round, and tallyCaches says what they hold, and how often.
const (
	fillCaches = `mkdir -p out/deep ~/.cache/kept
for i in $(seq 500); do
	echo $round >out/$i; echo $round >out/deep/$i; echo $round >~/.cache/kept/$i
done
`
	tallyCaches = `find out ~/.cache/kept -type f 2>/dev/null | xargs -r cat | sort | uniq -c | sed 's/^ */found /'
`
)

// cacheGame is a policy whose caches are kept, a worker that has them filled and writes its mark, and a worker that has
// them tallied.
type cacheGame struct {
	policy      string
	files       map[string]string // of the repository
	fill, tally string
}

// The worker itself uses its caches.
var workerCaches = cacheGame{
	policy: "version: 1\nfilesystem: {scratch: [out]}\n",
	fill:   "set -e\nround=$0\n" + fillCaches + "echo $0 >src/mark-$0",
	tally:  tallyCaches,
}

// Acceptance uses its own: it tallies them, and then fills them if the result says so.
var acceptanceCaches = cacheGame{
	policy: "version: 1\nfilesystem: {scratch: [out], cache: none}\nacceptance: [sh check.sh]\ngate: {cache: landed}\n",
	files: map[string]string{"repo/check.sh": "set -e\n" + tallyCaches +
		"if [ -e src/fill ]; then\nround=$(cat src/fill)\n" + fillCaches + "fi\n"},
	fill:  "echo $0 >src/fill; echo $0 >src/mark-$0",
	tally: "rm -f src/fill; echo . >>src/notes",
}

// killedKeepingCaches kills cordon while it keeps the caches of a run that landed. The next
// one finds those of this run or those of the one before, and never some of both.
func killedKeepingCaches(t *testing.T, game cacheGame, n int) {
	m := newMassacre(t, 50)
	m.write("policy.yaml", game.policy)
	for name, text := range game.files {
		m.write(name, text)
	}
	m.git("add", "-A")
	m.git("commit", "-q", "--allow-empty", "-m", "scripts")
	run := func(script string) []string {
		return []string{"run", "--merge", "--policy", m.place("policy.yaml"), "--", "sh", "-c", script, fmt.Sprint(m.round)}
	}
	found := func() string {
		o := m.cordon([]int{0}, run(game.tally)...)
		lines := slices.DeleteFunc(strings.Split(o.out+o.err, "\n"), func(line string) bool { return !strings.HasPrefix(line, "found ") })
		return strings.Join(lines, "\n")
	}
	of := func(round int) string { return fmt.Sprintf("found 1500 %d", round) }
	if got := found(); got != "" {
		t.Fatalf("the first finds %q", got)
	}
	m.measure("caches/*.new", "", run(game.fill)...)
	if got := found(); got != of(0) { // the control
		t.Fatalf("the caches of a run that landed hold %q, not %q", got, of(0))
	}
	kept, hits := 0, 0
	for m.round = 1; m.round <= n || hits == 0 && m.round <= n+moreRounds; m.round++ {
		args := run(game.fill)
		if m.kill("caches/*.new", args...) {
			hits++
		}
		m.quiet()
		m.sound()
		switch got := found(); got {
		case of(m.round):
			kept = m.round
		case of(kept):
		default:
			t.Errorf("after round %d, and %d before it, the next finds %q", m.round, kept, got)
		}
		m.goOn(args)
		m.settle()
		if m.there("caches/*.new") {
			t.Error("half of a cache is left")
		}
		if got := found(); got == of(m.round) {
			kept = m.round
		} else if got != of(kept) {
			t.Errorf("after the end of round %d the next finds %q", m.round, got)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if hits == 0 {
		t.Errorf("none of %d kills came in time: this shows nothing", n+moreRounds)
	}
}

func TestKilledKeepingCaches(t *testing.T) {
	layersOnly(t)
	for name, game := range map[string]cacheGame{"worker": workerCaches, "acceptance": acceptanceCaches} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killedKeepingCaches(t, game, sampled(8, 4))
		})
	}
}
