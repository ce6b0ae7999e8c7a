package audit

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzPathJSON: every byte of a path survives JSON, and no byte of it reaches a
// terminal that could do something there.
func FuzzPathJSON(f *testing.F) {
	for _, s := range []string{"", "a/b", "\xff", "a\xffb\xfe", "\ufffd", "a\nb", "\x1b[2J", `"quoted"`, `{"base64":"eA=="}`, "null", "\u2028", "<&>",
		"\x00", "\u202etxt", "é", "e\u0301"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := Path(raw)
		text, err := json.Marshal(struct{ Path Path }{p})
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(text) {
			t.Fatalf("%q is encoded as %q", raw, text)
		}
		var back struct{ Path Path }
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if back.Path != p {
			t.Fatalf("%q came back as %q", raw, back.Path)
		}
		if shown := p.String(); shown != "" && !printable(shown) {
			t.Fatalf("%q is shown as %q", raw, shown)
		}
	})
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// Two paths never look the same.
func TestPathsLookDifferent(t *testing.T) {
	seen := map[string]Path{}
	for _, p := range []Path{"a", `"a"`, `"\"a\""`, "\xff", `"\xff"`, "\ufffd", `"\ufffd"`, `\xff`, "a\n", `a\n`, `"a\n"`} {
		if other, ok := seen[p.String()]; ok {
			t.Errorf("%q and %q are both shown as %s", p, other, p)
		}
		seen[p.String()] = p
	}
}

func TestPathRefusesOtherJSON(t *testing.T) {
	for _, text := range []string{`{}`, `{"base64": 1}`, `{"base64": "%"}`, `[]`, `1`, `true`} {
		var p Path
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s is the path %q", text, p)
		}
	}
}
