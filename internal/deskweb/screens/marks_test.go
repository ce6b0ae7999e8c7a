package screens

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/desk"
)

// The words of a line that differ are marked, in whole words and whole characters.
func TestMarks(t *testing.T) {
	for _, c := range []struct{ line, other, want string }{
		{"return name, nil", "return name", "return name[, nil]"},
		{"func Greet(name string) (string, error) {", "func Greet(name string) string {", "func Greet(name string) [(string, error)] {"},
		{"a := counted", "a := count", "a := [counted]"},
		{"größe = größer", "größe = größten", "größe = [größer]"},
		{"entirely other", "nothing alike", "entirely other"},
		{"the same", "the same", "the same"},
	} {
		var got strings.Builder
		for _, p := range lineParts(nil, c.line, c.other, true) {
			if p.Marked {
				p.Text = "[" + p.Text + "]"
			}
			got.WriteString(p.Text)
		}
		if got.String() != c.want {
			t.Errorf("%q beside %q: %q", c.line, c.other, got.String())
		}
	}
}

// The words of a language have classes, what differs is still marked, and no letter is without its marks.
func TestCodeParts(t *testing.T) {
	for _, c := range []struct{ line, other, want string }{
		{`return "a", nil`, `return "a"`, `<kw return> <str "a">[, ]<kw [nil]>`},
		{"if x { // e\u0301", "", "<kw if> x { <com // e\u0301>"},
		{"n\u0301ew(", "", "<fn n\u0301ew>("},
		{"if\u200b x\tif", "", "if\u200b x\t<kw if>"},
	} {
		var got strings.Builder
		for _, p := range lineParts(desk.LanguageOf("a.go"), c.line, c.other, c.other != "") {
			if p.Marked {
				p.Text = "[" + p.Text + "]"
			}
			if p.Class != "" {
				p.Text = "<" + p.Class + " " + p.Text + ">"
			}
			got.WriteString(p.Text)
		}
		if got.String() != c.want {
			t.Errorf("%q: %q", c.line, got.String())
		}
	}
}

func TestSteps(t *testing.T) {
	var got []string
	for _, s := range Steps("I look first.\nThen I act.\n→ Bash  go test ./...\n✗ Bash  BLOCKED: no\n! a retry\n\n  → Read  a.go\nDone.\n") {
		got = append(got, fmt.Sprintf("%s %s|%s", s.Kind, s.Tool, s.Text))
	}
	want := "said |I look first.\nThen I act.; call Bash|go test ./...; failed Bash|BLOCKED: no; note |a retry; call Read|a.go; said |Done."
	if strings.Join(got, "; ") != want {
		t.Errorf("%q", got)
	}
}
