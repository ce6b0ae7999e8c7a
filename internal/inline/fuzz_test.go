package inline

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

var languages = []commands.Lang{commands.Shell, commands.Python, commands.JavaScript, commands.Perl, commands.Ruby, commands.Awk, commands.Sed,
	commands.SQL, commands.Make, commands.Opaque}

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

// hostile are pieces of code that are repeated until there is no more room: what
// is deep, what grows, what calls itself, what is never closed.
var hostile = [...]string{"(", "[", "{", "(((]]]", "a(", "f(f(", "'", "\"${", "`", "#{", "a=a+a\n", "a+='x'\n", "def f():\n f()\n", "x.", "x.y(", "$x[", "@{[", "<<A\n", "s{", "q(", "%w[",
	"open('a','w');", "['a','b']+", "'a'+", "for x in [", "if ", "do ", "end ", "lambda:", "x=>", "\\", "/", "->", "!", "|", "\n", " ", "{print > ", "sub f{f()}f();f();",
	"function f(a){f(a);g(a)} function g(a){f(a);g(a)} ", "a=['x']*9\n", "f(*a,", "x if y else ", "[[", "--[[", "(concat ", ":g/a/", "$(", "@a", "a and ", "1 2 ", "f{", "x?", "::", "'a' ", "for a in b: c(a)\n ", "a,b=", "unlink for ",
	"d.update(a='/w/x')\n", "a={'/x':a}\n", "f'{f'", "max(", "[1,2].flatMap(x=>", "n++ ", "\"a\" n ", "('/a'=>", "push @a,", "/*", "{- ", "$a=", "open ", "a='/w/'+a\nopen(a)\n", "def f(x):\n return f(x)+f(x)\nf(f(1))\n", "a=a.map(x=>x+x);", "os.chdir('..')\n", "exec('"}

// TestHostile reads as much hostile code as there may be. It measures nothing: a
// scan whose work has no bound does not come back in the time that tests have.
func TestHostile(t *testing.T) {
	for i, unit := range hostile {
		code := strings.Repeat(unit, Limit/len(unit))
		for j, lang := range languages {
			switch { // all pairs in full take too long for a suite
			case j == i%len(languages) && i%3 == 0:
				Scan(lang, code, nil)
			case (i+j)%2 == 0:
				Scan(lang, code[:len(code)/32], nil)
			}
		}
	}
	for _, s := range []snippet{{commands.Opaque, "{- "}, {commands.Opaque, "open "}, {commands.Opaque, "\"a\"+"}, {commands.Perl, "a and "}, {commands.Perl, "unlink for "},
		{commands.JavaScript, "a='/w/'+a\nopen(a)\n"}, {commands.Awk, "\"${"}, {commands.Ruby, "<a"}, {commands.SQL, "'"}} {
		Scan(s.lang, strings.Repeat(s.code, Limit/len(s.code)), nil)
	}
}

// TestBudget holds that work is counted: code that would do too much is opaque,
// and what it names at its end is seen all the same.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		lang commands.Lang
		unit string
	}{
		{commands.Python, "f(a)\n"}, {commands.JavaScript, "a=a+'x';"}, {commands.Perl, "f($a);"}, {commands.Ruby, "[1].map{|x| x}\n"},
	} {
		rep := Scan(c.lang, strings.Repeat(c.unit, Limit/len(c.unit)-32)+"\nfoo('/w/repo/x')\n", nil)
		out := false
		for _, a := range rep.Accesses {
			out = out || a.Path == "/w/repo/x"
		}
		if rep.Opaque == "" || !out {
			t.Errorf("%s: %q is opaque: %q, the path is seen: %v", c.lang, c.unit, rep.Opaque, out)
		}
	}
}

func TestTooLong(t *testing.T) {
	if Scan(commands.Python, strings.Repeat(" ", Limit+1), nil).Opaque == "" {
		t.Error("code that is too long is not opaque")
	}
	if Scan(commands.Python, mark.Any, nil).Opaque == "" {
		t.Error("code that is not known is not opaque")
	}
	if got := Scan(commands.Shell, "ls", nil).Runs; len(got) != 1 || got[0].Code != "ls" {
		t.Errorf("shell code is %v", got)
	}
}
