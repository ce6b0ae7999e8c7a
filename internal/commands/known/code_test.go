package known

import (
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/code"
	"cordon/internal/mark"
)

// told says a Use in a line: R, W, E, X and T for accesses, then what runs.
func told(u commands.Use) string {
	var b strings.Builder
	for _, a := range u.Access {
		b.WriteString(" " + string("RWEXT"[a.Role]) + ":" + a.Path)
	}
	for _, r := range u.Runs {
		switch {
		case r.Args != nil:
			b.WriteString(" run[" + strings.Join(r.Args, " ") + "]")
		case r.File != "":
			b.WriteString(" " + string(r.Lang) + "-file[" + strings.Join(append([]string{r.File}, r.Params[min(1, len(r.Params)):]...), " ") + "]")
		default:
			b.WriteString(" " + string(r.Lang) + "[" + r.Code + "]")
			if r.Why == "standard input" && len(r.Params) > 1 {
				b.WriteString("+" + strings.Join(r.Params[1:], "+"))
			}
		}
	}
	for range u.Findings {
		b.WriteString(" ask")
	}
	return strings.TrimSpace(b.String())
}

func TestCoded(t *testing.T) {
	for _, c := range []struct{ line, stdin, want string }{
		{"python3|-c|print(1)", "", "python[print(1)]"},
		{"python3|-Ic|print(1)|a", "", "python[print(1)]"},
		{"python3.12|-W|ignore|-c|x", "", "python[x]"},
		{"python3|script.py|../../x", "", "R:../../x python-file[script.py ../../x]"},
		{"python3|-u|-X|dev|script.py", "", "python-file[script.py]"},
		{"python3|-", "print(1)", "python[print(1)]"},
		{"python3", "print(1)", "python[print(1)]"},
		{"python3|--version", "", ""},
		{"python3|-m|json.tool|../../package.json", "", "R:../../package.json"},
		{"python3|-m|json.tool|a|b", "", "R:a W:b"},
		{"python|-m|pip|install|-r|x", "", "run[pip install -r x]"},
		{"python|-m|pytest|tests", "", "run[pytest tests]"},
		{"python|-um|pytest", "", "run[pytest]"},
		{"python|-m|venv|../../v", "", "W:../../v"},
		{"python|-m|http.server|-d|../..|8000", "", "E:../.."},
		{"python|-m|py_compile|src/a.py", "", "R:src/a.py"},
		{"python|-m|zipfile|-e|a.zip|../../x", "", "R:a.zip W:../../x"},
		{"python|-m|tarfile|-c|../../a.tar|x", "", "W:../../a.tar R:x"},
		{"python|-m|timeit|-s|a|b", "", "python[a\nb]"},
		{"python|-m|cProfile|-o|out|x.py", "", "W:out python-file[x.py]"},
		{"node|-e|1|a", "", "javascript[1]"},
		{"node|-p|1", "", "javascript[1]"},
		{"node|--eval=1", "", "javascript[1]"},
		{"node|-pe|1", "", "javascript[1]"},
		{"node|-r|../../x.js|a.js", "", "R:../../x.js javascript-file[a.js]"},
		{"node|-r|dotenv/config|a.js", "", "R:dotenv/config javascript-file[a.js]"},
		{"node|--test|tests/", "", "javascript-file[tests/]"},
		{"node", "1", "javascript[1]"},
		{"nodejs|--import|tsx|a.ts", "", "javascript-file[a.ts]"},
		{"deno|eval|1", "", "javascript[1]"},
		{"deno|run|-A|a.ts|../../x", "", "R:../../x javascript-file[a.ts ../../x]"},
		{"deno|run|--allow-write|-", "1", "javascript[1]"},
		{"deno|fmt|../../x", "", "W:../../x"},
		{"bun|-e|1", "", "javascript[1]"},
		{"bun|run|../../x.ts", "", "javascript-file[../../x.ts]"},
		{"bun|--cwd|../..|run|./x.ts", "", "E:../.. R:./x.ts javascript-file[run ./x.ts]"},
		{"tsx|-e|1", "", "javascript[1]"},
		{"ts-node|x.ts", "", "javascript-file[x.ts]"},
		{"perl|-e|1|../../x", "", "R:../../x perl[1]"},
		{"perl|-pi|-e|s/a/b/|../../README.md", "", "W:../../README.md perl[s/a/b/]"},
		{"perl|-pi.bak|-e|s/a/b/|a", "", "W:a perl[s/a/b/]"},
		{"perl|-i|-pe|s/a/b/|a", "", "W:a perl[s/a/b/]"},
		{"perl|-lane|print $F[0]|a", "", "R:a perl[print $F[0]]"},
		{"perl|-0777|-ne|print|a", "", "R:a perl[print]"},
		{"perl|-0777pe|print|a", "", "R:a perl[print]"},
		{"perl|-F:|-lane|print|a", "", "R:a perl[print]"},
		{"perl|-ne|print|a|b", "", "R:a R:b perl[print]"},
		{"perl|-I../../lib|-MFoo|-e|1", "", "R:../../lib perl[1]"},
		{"perl|-i../../bak/*|-pe|1|a", "", "W:../../bak/" + mark.Atom + " W:a perl[1]"},
		{"perl|x.pl|a", "", "perl-file[x.pl a]"},
		{"perl5.38|-e|1", "", "perl[1]"},
		{"perl|-e|a|-e|b", "", "perl[a\nb]"},
		{"ruby|-e|puts 1", "", "ruby[puts 1]"},
		{"ruby|-C|../..|-e|1", "", "E:../.. ruby[1]"},
		{"ruby|-ne|puts|a", "", "R:a ruby[puts]"},
		{"ruby|-pi|-e|1|../../a", "", "W:../../a ruby[1]"},
		{"ruby|-rjson|-e|1", "", "ruby[1]"},
		{"ruby|-r|./x|-e|1", "", "R:./x ruby[1]"},
		{"php|-r|echo 1;", "", "opaque[echo 1;]"},
		{"php|-S|localhost:80|-t|../..", "", "E:../.."},
		{"php|x.php", "", "opaque-file[x.php]"},
		{"php|-l|x.php", "", "opaque-file[x.php]"},
		{"php|-d|a=b|-f|x.php", "", "opaque-file[x.php]"},
		{"awk|{print}|../../x", "", "R:../../x awk[{print}]"},
		{"awk|-F/|{print $NF}|a", "", "R:a awk[{print $NF}]"},
		{"awk|-F|:|-v|x=../..|{print > x}|a", "", "R:a awk[BEGIN{x=\"../..\"}\n{print > x}]"},
		{"awk|-f|x.awk|a", "", "R:a awk-file[x.awk a]"},
		{"awk|1|x=1|a", "", "R:a awk[BEGIN{x=\"1\"}\n1]"},
		{"gawk|-i|inplace|1|a", "", "W:a awk[1]"},
		{"gawk|-o../../x|1", "", "W:../../x awk[1]"},
		{"sed|-i../../b/*|s/a/b/|a", "", "W:../../b/" + mark.Atom + " W:a"},
		{"sed|" + mark.Any + "|a", "", "R:a ask"},
		{"sed|s/v/" + mark.Any + "/|a", "", "R:a"},
		{"lua|-e|print(1)", "", "opaque[print(1)]"},
		{"luajit|x.lua", "", "opaque-file[x.lua]"},
		{"Rscript|-e|1", "", "opaque[1]"},
		{"R|--no-save|-e|1", "", "opaque[1]"},
		{"R|-q|-f|x.R", "", "opaque-file[x.R]"},
		{"julia|--project=../..|-e|1", "", "E:../.. opaque[1]"},
		{"julia|-E|1", "", "opaque[1]"},
		{"pwsh|-NoProfile|-Command|ls|..", "", "opaque[-NoProfile -Command ls ..]"},
		{"pwsh|-c|ls", "", "opaque[-c ls]"},
		{"pwsh|-EncodedCommand|abc", "", "opaque[-EncodedCommand abc]"},
		{"pwsh|-File|x.ps1|a", "", "opaque-file[x.ps1 a]"},
		{"pwsh|-wo|../..|-c|ls", "", "opaque[-wo ../.. -c ls]"},
		{"osascript|-e|do shell script \"x\"", "", "opaque[do shell script \"x\"]"},
		{"expect|-c|spawn x", "", "opaque[spawn x]"},
		{"expect|-f|x.exp", "", "opaque-file[x.exp]"},
		{"expect|-", "spawn x", "opaque[spawn x]"},
		{"tclsh|x.tcl", "", "opaque-file[x.tcl]"},
		{"vim|-es|-c|wq|../../README.md", "", "W:../../README.md opaque[wq]"},
		{"vim|+wq|a", "", "W:a opaque[wq]"},
		{"vim|-c|:!x|-c|q", "", "opaque[:!x\nq]"},
		{"nvim|--headless|+lua x|+q|a", "", "W:a opaque[lua x\nq]"},
		{"view|a", "", "R:a"},
		{"vim|-R|a", "", "R:a"},
		{"vim|-S|x.vim|a", "", "W:a opaque-file[x.vim]"},
		{"ex|-s|a", "w ../../x", "W:a opaque[w ../../x]"},
		{"ex|-sc|wq|a", "", "W:a opaque[wq]"},
		{"ed|-s|../../x", "w\nq", "W:../../x opaque[w\nq]"},
		{"ed|!ls", "", "[ls]"},
		{"emacs|--batch|--eval|(x)|a", "", "W:a opaque[(x)]"},
		{"emacs|-batch|-l|../../x.el|-f|f", "", "R:../../x.el"},
		{"emacs|--script|x.el", "", "opaque-file[x.el]"},
		{"sqlite3|../../x.db|create table t(a)", "", "W:../../x.db sql[create table t(a)]"},
		{"sqlite3|-readonly|a.db|select 1", "", "R:a.db sql[select 1]"},
		{"sqlite3|a.db", ".shell x", "W:a.db sql[.shell x]"},
		{"sqlite3|:memory:|select 1", "", "sql[select 1]"},
		{"sqlite3|-cmd|.shell x|a.db|.tables", "", "W:a.db sql[.shell x\n.tables]"},
		{"sqlite3|-init|x.sql|a.db|1", "", "W:a.db sql-file[x.sql] sql[1]"},
		{"bc|-l", "1+1", ""},
		{"bc|../../x", "", "R:../../x"},
		{"dc|-e|!touch ../../x", "", "opaque[!touch ../../x] [touch ../../x]"},
		{"dc", "1 2 + p", ""},
		{"m4|../../x", "", "R:../../x"},
		{"m4", "syscmd(`x')", "opaque[syscmd(`x')]"},
		{"m4", "include(/w/repo/a)", "opaque[include(/w/repo/a)]"},
		{"python3|-|src/a.go", "print(1)", "R:src/a.go python[print(1)]+src/a.go"},
		{"python3|-c|exec(sys.stdin.read())", "print(1)", "python[exec(sys.stdin.read())] python[print(1)]"},
		{"python3|-c|print(input())", "print(1)", "python[print(input())]"},
		{"python3|-m|code", "print(1)", "python[print(1)]"},
		{"ipython|-c|!touch ../../x", "", "python[!touch ../../x] [touch ../../x]"},
		{"perl|-x|../../x.pl", "", "perl-file[../../x.pl]"},
		{"php|-d|auto_prepend_file=../../x.php|-r|1;", "", "R:../../x.php opaque[1;]"},
		{"pwsh|-EncodedCommand|bABzAA==", "", "opaque[-EncodedCommand bABzAA==\nls]"},
		{"pwsh|-EncodedCommand|!", "", "opaque[-EncodedCommand !]"},
		{"osascript|-l|JavaScript|-e|x", "", "javascript[x]"},
		{"emacs|--batch|--directory|../..|-l|x", "", "R:../.."},
		{"clj|-M|-e|(x)", "", "opaque[(x)]"},
		{"lein|exec|-e|(x)", "", "opaque[(x)]"},
		{"clisp|-x|(x)", "", "opaque[(x)]"},
		{"scala-cli|eval|x", "", "opaque[x]"},
		{"clickhouse-local|-q|x", "", "sql[x]"},
		{"elixir|-e|x", "", "opaque[x]"},
		{"ghc|-e|x", "", "opaque[x]"},
		{"racket|-e|(x)", "", "opaque[(x)]"},
		{"guile|-c|(x)", "", "opaque[(x)]"},
		{"clojure|-e|(x)", "", "opaque[(x)]"},
		{"groovy|-e|x", "", "opaque[x]"},
		{"raku|-e|x", "", "opaque[x]"},
		{"gnuplot|-e|x", "", "opaque[x]"},
		{"octave|--eval|x", "", "opaque[x]"},
		{"rails|runner|puts 1", "", "ruby[puts 1]"},
		{"dotnet|script|eval|x", "", "opaque[eval x]"},
		{"crystal|eval|x", "", "opaque[x]"},
		{"irb", "puts 1", "ruby[puts 1]"},
	} {
		args := strings.Split(c.line, "|")
		u := Of(commands.Call{Args: args, Stdin: c.stdin, Fed: c.stdin != ""})
		if got := told(u); got != c.want {
			t.Errorf("%s\n\tis   %s\n\twant %s", c.line, mark.Words(got), mark.Words(c.want))
		}
		if !u.Known {
			t.Errorf("%s is not known", c.line)
		}
	}
}

func TestStreams(t *testing.T) {
	for _, c := range []struct{ line, stdin, want string }{
		{"sed|s/a/b/", "aa\nca\n", mark.Any},
		{"sed|-n|2p", "a\nb\nc\n", mark.Any},
		{"sed|/x/d", "a\n", mark.Any},
		{"sed|s/x/y/", mark.Inside, mark.Inside},
		{"sed|s/x/..\\/y/", mark.Inside, mark.Any},
		{"sed|s#^#/w/repo/#", mark.Inside, mark.Any},
		{"sed|-n|s/^worktree //p;q", "worktree " + mark.Outside, mark.Outside},
		{"sed|s/x/y/|file", "a", mark.Any},
		{"awk|{print $2}", "a b\nc d\n", mark.Any},
		{"awk|-F:|{print $1}", "a:b\n", mark.Any},
		{"awk|{ print $NF }", mark.Atom + " " + mark.Inside + "\n", mark.Inside + "\n"},
		{"awk|{print $1}", mark.Inside, mark.Inside + "\n"},
		{"awk|{print \"../\" $1}", mark.Inside, mark.Any},
		{"awk|{print $1}", mark.Outside, mark.Outside + "\n"},
		{"awk|NR>1", "a\n", mark.Any},
		{"awk|/^M/ {print $2}", mark.Atom + " " + mark.Inside + "\n", mark.Inside + "\n"},
		{"awk|$2==\"x\"{print $1}", mark.Inside + " " + mark.Atom + "\n", mark.Inside + "\n"},
		{"awk|$2=\"../..\"{print $2}", mark.Atom + " " + mark.Inside + "\n", mark.Any},
		{"awk|-F:|{print $1}", mark.Inside + ":" + mark.Atom + ":" + mark.Any + "\n", mark.Inside + "\n"},
		{"perl|-pe|s/a/b/", mark.Inside, mark.Inside},
		{"perl|-pe|s/^/..\\//", mark.Inside, mark.Any},
	} {
		u := Of(commands.Call{Args: strings.Split(c.line, "|"), Stdin: c.stdin, Fed: true})
		if u.Out != c.want {
			t.Errorf("%s of %q prints %q, want %q", c.line, mark.Words(c.stdin), mark.Words(u.Out), mark.Words(c.want))
		}
	}
}

func FuzzCoded(f *testing.F) {
	f.Add("sed|-n|s/a/b/w x|y", "a")
	f.Add("perl|-lani.bak|-e|x", "")
	f.Add("awk|-F|x", "b")
	f.Add("sed|s", "b")
	f.Add("vim|-c", "")
	var interpreters []string
	for _, r := range tableEntries(f) {
		if r.Lang != "" {
			interpreters = append(interpreters, strings.TrimSuffix(r.Name, " -e"))
		}
	}
	f.Fuzz(func(t *testing.T, line, stdin string) {
		if len(line) > 4096 || len(stdin) > 4096 {
			return
		}
		args := strings.Split(line, "|")
		for _, name := range interpreters {
			code.Use(commands.Call{Args: append([]string{name}, args...), Stdin: stdin, Fed: true}, tabled)
		}
		code.Use(commands.Call{Args: args, Stdin: stdin, Fed: true}, tabled)
		code.SedScript(line)
	})
}
