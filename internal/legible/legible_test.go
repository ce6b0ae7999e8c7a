package legible

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// What takes a place and shows nothing is a space, what acts on others is not there.
func TestText(t *testing.T) {
	for _, r := range "\u2800\u3164\u115f\u1160\uffa0\u00a0\u2003\u202f\u3000\u2028\u2029\u034f\U0001d159" {
		if got := Text("a" + string(r) + "b"); got != "a b" {
			t.Errorf("%U: %q", r, got)
		}
	}
	for _, r := range "\x00\x07\x08\x0b\x1b\x7f\u0085\u009b\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\U000e0041" {
		if got := Text("a" + string(r) + "b"); got != "ab" {
			t.Errorf("%U: %q", r, got)
		}
		if !Silent(r) {
			t.Errorf("%U is not silent", r)
		}
	}
	for _, same := range []string{"größe 日本 → … ✗ é\u0301 👍", "two\n\tlines", ""} {
		if got := Text(same); got != same {
			t.Errorf("%q: %q", same, got)
		}
	}
	if got := Text("a\xffb\xc2"); got != "a\ufffdb\ufffd" {
		t.Errorf("%q", got)
	}
	if got := Line(" a\n\t b" + strings.Repeat("\u2800", 99) + "\u202ec\r\n"); got != "a b c" {
		t.Errorf("%q", got)
	}
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
		{strings.Repeat("\u3164", 30) + "x", []string{"", "x"}},
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
