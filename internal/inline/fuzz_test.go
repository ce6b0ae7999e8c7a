package inline

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/mark"
	"cordon/internal/tool"
)

var languages = []tool.Lang{tool.Shell, tool.Python, tool.JavaScript, tool.Perl, tool.Ruby, tool.PHP, tool.Awk, tool.Sed, tool.Lua, tool.R, tool.Julia,
	tool.PowerShell, tool.AppleScript, tool.Tcl, tool.Vim, tool.Lisp, tool.SQL, tool.Make, tool.Opaque}

func FuzzScan(f *testing.F) {
	for _, s := range escapes {
		f.Add(s.code)
	}
	for _, s := range harmless {
		f.Add(s.code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, lang := range languages {
			rep := Scan(lang, code, []string{"-c", "a"})
			for _, r := range rep.Runs {
				if set := btoi(r.Args != nil) + btoi(r.File != ""); set > 1 {
					t.Errorf("%s: %q: a run is two things", lang, code)
				}
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestHostile holds the bound on time: what is long, deep or repeated is read in
// a blink or called opaque.
func TestHostile(t *testing.T) {
	for _, unit := range []string{"(", "[", "{", "(((]]]", "a(", "f(f(", "'", "\"${", "`", "#{", "a=a+a\n", "a+='x'\n", "def f():\n f()\n", "x.", "x.y(", "$x[", "@{[", "<<A\n", "s{", "q(", "%w[",
		"open('a','w');", "['a','b']+", "'a'+", "for x in [", "if ", "do ", "end ", "lambda:", "x=>", "\\", "/", "->", "!", "|", "\n", " ", "{print > ", "sub f{f()}f();f();",
		"function f(a){f(a);g(a)} function g(a){f(a);g(a)} ", "a=['x']*9\n", "f(*a,", "x if y else ", "[[", "--[[", "(concat ", ":g/a/", "$(", "@a", "a and ", "1 2 ", "f{", "x?", "::", "'a' ", "for a in b: c(a)\n ", "a,b=", "unlink for "} {
		code := strings.Repeat(unit, Limit/16/len(unit))
		for _, lang := range languages {
			start := time.Now()
			Scan(lang, code, nil)
			if d := time.Since(start); d > 400*time.Millisecond {
				t.Errorf("%s: %q takes %v", lang, unit, d)
			}
		}
	}
}

func TestTooLong(t *testing.T) {
	if Scan(tool.Python, strings.Repeat(" ", Limit+1), nil).Opaque == "" {
		t.Error("code that is too long is not opaque")
	}
	if Scan(tool.Python, mark.Any, nil).Opaque == "" {
		t.Error("code that is not known is not opaque")
	}
	if got := Scan(tool.Shell, "ls", nil).Runs; len(got) != 1 || got[0].Code != "ls" {
		t.Errorf("shell code is %v", got)
	}
}
