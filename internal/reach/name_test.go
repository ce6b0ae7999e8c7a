package reach

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCleanName(t *testing.T) {
	for s, want := range map[string]string{
		"a.b": "a.b", "A.B.": "a.b", "localhost": "localhost", "_dmarc.a.b": "_dmarc.a.b", "printer.local": "printer.local", "1.0.0.127.in-addr.arpa": "1.0.0.127.in-addr.arpa",
		"bücher.example": "xn--bcher-kva.example", "Bu\u0308cher.EXAMPLE": "xn--bcher-kva.example", "a。b．c｡": "a.b.c", "ＡＢＣ.example": "abc.example",
		"\u212aelvin.example": "kelvin.example", "XN--BCHER-KVA.example.": "xn--bcher-kva.example", "i❤.ws": "xn--i-7iq.ws", "a--b.c": "a--b.c", "ab--c.d": "ab--c.d",
		"a\u00adb.example": "ab.example",
	} {
		if got, err := CleanName(s); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", ".", "..", "a..b", ".a", "a.b..", "a.。", "\x00", "a\x00.b", "a.b\x00", "a.b\n", "a b", "a/b", "a:80", "a@b", "*.a.b", "[::1]", "a%2eb", "a\\b",
		"1.2.3.4", "1.2.3.4.", "127.1", "a.0x7f", "a.0X", "0x7f000001", "2130706433", "１２７.１", "::1", "fe80::1%eth0", "-a.b", "a-.b", "\xff.b", "a\ufffd.b",
		"xn--.b", "xn--a.b", "xn--abc-.b", "a.xn--99999999", "a\u200db.c", "a\u202eb.c", "א1ב.a\u05d0", strings.Repeat("a", 64) + ".b", strings.Repeat("a.", 124) + "abcdef", strings.Repeat("é", 600),
		strings.Repeat("ü", 60) + ".b",
	} {
		if got, err := CleanName(s); err == nil || got != "" {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}

// checkClean holds a name to what the others compare with.
func checkClean(t testing.TB, s, name string) {
	t.Helper()
	if again, err := CleanName(name); err != nil || again != name {
		t.Fatalf("%q became %q, and that %q, %v", s, name, again, err)
	}
	if up, err := CleanName(strings.ToUpper(name) + "."); err != nil || up != name {
		t.Fatalf("%q became %q, and in upper case %q, %v", s, name, up, err)
	}
	if len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || strings.Contains("."+name+".", "..") {
		t.Fatalf("%q became %q", s, name)
	}
}

func TestCleanNameIdempotent(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "B", ".", "-", "_", "ü", "ß", "xn--", "。", "1", "א", "\u0308", "\u200d", "\x00", "0x", "❤", "\u00ad"})
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(rt, "parts"), "")
		name, err := CleanName(s)
		if err != nil {
			if name != "" {
				rt.Fatalf("%q: %q with %v", s, name, err)
			}
			return
		}
		checkClean(t, s, name)
	})
}

// FuzzCleanName: what comes out is a name in its one form, or nothing.
func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"a.b", "A.B.", "bücher.example", "xn--bcher-kva.example", "a。b", "1.2.3.4", "a\x00b", "xn--a.b", "_x.y", "i❤.ws", "א.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := CleanName(s)
		if err == nil {
			checkClean(t, s, name)
		} else if name != "" {
			t.Fatalf("%q: %q with %v", s, name, err)
		}
	})
}
