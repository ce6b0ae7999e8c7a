package deskweb

import (
	"slices"
	"testing"

	"cordon/internal/testbrowser"
)

// openReview goes from the desk to a review, as a reader does, and tells after how many milliseconds its form is on the screen.
const openReview = `new Promise(done => {
	const begin = performance.now(), there = () => document.querySelector("#decide") && location.pathname === "/worker/famed-curlew";
	const look = () => requestAnimationFrame(() => there() ? requestAnimationFrame(() => done(performance.now() - begin)) : look());
	document.querySelector('a[href="/worker/famed-curlew"]').click(); look() })`

// longest does something and tells how long the longest task took meanwhile, in milliseconds.
const longest = `(act => new Promise(done => {
	let long = 0; new PerformanceObserver(l => l.getEntries().forEach(e => { long = Math.max(long, e.duration) })).observe({type: "longtask"});
	act(() => setTimeout(() => done(long), 100)) }))`

// unfold opens the file and waits until all of its rows are there.
const unfold = longest + `(done => { const all = () => document.querySelectorAll("#f0 tbody tr").length > 20000 ? done() : requestAnimationFrame(all);
	document.querySelector("#fs0").click(); all() })`

// scroll goes through the page to its end and back.
const scroll = longest + `(done => { const m = document.querySelector("#main"), places = [0.25, 0.5, 0.75, 1, 0.5, 0];
	const next = () => { if (!places.length) return done(); m.scrollTo(0, m.scrollHeight * places.shift()); requestAnimationFrame(() => requestAnimationFrame(next)) };
	next() })`

// BenchmarkBrowserDiff compares a review with a diff of 20,000 lines with one of 200, in turns, in a real browser.
func BenchmarkBrowserDiff(b *testing.B) {
	s, source := sampleDesk(b)
	p := testbrowser.Start(b).Tab()
	p.Size(1440, 900)
	enter(s, p)
	times, unfolds, scrolls := map[int][]float64{}, 0.0, 0.0
	for b.Loop() {
		for _, n := range []int{200, 20_000} {
			source.mu.Lock()
			source.patch = lines(n)
			source.mu.Unlock()
			visit(s, p, "/")
			times[n] = append(times[n], testbrowser.Eval[float64](p, openReview))
			if n > 200 {
				unfolds = max(unfolds, testbrowser.Eval[float64](p, unfold))
				scrolls = max(scrolls, testbrowser.Eval[float64](p, scroll))
			}
		}
	}
	middle := func(n int) float64 { slices.Sort(times[n]); return times[n][len(times[n])/2] }
	b.ReportMetric(middle(200), "ms-of-200")
	b.ReportMetric(middle(20_000), "ms-of-20000")
	b.ReportMetric(middle(20_000)/middle(200), "ratio")
	b.ReportMetric(unfolds, "ms-task-unfold")
	b.ReportMetric(scrolls, "ms-task-scroll")
}
