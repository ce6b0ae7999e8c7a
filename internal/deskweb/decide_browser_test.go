package deskweb

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cordon/internal/testbrowser"
)

// From the desk to a review, a comment, a release and the next worker, with the keyboard alone. No
// choice is made beforehand, no single key decides, and the focus is never lost.
func TestBrowserKeyboard(t *testing.T) {
	s, source := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	focus := func() string {
		return testbrowser.Eval[string](p, "document.activeElement.id || document.activeElement.localName")
	}
	for range 20 { // the rail: brisk-otter, quiet-heron, famed-curlew
		if focus() == "raila-famed-curlew" {
			break
		}
		p.Keys("j")
	}
	p.Keys(kb.Enter)
	p.Until(`document.querySelector("#decide") && location.pathname === "/worker/famed-curlew"`)
	if n := testbrowser.Eval[int](p, `document.querySelectorAll("#decide :checked").length`); n != 0 {
		t.Errorf("%d choices are made beforehand", n)
	}
	if !testbrowser.Eval[bool](p, `document.querySelector("#send").disabled`) {
		t.Error("it can be sent before anything is chosen")
	}
	p.Keys(kb.Enter, chromedp.ModifierCtrl)
	comments(t, p, source)
	p.Keys("r")
	p.Until(`document.querySelector("#lacks").textContent.includes("needs a reason") && document.querySelector("#same").hidden && !document.querySelector("#command").textContent`)
	if got := focus(); got != "choice-1" {
		t.Errorf("the focus is on %s", got)
	}
	source.changes <- struct{}{} // the journal moves while the reader is in the form
	p.Keys(kb.Tab)               // the root
	p.Keys(" ")
	p.Keys(kb.Tab)
	p.Keys("The guide names the default.")
	p.Until(`document.querySelector("#command").textContent === "cordon release famed-curlew docs/guide.md The guide names the default."`)
	if got := focus(); got != "reason-1" {
		t.Errorf("the focus is on %s", got)
	}
	if len(source.taken()) != 0 {
		t.Fatal("something was decided before it was sent")
	}
	p.Keys(kb.Enter, chromedp.ModifierCtrl)
	p.Until(`document.querySelector("#told").textContent.includes("is merged")`)
	want := []Decision{{Worker: "famed-curlew", Choice: "release", Seen: "2.quarantined.0.466b3d26", Reason: "The guide names the default.", Roots: []string{"docs/guide.md"}}}
	if got := source.taken(); !reflect.DeepEqual(got, want) {
		t.Errorf("decided %+v", got)
	}
	p.Until(`document.activeElement.id === "told"`)
	p.Keys("n")
	p.Until(`location.pathname === "/worker/curious-parrot"`)
}

// comments marks a range in the second file, comments on it, and marks a file as seen, with the keyboard alone.
func comments(t *testing.T, p *testbrowser.Tab, source *sample) {
	t.Helper()
	p.Keys("c")
	p.Until(`document.querySelector("#told").textContent.includes("Mark a line first")`)
	for _, key := range []string{"]", "]", "J", "J", "V", "J", "J", "K", "V"} {
		p.Keys(key)
	}
	if got := testbrowser.Eval[string](p, `[...document.querySelectorAll("td[data-on]")].map(c => c.dataset.n + c.textContent).join(" ") + " " + document.activeElement.textContent`); got != "new12 new13 13" {
		t.Fatalf("marked: %s", got)
	}
	source.changes <- struct{}{} // an update keeps the marks and the focus
	p.Keys("c")
	p.Until(`document.activeElement.id === "note-text"`)
	p.Keys("Why an error?")
	p.Keys(kb.Enter, chromedp.ModifierCtrl)
	p.Until(`document.querySelector("#comment-c1")`)
	p.Until(`!document.querySelector("#note").open && document.activeElement.textContent === "13"`)
	p.Keys("v")
	p.Until(`document.querySelector("#f1 summary .tag:not(.ok)")`)
	want := []Note{
		{Do: NoteComment, Worker: "famed-curlew", Path: []byte("src/greet.go"), Side: "new", Blob: "be79321a", From: 12, To: 13, Text: "Why an error?"},
		{Do: NoteSeen, Worker: "famed-curlew", Blob: "be79321a"},
	}
	if got := source.notes(); !reflect.DeepEqual(got, want) {
		t.Errorf("noted %+v", got)
	}
	if len(source.taken()) != 0 {
		t.Error("a comment decided something")
	}
}

// A decision about something that has changed is refused, and the page says what has changed. With
// the mouse, lines of either side are marked and commented on; the comments go along with what is sent
// back, unless they are removed.
func TestBrowserDecisions(t *testing.T) {
	s, source := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 1200)
	enter(s, p)
	visit(s, p, "/worker/famed-curlew")
	source.mu.Lock()
	source.refuses = &RefusalError{Code: 409, Text: "famed-curlew is not as you saw it", Moved: []string{"anna released it via tui at 14:09:00"}}
	source.mu.Unlock()
	p.Keys("l")
	p.Keys(kb.Enter, chromedp.ModifierCtrl)
	p.Until(`document.querySelector("#told.bad li")?.textContent === "anna released it via tui at 14:09:00"`)
	source.mu.Lock()
	source.refuses = nil
	source.mu.Unlock()
	comment := func(side string, from, to int, text string) {
		testbrowser.Eval[bool](p, fmt.Sprintf(`(() => { const c = [...document.querySelectorAll("#f1 td[data-n=%s]")];
			c[%d].click(); c[%d].dispatchEvent(new MouseEvent("click", {bubbles: true, shiftKey: true})); return true })()`, side, from, to))
		p.Keys("c")
		p.Until(`document.activeElement.id === "note-text"`)
		p.Keys(text)
		testbrowser.Eval[bool](p, `(() => { document.querySelector("#remark .btn").click(); return true })()`)
		p.Until(`[...document.querySelectorAll(".note .said")].some(e => e.textContent === "` + text + `")`)
	}
	comment("new", 1, 3, "Why an error?")
	comment("old", 1, 0, "This was better.")
	if got := source.notes(); len(got) != 2 || got[0].Side+got[0].Blob != "newbe79321a" || got[0].From != 12 || got[0].To != 14 ||
		got[1].Side+got[1].Blob != "old2b6f3d10" || got[1].From != 12 || got[1].To != 13 {
		t.Errorf("noted %+v", got)
	}
	testbrowser.Eval[bool](p, `(() => { document.querySelector("#comment-c2 button").click(); return true })()`)
	p.Until(`!document.querySelector("#comment-c2") && document.querySelector("#along").textContent === "One comment goes along."`)
	p.Keys("s")
	p.Keys(kb.Enter, chromedp.ModifierCtrl)
	p.Until(`document.querySelector("#told.ok")?.textContent === "famed-curlew is merged."`)
	want := []Decision{{Worker: "famed-curlew", Choice: "send back", Seen: "2.quarantined.0.466b3d26", Comments: true}}
	if got := source.taken(); !reflect.DeepEqual(got, want) {
		t.Errorf("decided %+v", got)
	}
}
