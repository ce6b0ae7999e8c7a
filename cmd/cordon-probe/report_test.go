package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/escape"
)

// TestReport: the verdict comes first, only what needs attention is listed, and
// everything fits a narrow terminal.
func TestReport(t *testing.T) {
	long := strings.Repeat("a long reason ", 20)
	row := func(name string, control, v escape.Verdict, died bool, detail string) escape.Result {
		return escape.Result{Attempt: escape.Attempt{Name: name, What: "do " + name}, Control: control, Verdict: v, Died: died, Detail: detail}
	}
	held := row("files-held", escape.Escaped, escape.Held, false, long)
	root := row("files-root", escape.NotTested, escape.NotTested, false, "its control needs root")
	died := row("files-died", escape.Escaped, escape.NotTested, true, "the attack never began: "+long)
	out := row("files-out", escape.Escaped, escape.Escaped, false, "changed on the host: "+long)
	for _, c := range []struct {
		name     string
		results  []escape.Result
		all      bool
		begins   string
		has, not []string
		ok       bool
	}{
		{"held", []escape.Result{held, root}, false, "2 attempts: 1 held, 0 escaped, 1 not tested\nContained",
			[]string{"1: its control needs root"}, []string{"files-held", "files-root"}, true},
		{"all", []escape.Result{held, root}, true, "2 attempts", []string{"files-held", "files-root", "works without cordon"}, nil, true},
		{"escaped", []escape.Result{held, out}, false, "2 attempts: 1 held, 1 escaped, 0 not tested\nNOT CONTAINED",
			[]string{"escaped     files-out", "works without cordon"}, []string{"files-held", "Contained:"}, false},
		{"died", []escape.Result{held, died}, false, "2 attempts: 1 held, 0 escaped, 1 not tested\nINCOMPLETE",
			[]string{"files-died", "1: the attack never began"}, []string{"files-held", "Contained:"}, false},
		{"all died", slices.Repeat([]escape.Result{died}, 500), false, "500 attempts: 0 held, 0 escaped, 500 not tested\nINCOMPLETE: 500 attempts",
			[]string{"and 490 more that died"}, []string{"Contained:"}, false},
		{"nothing", []escape.Result{root}, false, "1 attempt: 0 held, 0 escaped, 1 not tested\nNOTHING SHOWN", nil, []string{"Contained:"}, false},
	} {
		got := report(c.results, c.all, 80)
		if !strings.HasPrefix(got, c.begins) || contained(c.results) != c.ok {
			t.Errorf("%s: contained %v:\n%s", c.name, contained(c.results), got)
		}
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in:\n%s", c.name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in:\n%s", c.name, not, got)
			}
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
				t.Errorf("%s: %d columns: %s", c.name, n, line)
			}
		}
	}
}
