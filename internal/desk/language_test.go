package desk

import (
	"strings"
	"testing"
)

// The words of a line are known by the language of its file, and no character is changed.
func TestSpans(t *testing.T) {
	for _, c := range []struct{ file, line, want string }{
		{"a.go", `func Greet(name string) error { return f("a\"b", 'c') } // func`, `[func] (Greet)(name [string]) [error] { [return] (f)('"a\"b"', ''c'') } #// func#`},
		{"a/b.py", `def f(x): # if "x"`, `[def] (f)(x): ## if "x"#`},
		{"a.sql", "SELECT x FROM t -- all", "[SELECT] x [FROM] t #-- all#"},
		{"a.go", `x := "open`, `x := '"open'`},
		{"a.go", "größe(", "(größe)("},
		{"notes.txt", "func return", "func return"},
		{"Makefile", "if x", "if x"},
		{"", "if x", "if x"},
	} {
		letters := strings.Split(c.line, "")
		var got strings.Builder
		at := 0
		for _, s := range LanguageOf(c.file).Spans(letters) {
			marks := map[Kind]string{Keyword: "[]", Quoted: "''", Remark: "##", Called: "()"}[s.Kind]
			got.WriteString(strings.Join(letters[at:s.From], "") + marks[:1] + strings.Join(letters[s.From:s.To], "") + marks[1:])
			at = s.To
		}
		got.WriteString(strings.Join(letters[at:], ""))
		if got.String() != c.want {
			t.Errorf("%s: %s", c.file, got.String())
		}
	}
}
