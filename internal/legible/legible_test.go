package legible

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What cannot be seen is written out, and what can be seen stays.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"a\rb":                        "a^Mb",
		"a\x1b[8mb\x1b[1A\x1b[2K\a":   "a^[[8mb^[[1A^[[2K^G",
		"a\x00\x08\x7fb":              "a^@^H^?b",
		"a\u0085\u009b8mb":            `a\u0085\u009b8mb`,
		"a\xff\x9bb\xc2":              `a\xff\x9bb\xc2`,
		"a\u202eb\u2066\u061c":        `a\u202eb\u2066\u061c`,
		"a\u200bb\u200d\ufeff\u00ad":  `a\u200bb\u200d\ufeff\u00ad`,
		"a\u2028b\u2029":              `a\u2028b\u2029`,
		"a\u00a0b\u3000\u2800\u3164":  `a\u00a0b\u3000\u2800\u3164`,
		"a\ufe01\U000e0101\U000e0041": `a\ufe01\U000e0101\U000e0041`,
		"x\u0301\u0302\u0303\u0304":   "x\u0301\u0302\u0303" + `\u0304`,
		" \u0301\n\u0301":             ` \u0301` + "\n" + `\u0301`,
		"a\ufe0fb":                    `a\ufe0fb`,
		"one\r\ntwo\r\n":              "one\ntwo\n",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, same := range []string{"größe 日本 → … ✗ e\u0301 👍 ⚠\ufe0f", "two\n\tlines", ""} {
		if got := Text(same); got != same {
			t.Errorf("%q: %q", same, got)
		}
	}
	for _, r := range "\x00\x07\x1b\x7f\u0085\u009b\u00ad\u061c\u200b\u200d\u202e\u2066\ufeff\U000e0041" {
		if !Silent(r) {
			t.Errorf("%U is not silent", r)
		}
	}
	if got := Line(" a\n\t b  \u202ec\r\n"); got != `a b \u202ec` {
		t.Errorf("%q", got)
	}
	if got := Marked("a\rb"); got != "a\x1b[7m^M\x1b[27mb" {
		t.Errorf("%q", got)
	}
}

// What takes a place and shows nothing is a space, what acts on others is not there.
func TestPlain(t *testing.T) {
	for _, r := range "\u2800\u3164\u115f\u1160\uffa0\u00a0\u2003\u202f\u3000\u2028\u2029\u034f\U0001d159" {
		if got := Plain("a" + string(r) + "b"); got != "a b" {
			t.Errorf("%U: %q", r, got)
		}
	}
	for _, r := range "\x00\x07\x08\x0b\x1b\x7f\u0085\u009b\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041" {
		if got := Plain("a" + string(r) + "b"); got != "ab" {
			t.Errorf("%U: %q", r, got)
		}
	}
	if got := PlainLine(" a\n\t b" + strings.Repeat("\u2800", 99) + "\u202ec\r\n"); got != "a b c" {
		t.Errorf("%q", got)
	}
}

// FuzzText: nothing that comes out acts or hides, and nothing is lost in silence.
func FuzzText(f *testing.F) {
	f.Add("a\x1b[8mb\u202e\r\n\xff\ufe0f")
	f.Fuzz(func(t *testing.T, in string) {
		out := Text(in)
		for _, r := range out {
			if r != '\n' && r != '\t' && r != '\ufe0f' && (!unicode.IsPrint(r) || blank(r)) {
				t.Errorf("%q lets %U through", in, r)
			}
		}
		if len(out) < len(strings.ReplaceAll(in, "\r\n", "\n")) {
			t.Errorf("%q became %q", in, out)
		}
		if Text(out) != out {
			t.Errorf("%q: %q, and then %q", in, out, Text(out))
		}
	})
}

// FuzzJSON: the same value, in characters that can be seen.
func FuzzJSON(f *testing.F) {
	f.Add("a\x1b[8mb\u202e\r\n\u009b\x7f\U000e0041\u2028")
	f.Fuzz(func(t *testing.T, in string) {
		b, err := json.Marshal(map[string]string{in: in})
		if err != nil {
			t.Fatal(err)
		}
		shown := JSON(b)
		var back map[string]string
		if err := json.Unmarshal(shown, &back); err != nil {
			t.Fatal(err)
		}
		in = strings.ToValidUTF8(in, "\ufffd") // as encoding/json has it
		if utf8.ValidString(in) && len(back) != 1 || back[in] != in && !strings.Contains(in, "\ufffd") {
			t.Errorf("%q became %q", in, back)
		}
		for _, r := range string(shown) {
			if !unicode.IsPrint(r) || blank(r) {
				t.Errorf("%q lets %U through: %s", in, r, shown)
			}
		}
	})
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		room int
		want string
	}{
		{"12345", 5, "12345"}, {"123456", 5, "1234…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"},
		{"äöü", 3, "äöü"}, {"x", 0, "…"}, {"", 0, ""},
	} {
		if got := Clip(c.in, c.room); got != c.want {
			t.Errorf("%q in %d: %q", c.in, c.room, got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", []string{""}},
		{"one two three", []string{"one two", "three"}},
		{"one two\n\nthree", []string{"one two", "", "three"}},
		{"abcdefghijklmnopqrstu v", []string{"abcdefghij", "klmnopqrst", "u v"}},
		{"exactly te and", []string{"exactly te", "and"}},
		{"日本語日本語 日", []string{"日本語日本", "語 日"}},
		{"\u3164\u3164x", []string{`\u3164\u31`, "64x"}},
	} {
		if got := Wrap(c.in, 10); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.in, got)
		}
	}
}

// FuzzWrap: no line is too wide, nothing in it acts, and no letter is lost.
func FuzzWrap(f *testing.F) {
	f.Add("one two three \u202e日本語\tx\n y", 9)
	f.Fuzz(func(t *testing.T, s string, room int) {
		room = max(leastRoom, room%200)
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		lines := Wrap(s, room)
		if letters(strings.Join(lines, " ")) != letters(Text(s)) {
			t.Errorf("%q: %q", s, lines)
		}
		for _, l := range lines {
			if fits(l, room) != len(l) || strings.ContainsFunc(l, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q in %d: %q", s, room, l)
			}
		}
	})
}
