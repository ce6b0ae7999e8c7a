package deskweb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testbrowser"
)

// enter opens the desk in a tab as an operator does: with the link.
func enter(s *Server, p *testbrowser.Tab) {
	p.Open(s.Link())
	p.Until(`document.querySelector("header")`)
}

// visit opens a screen of a desk that the tab has entered.
func visit(s *Server, p *testbrowser.Tab, path string) {
	p.Open("http://" + s.host + path)
	p.Until(`document.querySelector("header")`)
}

// The screens are there in a real browser, in light and dark, and the page complains about nothing.
func TestBrowserScreens(t *testing.T) {
	s, _ := sampleDesk(t)
	p := testbrowser.Start(t).Tab()
	p.Size(1440, 900)
	enter(s, p)
	for name, path := range sampleScreens {
		for _, scheme := range []string{"light", "dark"} {
			p.Media("prefers-color-scheme=" + scheme)
			visit(s, p, path)
			if dir := os.Getenv("CORDON_PICTURES"); dir != "" {
				p.Save(filepath.Join(dir, name+"-"+scheme+".png"))
			}
		}
		if title := testbrowser.Eval[string](p, "document.title"); !strings.HasPrefix(title, "(4) ") {
			t.Errorf("%s: the title of the tab is %q", name, title)
		}
	}
	if at := testbrowser.Eval[string](p, "location.href"); strings.Contains(at, "#") {
		t.Errorf("the address still has the token: %s", at)
	}
	if said := p.Said(); len(said) > 0 {
		t.Errorf("the page complains: %q", said)
	}
}
