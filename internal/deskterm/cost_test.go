package deskterm

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"cordon/internal/desk"
	"cordon/internal/view"
)

// The benchmarks are about what the model and its screen cost, without git and without a terminal.

// crowded is a desk with so many workers.
func crowded(n int) *fake {
	f := payments("")
	f.desk.Workers, f.desk.Stages = nil, nil
	groups := []string{view.NeedsYou, view.AtWork, view.Landed}
	states := []string{"quarantined", "running", "merged"}
	for i := range n {
		w := view.Worker{ID: fmt.Sprintf("worker-%03d", i), Status: states[i%3], Group: groups[i%3], Since: noon.Add(-time.Duration(i) * time.Second),
			Title: fmt.Sprintf("Do the thing number %d", i), Reason: "docs/guide.md: outside write_roots", Activity: "Edit src/retry.go"}
		f.desk.Workers = append(f.desk.Workers, w)
		one := *f.reviews["famed-curlew"]
		one.Worker = w.ID
		f.reviews[w.ID] = &one
	}
	return f
}

// percentile reports the 95th of a hundred times.
func percentile(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds()), "p95-ns")
}

// BenchmarkKey is a key and the frame that it leads to, with 500 workers.
func BenchmarkKey(b *testing.B) {
	m := opened(b, crowded(500), 160, 50)
	keys := []tea.KeyPressMsg{keyOfName("j"), keyOfName("j"), keyOfName("k"), keyOfName("G"), keyOfName("g"), keyOfName("pgdown"), keyOfName("/"), keyOfName("7"),
		keyOfName("backspace"), keyOfName("esc")}
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		_, cmd := m.Update(keys[i%len(keys)])
		_ = m.View()
		times = append(times, time.Since(begin))
		feed(m, cmd) // the review of another worker comes later
	}
	percentile(b, times)
}

// added is a patch that adds a file of n lines.
func added(n int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "diff --git a/src/big.go b/src/big.go\n--- a/src/big.go\n+++ b/src/big.go\n@@ -0,0 +1,%d @@\n", n)
	for i := range n {
		fmt.Fprintf(&text, "+func f%d() int { return %d } // a line of usual length, as people write them\n", i+1, i+1)
	}
	return text.String()
}

// reads is the review of a worker that added a file of n lines, unfolded, from the text of the patch on.
func reads(b *testing.B, patch string) *Model {
	f := payments("")
	m := opened(b, f, 160, 50)
	one := *f.reviews["famed-curlew"]
	one.Files, _ = desk.Files(patch, nil)
	f.reviews["famed-curlew"] = &one
	m.open["src/big.go"] = true
	press(m, ": f a m e d enter 2")
	_ = m.View()
	return m
}

// BenchmarkDiff is what a long patch costs: until it is on the screen, to its end, to search for its last line, and a line down.
func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{20, 20_000} {
		patch := added(n)
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			for b.Loop() {
				reads(b, patch)
			}
		})
		m := reads(b, patch)
		search := fmt.Sprintf("/ f %s ( enter", strings.Join(strings.Split(fmt.Sprint(n), ""), " "))
		for name, keys := range map[string]string{"end": "g G", "search": "g " + search, "line": "j"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					press(m, keys)
					_ = m.View()
				}
			})
		}
	}
}

// BenchmarkDiffMemory is what a review with a patch of 20,000 lines keeps in memory, in sizes of the patch.
func BenchmarkDiffMemory(b *testing.B) {
	patch := added(20_000)
	kept := 0.0
	for b.Loop() {
		before := heap()
		m := reads(b, patch)
		kept = float64(heap()-before) / float64(len(patch))
		runtime.KeepAlive(m)
	}
	b.ReportMetric(kept, "patches")
}

func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
