package worktree

import (
	"slices"
	"testing"
)

func TestLinesAbout(t *testing.T) {
	macros := MacrosOf("filter", "[attr]secret filter=crypt\n[attr]other text\n", "\ufeff[attr]key secret -text\n[attr]looped looped\n")
	if !slices.Equal(macros, []string{"secret", "key"}) {
		t.Errorf("%q", macros)
	}
	for line, want := range map[string]bool{
		"*.bin filter=lfs":                  true,
		"*.bin filter=lfs diff=lfs -text\r": true,
		"\"a b\" filter=crypt":              true,
		"[attr]secret filter=crypt":         true,
		"[attr]secret -text":                true, // no longer
		"# *.bin filter=lfs":                false,
		"*.bin -filter":                     true,
		"*.bin\t!filter":                    true,
		"*.bin filter":                      true,
		"*.key -secret":                     true,
		"*.key !key":                        true,
		"*.key other":                       false,
		"filter=lfs":                        false, // a pattern
		"secret text":                       false,
		"":                                  false,
	} {
		if got := LinesAbout(line, "filter", macros); (len(got) > 0) != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
	if got := LinesAbout("#\nx -filter \r\n", "filter", nil); !slices.Equal(got, []AttributeLine{{"x -filter", 2}}) {
		t.Errorf("%+v", got)
	}
}
