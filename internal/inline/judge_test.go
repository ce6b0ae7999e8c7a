package inline

import (
	"path"
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// The tests judge reports the way the guard would in a worktree two levels below
// its host: what leads up, home, or to /w is out; /tmp and reading the system is
// not; an unknown target is out if it is written.
func leaks(rep Report) string {
	if rep.Opaque != "" {
		return "opaque: " + rep.Opaque
	}
	for _, a := range rep.Accesses {
		if why := leak(a); why != "" {
			return why
		}
	}
	for _, r := range rep.Runs {
		if outside(r.Dir) || outside(r.File) {
			return "runs in or from " + r.Dir + r.File
		}
		for _, w := range append(append(strings.FieldsFunc(r.Code+" "+strings.Join(r.Args, " "), func(c rune) bool { return strings.ContainsRune(" ;&|'\"=()<>", c) }), r.Args...), r.Env...) {
			if _, v, ok := strings.Cut(w, "="); ok {
				w = v
			}
			if outside(strings.TrimLeft(w, "-C")) || w == mark.Any && r.Code == w {
				return "runs " + w
			}
		}
	}
	return ""
}

func leak(a Access) string {
	p := joinPath(a.Dir, a.Path)
	switch {
	case a.Weak && !strings.HasPrefix(p, "/w/") && !strings.HasPrefix(p, "~") && !strings.HasPrefix(path.Clean(p), ".."):
		return ""
	case outside(p):
		return "names " + p
	case a.Role != commands.Read && mark.Has(p, mark.Any):
		return "writes " + mark.Words(p)
	case a.Role != commands.Read && strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "/tmp/") && !strings.HasPrefix(p, "/dev/"):
		return "writes " + p
	}
	return ""
}

func outside(p string) bool {
	if i := mark.First(p); i > 0 && p[i:] == mark.Any {
		p = p[:i]
	}
	p = path.Clean(strings.ReplaceAll(p, mark.Inside, "in/side"))
	return p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "~") || p == "/w" || strings.HasPrefix(p, "/w/") || strings.HasPrefix(p, "/home/") || strings.HasPrefix(p, "/root") || mark.Has(p, mark.Outside)
}

func show(rep Report) string {
	var b strings.Builder
	for _, a := range rep.Accesses {
		b.WriteString("\n\t" + []string{"read", "write", "enter", "execute", "target"}[a.Role])
		if a.Weak {
			b.WriteString(" (weak)")
		}
		b.WriteString(" " + a.Dir + " " + a.Path)
	}
	for _, r := range rep.Runs {
		b.WriteString("\n\trun " + r.Dir + " " + r.Code + strings.Join(r.Args, " ") + r.File)
	}
	return mark.Words(b.String() + "\n\topaque: " + rep.Opaque)
}

// snippet is code with the language it is in.
type snippet struct {
	lang commands.Lang
	code string
}

func TestHarmless(t *testing.T) {
	for _, s := range harmless {
		rep := Scan(s.lang, s.code, []string{"-c", "src/a.txt"})
		if why := leaks(rep); why != "" {
			t.Errorf("%s: %s\n\t%s%s", s.lang, s.code, mark.Words(why), show(rep))
		}
	}
}

func TestEscapes(t *testing.T) {
	for _, s := range escapes {
		rep := Scan(s.lang, s.code, []string{"-c", "../../x"})
		if leaks(rep) == "" {
			t.Errorf("%s: %s\n\tpasses%s", s.lang, s.code, show(rep))
		}
	}
}

// The lines of functions.txt are sorted, each can be read, and no function is
// there twice.
func TestFunctionsAreWellFormed(t *testing.T) {
	last, count := "", 0
	for line := range strings.Lines(functions) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		w := strings.Fields(line)
		if len(w) < 3 || len(w) > 5 || !strings.Contains(functions, "\n#   "+w[2]+" ") {
			t.Errorf("%q", line)
			continue
		}
		if key := w[0] + " " + w[1] + " "; key <= last {
			t.Errorf("%q comes after %q", key, last)
		} else {
			last = key
		}
		if r, ok := knownFunction(commands.Lang(w[0]), w[1]); !ok || r.act != act(w[2]) {
			t.Errorf("%q is not found", line)
		}
		count++
	}
	if count < 700 {
		t.Errorf("%d functions", count)
	}
}

// TestOwnFile reads code that has a file: its modules are beside it.
func TestOwnFile(t *testing.T) {
	for _, c := range []struct {
		lang       commands.Lang
		code, file string
		out        bool
	}{
		{commands.JavaScript, "require('../lib/x')", "src/a/b.js", false},
		{commands.JavaScript, "require('../../lib/x')", "src/b.js", true},
		{commands.JavaScript, "require('../lib/x')", "b.js", true},
		{commands.JavaScript, "require('fs').writeFileSync(__dirname+'/../x','')", "src/b.js", false},
		{commands.JavaScript, "require('fs').writeFileSync(__dirname+'/../../x','')", "src/b.js", true},
		{commands.Python, "from pathlib import Path\n(Path(__file__).parent.parent/'x').write_text('')", "src/b.py", false},
		{commands.Python, "from pathlib import Path\n(Path(__file__).parent.parent.parent/'x').write_text('')", "src/b.py", true},
	} {
		rep := Scan(c.lang, c.code, []string{c.file})
		if got := leaks(rep) != ""; got != c.out {
			t.Errorf("%s in %s leaks: %v%s", c.code, c.file, got, show(rep))
		}
	}
}

// TestReport looks at what is reported, where the judgement alone could be right
// for a wrong reason.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		lang       commands.Lang
		code, want string
	}{
		{commands.Python, "open('a','w')", "write  a"},
		{commands.Python, "open('a')", "read  a"},
		{commands.Python, "import os\nos.chdir('d')\nopen('a','w')", "enter  d|write d a"},
		{commands.Python, "import subprocess\nsubprocess.run(['ls','-l'],cwd='d')", "enter  d|run d ls -l"},
		{commands.Python, "import os\nos.system('ls')", "run  ls"},
		{commands.Python, "import os\nos.symlink('../t','d/l')", "write  d/l|target d ../t"},
		{commands.Python, "foo('/api')", "read (weak)  /api"},
		{commands.Python, "foo('api')", ""},
		{commands.Python, "print('/api')", ""},
		{commands.JavaScript, "require('fs').renameSync('a','b')", "write  a|write  b"},
		{commands.Ruby, "File.symlink('t','l')", "write  l|target . t"},
		{commands.Perl, "open F, '<a'", "read  a"},
		{commands.Perl, "open F, '>>a'", "write  a"},
		{commands.Awk, "{print >> \"a\"}", "write  a"},
		{commands.SQL, "attach 'a' as b", "write  a"},
	} {
		rep := Scan(c.lang, c.code, nil)
		got, _, _ := strings.Cut(show(rep), "\n\topaque:")
		if got = strings.ReplaceAll(strings.TrimPrefix(got, "\n\t"), "\n\t", "|"); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.lang, c.code, got, c.want)
		}
	}
}
