package deskweb

import (
	"testing"

	"cordon/internal/testbrowser"
)

// layout are the places of the parts of a screen that no text of a worker may move sideways.
const layout = `(() => [...document.querySelectorAll("header, #main, #rail, #side")].map(e => { const r = e.getBoundingClientRect();
	return [e.id, r.left, r.top, r.width].join(" ") }).join("; ") + " " + (document.documentElement.scrollWidth <= innerWidth))()`

// elements is what the browser made of a screen, without chips, folded rests and the marks of code. What is inside such a mark counts.
const elements = `[...document.querySelectorAll("body *")].filter(e => !e.closest(".chip, .more, td b") && !e.matches("td span:is(.kw, .str, .com, .fn)"))
	.map(e => e.localName).join(" ")`

// Each hostile text in every place that shows a worker's words, in a real browser: nothing runs,
// nothing is loaded, no element comes of it, and the page stays where it is.
func TestBrowserHostile(t *testing.T) {
	s, source := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	clean, places := map[string]string{}, map[string]string{}
	show := func(text string) {
		source.say = func(t string) string {
			if t == "" {
				return t
			}
			return text
		}
	}
	show("harmless")
	for name, path := range sampleScreens {
		visit(s, p, path)
		clean[name], places[name] = testbrowser.Eval[string](p, elements), testbrowser.Eval[string](p, layout)
	}
	for i, text := range testbrowser.Hostile {
		show(text)
		for name, path := range sampleScreens {
			visit(s, p, path)
			if got := testbrowser.Eval[string](p, elements); got != clean[name] {
				t.Errorf("%s, text %d: other elements", name, i)
			}
			if got := testbrowser.Eval[string](p, layout); got != places[name] {
				t.Errorf("%s, text %d: the page has moved: %s, before %s", name, i, got, places[name])
			}
		}
	}
	if said := p.Said(); len(said) > 0 {
		t.Errorf("something was tried: %q", said)
	}
	if got := testbrowser.Eval[string](p, `(() => { try { document.body.innerHTML = "<b>x</b>"; return "done" } catch (e) { return e.name } })()`); got != "TypeError" {
		t.Errorf("markup can be made of text: %s", got)
	}
}
