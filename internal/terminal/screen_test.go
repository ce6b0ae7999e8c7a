package terminal

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/legible"
)

func TestScreen(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	for in, want := range map[string]string{
		"plain\r\n\ttext":                    "plain\n\ttext",
		"10%\r20%\r\n":                       "10%^M\n20%\n",
		"rm -rf ~ #\rharmless":               "rm -rf ~ #^M\nharmless",
		"\x1b[31;1mred\x1b[0m":               "\x1b[31;1mred\x1b[0m",
		"\x1b[31mred\ncordon":                "\x1b[31mred\x1b[m\ncordon",
		"\x1b[8mhidden":                      "hidden",
		"\x1b[30;40;1mblack":                 "\x1b[1mblack",
		"\x1b[38;5;0;48;2;0;0;0;4mnumbers":   "\x1b[4mnumbers",
		"\x1b[38:5:0mcolons":                 "colons",
		"\x1b]0;title\x07after":              "after",
		"\x1b]52;c;aGk=\x1b\\after":          "after",
		"\x1bP+q544e\x1b\\after":             "after",
		"\x1bPswallowed\nnext":               "\nnext",
		"\x1b[3\nnext\x1b\nlast":             "\nnext\nlast",
		"up\x1b[1A\x1b[2Kover":               "upover",
		"\x1b[>4;1mmode\x1b[?25l":            "mode",
		"\x1b[6nquery":                       "query",
		"bell\a\b\x00\x7f.":                  "bell^?.",
		"\u009b6n\u009d52;c;x\u009c":         `\u009b6n\u009d52;c;x\u009c`,
		"größe ünïcode 日本 ⚠\ufe0f e\u0301":   "größe ünïcode 日本 ⚠\ufe0f e\u0301",
		"\x1bc reset":                        " reset",
		"a\u202eb\u2066c\u2069\u061c\u200bd": `a\u202eb\u2066c\u2069\u061c\u200bd`,
		"\u2028x\ufeff\u2800日\u200d👍":        `\u2028x\ufeff\u2800日\u200d👍`,
		"latin \xe4\x9b\xff, cut \xe6\x97":   `latin \xe4\x9b\xff, cut `,
		"cut \xe2\x80\x1b[6nx\xe2\x80\xae":   `cut \xe2\x80x\u202e`,
		"\x1b[\x1b]0;x\x07y":                 "y",
		"\x1b\x1b[31mx":                      "\x1b[31mx",
	} {
		// One byte at a time must give the same as all at once.
		var whole, single bytes.Buffer
		newScreen(&whole).Write([]byte(in))
		s := newScreen(&single)
		for _, b := range []byte(in) {
			s.Write([]byte{b})
		}
		if whole.String() != want || single.String() != want {
			t.Errorf("%q: got %q and %q, want %q", in, whole.String(), single.String(), want)
		}
	}
}

// FuzzScreen: whatever goes in, only colours come out as escapes, however the
// input is cut.
func FuzzScreen(f *testing.F) {
	f.Setenv("NO_COLOR", "")
	f.Add([]byte("\x1b]0;x\x07\x1b[31mred"), 3)
	colour := regexp.MustCompile("\x1b\\[[0-9;:]*m")
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		var whole, parts bytes.Buffer
		newScreen(&whole).Write(in)
		s := newScreen(&parts)
		n := min(max(cut, 0), len(in))
		s.Write(in[:n])
		s.Write(in[n:])
		if !bytes.Equal(whole.Bytes(), parts.Bytes()) {
			t.Fatalf("cut at %d: %q, whole %q", n, parts.Bytes(), whole.Bytes())
		}
		rest := colour.ReplaceAll(whole.Bytes(), nil)
		if !utf8.Valid(rest) || bytes.ContainsFunc(rest, func(r rune) bool { return legible.Silent(r) && !strings.ContainsRune("\n\t", r) }) {
			t.Fatalf("%q lets %q through", in, rest)
		}
		if i := bytes.IndexAny(rest, "\x1b\a\b\x00\x7f"); i >= 0 {
			t.Fatalf("%q lets %q through", in, rest[i:])
		}
	})
}
