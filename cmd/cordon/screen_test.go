package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/legible"
)

func TestScreen(t *testing.T) {
	for in, want := range map[string]string{
		"plain\r\n\ttext":                    "plain\r\n\ttext",
		"\x1b[31;1mred\x1b[0m":               "\x1b[31;1mred\x1b[0m",
		"\x1b]0;title\x07after":              "after",
		"\x1b]52;c;aGk=\x1b\\after":          "after",
		"\x1bP+q544e\x1b\\after":             "after",
		"up\x1b[1A\x1b[2Kover":               "upover",
		"\x1b[>4;1mmode\x1b[?25l":            "mode",
		"\x1b[6nquery":                       "query",
		"bell\a\b\x00\x7f.":                  "bell.",
		"\u009b6n\u009d52;c;x\u009c":         "6n52;c;x",
		"größe ünïcode \u00a0 日本":            "größe ünïcode \u00a0 日本",
		"\x1bc reset":                        " reset",
		"a\u202eb\u2066c\u2069\u061c\u200bd": "abcd",
		"\u2028x\ufeff\u2800日\u200d👍":        "x\u2800日👍",
		"latin \xe4\x9b\xff, cut \xe6\x97":   "latin \ufffd\ufffd\ufffd, cut ",
		"cut \xe2\x80\x1b[6nx\xe2\x80\xae":   "cut \ufffd\ufffdx",
		"\x1b[\x1b]0;x\x07y":                 "y",
		"\x1b[" + string(make([]byte, 5)):    "",
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
		if !utf8.Valid(rest) || bytes.ContainsFunc(rest, func(r rune) bool { return legible.Silent(r) && !strings.ContainsRune("\r\n\t", r) }) {
			t.Fatalf("%q lets %q through", in, rest)
		}
		if i := bytes.IndexAny(rest, "\x1b\a\b\x00\x7f"); i >= 0 {
			t.Fatalf("%q lets %q through", in, rest[i:])
		}
	})
}
