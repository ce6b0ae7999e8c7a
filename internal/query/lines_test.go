package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/view"
)

// Page after page gives every line once, however the pages are cut.
func TestPagesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a-z\r\x00]{0,5}`)).Draw(t, "lines")
		most := rapid.IntRange(1, 7).Draw(t, "most")
		text := ""
		for _, line := range lines {
			text += line + "\n"
		}
		var got []string
		for from, first := 0, true; first || from > 0; first = false {
			shown := linesOf([]byte(text), Part{from, most})
			if shown.Total != len(lines) || shown.From != from || len(shown.Lines) > most {
				t.Fatalf("%+v", shown)
			}
			for _, line := range shown.Lines {
				got = append(got, string(line))
			}
			from = shown.Next
		}
		if !slices.Equal(got, lines) {
			t.Fatalf("%q became %q", lines, got)
		}
	})
}

// A page has a bound in bytes, and a line that is longer is a page of its own.
func TestPagesAreBounded(t *testing.T) {
	long := strings.Repeat("x", mostBytes+1)
	text := []byte("a\n" + long + "\nb\nlast")
	var pages []string
	for from, first := 0, true; first || from > 0; first = false {
		shown := linesOf(text, Part{from, MostLines})
		pages = append(pages, fmt.Sprint(len(shown.Lines)))
		from = shown.Next
	}
	if got := strings.Join(pages, " "); got != "1 1 2" {
		t.Errorf("pages of %s lines", got)
	}
	if shown := linesOf(text, Part{99, 5}); shown.Next != 0 || len(shown.Lines) != 0 || shown.Total != 4 {
		t.Errorf("%+v", shown)
	}
	if shown := linesOf([]byte("caf\xe9"), Part{0, 5}); shown.Lines[0] != view.Text("caf\xe9") {
		t.Errorf("%q", shown.Lines)
	}
}
