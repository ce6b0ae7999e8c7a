package guard

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkDecide judges every call of the shared corpus, and reports what the
// middle one and the one in a hundred took.
func BenchmarkDecide(b *testing.B) {
	s := worker(b)
	var calls []Call
	for _, c := range readCases(b, "testdata/cases.jsonl") {
		calls = append(calls, c.call())
	}
	var took []time.Duration
	for b.Loop() {
		for _, c := range calls {
			start := time.Now()
			Decide(s, c)
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))].Nanoseconds()) / 1e3
	}
	b.ReportMetric(at(0.50), "p50-µs")
	b.ReportMetric(at(0.99), "p99-µs")
	b.ReportMetric(at(1), "max-µs")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(took)), "ns/call")
}
