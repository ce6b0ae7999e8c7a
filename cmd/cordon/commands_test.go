package main

import (
	"io"
	"strings"
	"testing"
)

// TestOneCommandIsMade: a command that is named first is made alone, and has the help that it
// has among all others.
func TestOneCommandIsMade(t *testing.T) {
	help := func(args ...string) string {
		var out strings.Builder
		a := &app{out: &out, err: io.Discard}
		root := a.root(args...)
		root.SetArgs([]string{args[len(args)-1], "--help"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, e := range (&app{}).entries() {
		if name := e.make().Name(); name != e.name {
			t.Errorf("%s is entered as %s", name, e.name)
		}
		if e.name == "fleet" {
			continue // its help is that of another program, as fleet.txtar shows
		}
		if alone, among := help(e.name), help("--json", e.name); alone != among {
			t.Errorf("the help of %s differs:\n%s\n%s", e.name, alone, among)
		}
	}
	if n := len((&app{out: io.Discard, err: io.Discard}).root("exec").Commands()); n > 3 { // help and completion are cobra's
		t.Errorf("%d commands were made", n)
	}
}
