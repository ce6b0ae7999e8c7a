package main

import (
	"fmt"
	"strings"
	"testing"
)

// hoarding is a worker that fills its caches with the number of a round, and writes its mark.
const hoarding = `set -e
mkdir -p out/deep ~/.cache/kept
for i in $(seq 500); do
	echo $0 >out/$i; echo $0 >out/deep/$i; echo $0 >~/.cache/kept/$i
done
echo $0 >src/mark-$0`

// tallying is a worker that says what its caches hold, and how often.
const tallying = `find out ~/.cache/kept -type f 2>/dev/null | xargs -r cat | sort | uniq -c | sed 's/^ */found /'`

// killedKeepingCaches kills cordon while it keeps the caches of a run that landed. The next
// worker finds those of this run or those of the one before, and never some of both.
func killedKeepingCaches(t *testing.T, n int) {
	m := newMassacre(t, 50)
	m.write("policy.yaml", "version: 1\nfilesystem: {scratch: [out]}\n")
	run := func(script string) []string {
		return []string{"run", "--merge", "--policy", m.place("policy.yaml"), "--", "sh", "-c", script, fmt.Sprint(m.round)}
	}
	found := func() string { return strings.TrimSpace(m.cordon([]int{0}, run(tallying)...).out) }
	of := func(round int) string { return fmt.Sprintf("found 1500 %d", round) }
	if got := found(); got != "" {
		t.Fatalf("the first worker finds %q", got)
	}
	m.measure("caches/*.new", "", run(hoarding)...)
	if got := found(); got != of(0) { // the control
		t.Fatalf("the caches of a run that landed hold %q, not %q", got, of(0))
	}
	kept, hits := 0, 0
	for m.round = 1; m.round <= n; m.round++ {
		args := run(hoarding)
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
			t.Errorf("after round %d, and %d before it, the next worker finds %q", m.round, kept, got)
		}
		m.goOn(args)
		m.settle()
		if m.there("caches/*.new") {
			t.Error("half of a cache is left")
		}
		if got := found(); got == of(m.round) {
			kept = m.round
		} else if got != of(kept) {
			t.Errorf("after the end of round %d the next worker finds %q", m.round, got)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if hits == 0 {
		t.Errorf("none of %d kills came in time: this shows nothing", n)
	}
}

func TestSlowKilledKeepingCaches(t *testing.T) {
	slow(t)
	layersOnly(t)
	t.Parallel()
	killedKeepingCaches(t, 8)
}
