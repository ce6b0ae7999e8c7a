package deskweb

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/testbrowser"
)

// lines is a patch that adds a file of n lines.
func lines(n int) string { return file("src/big.go", n) }

func file(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nindex 00000000..%08[2]x\n--- a/%[1]s\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", name, n)
	for i := range n {
		fmt.Fprintf(&b, "+func f%d() int { return %d }\n", i+1, i+1)
	}
	return b.String()
}

// A diff of 20,000 lines is one click away, comes whole, and the browser's own search finds its last line.
func TestBrowserLargeDiff(t *testing.T) {
	s, source := sampleDesk(t)
	source.patch = lines(20_000)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	visit(s, p, "/worker/famed-curlew")
	if testbrowser.Eval[bool](p, `document.querySelector("#f0").open`) {
		t.Error("a file of 20,000 lines is not folded")
	}
	testbrowser.Eval[bool](p, `(() => { window.long = 0; new PerformanceObserver(l => l.getEntries().forEach(e => { long = Math.max(long, e.duration) })).observe({type: "longtask"});
		document.querySelector("#fs0").click(); return true })()`)
	p.Until(`document.querySelectorAll("#f0 tbody tr").length === 20001`)
	source.mu.Lock()
	source.fewer = true
	source.mu.Unlock()
	before := testbrowser.Eval[string](p, "document.title")
	source.changes <- struct{}{} // an update keeps the rows that came later
	p.Until(`document.title !== ` + fmt.Sprintf("%q", before))
	if n := testbrowser.Eval[int](p, `document.querySelectorAll("#f0 tbody tr").length`); n != 20_001 {
		t.Errorf("%d rows after an update", n)
	}
	if !testbrowser.Eval[bool](p, `window.find("f20000(")`) {
		t.Error("the browser's search does not find the last line")
	}
	if sent := testbrowser.Eval[float64](p, `performance.getEntriesByType("resource").reduce((n, e) => n + e.transferSize, 0)`); sent > 20e6 {
		t.Errorf("%.0f bytes were sent", sent)
	}
	for _, place := range []string{"0.5", "1", "0"} {
		testbrowser.Eval[bool](p, `new Promise(done => { const m = document.querySelector("#main"); m.scrollTo(0, m.scrollHeight * `+place+`); requestAnimationFrame(() => requestAnimationFrame(() => done(true))) })`)
	}
	t.Logf("the longest task while it opened and scrolled took %.0f ms", testbrowser.Eval[float64](p, "long"))
	for _, e := range testbrowser.Eval[[]string](p, `performance.getEntriesByType("resource").map(e => e.name)`) {
		if !strings.HasPrefix(e, "http://"+s.host+"/") {
			t.Errorf("the page asked %s", e)
		}
	}
}

// Files that are open and whose rows a review does not begin with get them by themselves, and keep them.
func TestBrowserManyFiles(t *testing.T) {
	s, source := sampleDesk(t)
	source.patch = ""
	for i := range 15 {
		source.patch += file(fmt.Sprintf("src/f%02d.go", i), 200)
	}
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	visit(s, p, "/worker/famed-curlew")
	if n := testbrowser.Eval[int](p, `document.querySelectorAll(".file[data-more]").length`); n != 6 {
		t.Errorf("the rows of %d files are left out at first", n)
	}
	p.Until(`document.querySelectorAll(".file tbody tr").length === 15 * 201`)
	before := testbrowser.Eval[string](p, "document.title")
	source.mu.Lock()
	source.fewer = true
	source.mu.Unlock()
	source.changes <- struct{}{}
	p.Until(`document.title !== ` + fmt.Sprintf("%q", before))
	if n := testbrowser.Eval[int](p, `document.querySelectorAll(".file tbody tr").length`); n != 15*201 {
		t.Errorf("%d rows after an update", n)
	}
}

// The rows of a deleted file do not stay when another deleted file takes its place: both have no content now.
func TestBrowserDeletedFiles(t *testing.T) {
	s, source := sampleDesk(t)
	deleted := func(name, word string) string {
		return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\ndeleted file mode 100644\nindex 353b6f04..00000000\n--- a/%[1]s\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-%[2]s\n", name, word)
	}
	source.patch = lines(2_000) + deleted("src/x.go", "first")
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	visit(s, p, "/worker/famed-curlew")
	p.Until(`document.querySelector("#f1[open][data-more] .chunk")?.textContent.includes("first")`)
	source.mu.Lock()
	source.patch = lines(2_000) + deleted("src/y.go", "second")
	source.mu.Unlock()
	source.changes <- struct{}{}
	p.Until(`document.querySelector("#f1 .m").textContent === "src/y.go"`)
	p.Until(`document.querySelector("#f1 .chunk")?.textContent.includes("second")`)
	if testbrowser.Eval[bool](p, `document.querySelector("#f1").textContent.includes("first")`) {
		t.Error("rows of the other file are still there")
	}
}

// An update of the journal keeps the place, the selection and what was opened, and tells only the count aloud.
func TestBrowserUpdates(t *testing.T) {
	s, source := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	visit(s, p, "/worker/famed-curlew")
	testbrowser.Eval[bool](p, `(() => { document.querySelector("#f1").open = false; document.querySelector("#e4180 summary").click(); document.querySelector("#e4180 summary").focus();
		document.querySelector("#main").scrollTop = 300; document.querySelector("#f0").mark = "the same node"; return true })()`)
	before := testbrowser.Eval[string](p, "document.title")
	source.mu.Lock()
	source.fewer = true
	source.mu.Unlock()
	source.changes <- struct{}{}
	p.Until(`document.title !== ` + fmt.Sprintf("%q", before))
	if got := testbrowser.Eval[string](p, `[document.querySelector("#f1").open, document.querySelector("#e4180").open, document.activeElement.parentElement.id,
		document.querySelector("#main").scrollTop, document.querySelector("#f0").mark, document.querySelectorAll("[aria-live]").length].join(" ")`); got != "false true e4180 300 the same node 1" {
		t.Errorf("after an update: %s", got)
	}
	if title := testbrowser.Eval[string](p, "document.title"); !strings.HasPrefix(title, "(3) ") {
		t.Errorf("the title of the tab is %q", title)
	}
}

// Characters that nobody sees do not freeze the review: a page has as many elements as it has lines, and some more.
func TestBrowserHidden(t *testing.T) {
	s, source := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	for name, patch := range testbrowser.Hidden() {
		source.patch = patch
		visit(s, p, "/worker/famed-curlew")
		testbrowser.Eval[bool](p, `(() => { document.querySelector("#f0").open = true; return true })()`)
		p.Until(`document.querySelector("#f0 .chunk") && document.querySelector("#send")`)
		if n := testbrowser.Eval[int](p, `document.querySelectorAll("*").length`); n > 160_000 {
			t.Errorf("%s: the page has %d elements", name, n)
		}
	}
}
