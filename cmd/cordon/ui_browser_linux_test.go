package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cordon/internal/testbrowser"
	"cordon/internal/view"
)

// Two real desks in a real browser, with the keyboard alone: from the desk to a review and a comment; then one releases and
// the other discards the same worker at once. One wins, the other says who decided and when, and both go on to the next.
func TestBrowserDesksRace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 2 {
		s.cordon([]int{exitQuarantined}, "run", "--write", "src", "--", "sh", "-c", `echo b >> src/a.txt; echo more >> docs/d.txt`)
	}
	var list view.Workers
	s.parse(s.cordon([]int{0}, "ls", "--json").out, &list)
	id, next := list.Workers[0].ID, list.Workers[1].ID
	b := testbrowser.Start(t)
	var tabs []*testbrowser.Tab
	for range 2 {
		p := b.Tab()
		p.Size(1440, 900)
		p.Open(startDesk(s).at.String())
		p.Until(`document.querySelector("header") && document.getElementById("raila-` + id + `")`)
		for range list.Workers {
			if testbrowser.Eval[string](p, "document.activeElement.id") == "raila-"+id {
				break
			}
			p.Keys("j")
		}
		p.Keys(kb.Enter)
		p.Until(`document.querySelector("#decide")?.dataset.worker === "` + id + `"`)
		tabs = append(tabs, p)
	}
	for _, key := range []string{"]", "J", "V", "J", "c"} { // docs/d.txt is out of lease, and first
		tabs[0].Keys(key)
	}
	tabs[0].Until(`document.activeElement.id === "note-text"`)
	tabs[0].Keys("Say why.")
	tabs[0].Keys(kb.Enter, chromedp.ModifierCtrl)
	tabs[0].Until(`document.querySelector("#comment-c1 .said")?.textContent === "Say why."`)
	if out := s.cordon([]int{0}, "comments", "ls", id).out; !strings.Contains(out, "docs/d.txt, lines 1 to 2") {
		t.Errorf("the comment is %s", out)
	}
	tabs[0].Keys("r")
	for _, key := range []string{kb.Tab, " ", kb.Tab, "The guide changes too."} {
		tabs[0].Keys(key)
	}
	tabs[0].Until(`document.querySelector("#command").textContent.includes("--write=docs/d.txt '--reason=The guide changes too.'")`)
	tabs[1].Keys("D")
	tabs[1].Until(`document.querySelector("#command").textContent.startsWith("cordon discard")`)
	for _, p := range tabs {
		p.Keys(kb.Enter, chromedp.ModifierCtrl)
	}
	won, told := 0, regexp.MustCompile(` via web [a-z]+ it at \d\d:\d\d:\d\d`)
	for _, p := range tabs {
		p.Until(`document.querySelector("#told.ok, #told.bad") && document.activeElement.id === "told"`)
		text := testbrowser.Eval[string](p, `document.querySelector("#told").textContent`)
		if testbrowser.Eval[bool](p, `document.querySelector("#told").className === "ok"`) {
			won++
		} else if !told.MatchString(text) {
			t.Errorf("the other desk does not say who decided and when: %s", text)
		}
		p.Keys("n")
		p.Until(`location.pathname === "/worker/` + next + `"`)
	}
	if won != 1 {
		t.Errorf("%d desks won", won)
	}
}
