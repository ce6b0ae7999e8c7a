package inline

import (
	"fmt"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	units := []string{"(", "[", "{", "(((]]]", "a(", "f(f(", "'", "\"${", "`", "#{", "a=a+a\n", "a+='x'\n", "def f():\n f()\n", "x.", "x.y(", "$x[", "@{[", "<<A\n", "s{", "q(", "%w[",
		"open('a','w');", "['a','b']+", "'a'+", "for x in [", "if ", "do ", "end ", "lambda:", "x=>", "\\", "/", "->", "!", "|", "\n", " ", "{print > ", "sub f{f()}f();f();",
		"function f(a){f(a);g(a)} function g(a){f(a);g(a)} ", "a=['x']*9\n", "f(*a,", "x if y else ", "[[", "--[[", "(concat ", ":g/a/", "$(", "@a", "a and ", "1 2 ", "f{", "x?", "::", "'a' ", "for a in b: c(a)\n ", "a,b=", "unlink for ",
		"x.append('/w/'+y)\n", "d.update(a='/w/x')\n", "d['/a']=d\n", "a=[a,a]\n", "a={'/x':a}\n", "f'{f'", "\"#{\"#{", "max(", "map(f,[", "(x=>x(", "[1,2].flatMap(x=>", "n++ ", "\"a\" n ", "a=>b,", "('/a'=>", "push @a,", "foo('/", "/*", "(* ", "{- ", "\"\"\"", "cd ../\n", "\"a\"+", "# ", "../", "!a\n", "/ab/c ", "execute('attach ", "f(**a,", "getattr(x,", "exec('", "eval(eval(", "x[x[", "if x {", "case ", "=begin\n", "<<~E\n", "qw(", "s/a/", "y/", "$#{", "<a", "x y z ", "-e ", "def a;", "class A\n", "|x|", "do |x|", "&:a ", "%d", "'%s'%", "'{}'.format(", "'x'.replace(", "''.join([", "[x for x in ", "(x for x in ", "{x:y for ", "@include \"", "BEGIN{", "END{", "local function f() ", "try ", "catch ", "$a=", "$a->", "$$", "@$", "...", "=", "==", ",", ";", ":", "a:b ", "\t", "\r\n", "0x", "1.", "é", "\x00", "\xff",
		"a='/w/'+a\nopen(a)\n", "x=open('/a%d'%1);", "function a(){return b()}function b(){return a()+a()}a();", "def f(x):\n return f(x)+f(x)\nf(f(1))\n", "a=a.map(x=>x+x);", "p=p/'..'\n", "os.chdir('..')\n", "os.environ['A']='b'\n", "subprocess.run(['a','/b'])\n", "os.system('a b')\n",
	}
	for i := 0; i < 300; i++ {
		units = append(units, fmt.Sprintf("open('/w/%d');", i)+"")
		if i > 3 {
			break
		}
	}
	type r struct {
		d time.Duration
		s string
	}
	var rs []r
	for _, u := range units {
		code := strings.Repeat(u, Limit/len(u))
		for _, lang := range languages {
			start := cpu()
			Scan(lang, code, nil)
			rs = append(rs, r{cpu() - start, fmt.Sprintf("%s %q", lang, u)})
		}
	}
	// distinct
	var b strings.Builder
	for i := 0; b.Len() < Limit-40; i++ {
		fmt.Fprintf(&b, "open('/w/%d')\n", i)
	}
	for _, lang := range languages {
		start := cpu()
		Scan(lang, b.String(), nil)
		rs = append(rs, r{cpu() - start, fmt.Sprintf("%s distinct", lang)})
	}
	sort.Slice(rs, func(i, j int) bool { return rs[i].d > rs[j].d })
	for _, x := range rs[:60] {
		t.Log(x.d, x.s)
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
