package shell

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"cordon/internal/mark"
)

// diary is a World that writes down what happens. Its echo prints; its other
// commands print nothing that is known.
type diary struct {
	acts  []string
	texts map[string]string
}

func (d *diary) note(s string) {
	for _, a := range d.acts {
		if a == s {
			return
		}
	}
	d.acts = append(d.acts, s)
}

func (d *diary) Exec(m *Machine, args []string) Status {
	line := mark.Words(strings.Join(args, " "))
	switch args[0] {
	case "echo":
		m.Print(strings.Join(args[1:], " ") + "\n")
		return Succeeds
	case "printf":
		m.Print(strings.Join(args[2:], ""))
		return Succeeds
	case "list":
		m.Print(mark.Inside)
	case "cat":
		if in, fed := m.Stdin(); fed && len(args) == 1 {
			m.Print(in)
			return Unsure
		}
		m.Print(mark.Any)
	case "sh":
		if len(args) > 2 && args[1] == "-c" {
			return m.Code(args[2], Child{Params: args[3:]})
		}
		if in, fed := m.Stdin(); fed {
			return m.Code(in, Child{})
		}
	case "env":
		return m.Args(args[1:], Child{})
	default:
		m.Print(mark.Any)
	}
	var env []string
	m.EachExported(func(name, value string) {
		if name != "HOME" {
			env = append(env, name+"="+mark.Words(value)+" ")
		}
	})
	d.note(mark.Words(m.Dir()) + ": " + strings.Join(env, "") + line)
	return Unsure
}

func (d *diary) Enter(m *Machine, dir, _ string) { d.note("cd " + mark.Words(dir)) }
func (d *diary) Open(m *Machine, path string, write bool) {
	if write {
		d.note("> " + mark.Words(path))
	} else {
		d.note("< " + mark.Words(path))
	}
}
func (d *diary) Text(m *Machine, path string) (string, bool) {
	t, ok := d.texts[m.join(path)]
	return t, ok
}
func (d *diary) Wrote(m *Machine, path, text string, add bool) {
	if add {
		text = d.texts[m.join(path)] + text
	}
	d.texts[m.join(path)] = text
}
func (d *diary) Doubt(m *Machine, what string) { d.note("doubt " + what) }
func (d *diary) List(dir string) ([]fs.DirEntry, error) {
	return os.ReadDir(strings.Replace(dir, "/t", "testdata/tree", 1))
}
func (d *diary) Present(m *Machine, path string, dir bool) (Kind, bool) { return Nothing, false }
func (d *diary) Real(path string) string                                { return "/real" + path }

// acts is everything that any way through a script does.
func acts(t testing.TB, script string) []string {
	t.Helper()
	all := &diary{}
	var runs []*diary
	fresh := func() World {
		d := &diary{texts: map[string]string{}}
		runs = append(runs, d)
		return d
	}
	if err := Explore(script, fresh, Start{Dir: "/t", Home: "/h"}, DefaultBudget); err != nil {
		all.note("error " + err.Error())
	}
	for _, d := range runs {
		for _, a := range d.acts {
			all.note(a)
		}
	}
	return all.acts
}

func TestMachine(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"cd a && x", "cd /t/a|/t/a: x"},
		{"(cd a; x); x", "cd /t/a|/t/a: x|/t: x"},
		{"cd a || cd b; x", "cd /t/a|/t/a: x|cd /t/b|/t/b: x"},
		{"cd -P a; x", "cd /real/t/a|/real/t/a: x"},
		{"set -P; cd a", "cd /real/t/a"},
		{"cd a/../..; x", "cd /|/: x"},
		{"cd; x", "cd /h|/h: x"},
		{"cd a; cd -; x", "cd /t/a|cd /t|/t: x"},
		{"pushd a; pushd b; popd; x", "cd /t/a|cd /t/a/b|/t/a: x"},
		{"CDPATH=/w cd repo", "cd /w/repo|cd /t/repo"},
		{"HOME=/w; cd ~ ", "cd /w"},
		{"ls ~bob ~root ~/x", "/t: ls /home/bob /root /h/x"},
		{"D=/w/REPO; cd ${D,,}", "cd /w/repo"},
		{"x=D; D=/w; cd ${!x}", "cd /w"},
		{"declare -n r=D; D=/w; cd $r", "cd /w"},
		{"a=(x y); ls \"${a[@]}\"", "/t: ls x y"},
		{"a=(x); a+=(y z); ls ${a[2]}", "/t: ls z"},
		{"declare -A m=([k]=/w); ls ${m[k]}", "/t: ls /w"},
		{"ls a{b,c}{1..2}", "/t: ls ab1 ab2 ac1 ac2"},
		{"f() { x \"$1\"; }; f a", "/t: x a"},
		{"f() { local v=1; }; v=2; f; x $v", "/t: x 2"},
		{"f() { cd a; return; x; }; f; y", "cd /t/a|/t/a: y"},
		{"alias g='x -C /w'\ng s", "/t: x -C /w s|/t: g s"},
		{"eval 'cd /w' && x", "cd /w|/w: x"},
		{"eval eval eval x", "/t: x"},
		{"x $(echo a b)", "/t: x a b"},
		{"x \"$(echo a b)\"", "/t: x a b"},
		{"x `echo a`", "/t: x a"},
		{"x ${ echo a; }", "/t: x a"},
		{"x $((1+2)) $((2**3))", "/t: x 3 8"},
		{"x $FOO", "/t: x ‹unknown›"},
		{"x ${FOO:-d} ${FOO:+e}", "/t: x d e"},
		{"x ${FOO:=$(y)}", "/t: y|/t: x ‹unknown›"},
		{"x $1 $# $@", "/t: x 0"},
		{"set -- a b; shift; x $1", "/t: x b"},
		{"read D <<< /w; cd $D", "cd /w"},
		{"while read a b; do x $b; done <<E\n1 2\n3 4\nE", "/t: x 2|/t: x 4"},
		{"list | while read f; do rm \"$f\"; done", "/t: list|/t: rm ‹files of the tree›"},
		{"mapfile -t a < <(echo p); x ${a[0]}", "< /dev/fd/1001|/t: x p"},
		{"for i in 1 2 3; do x $i; done", "/t: x 1|/t: x 2|/t: x 3"},
		{"for ((i=0;i<2;i++)); do x $i; done", "/t: x 0|/t: x 1"},
		{"i=0; while ((i<2)); do x $i; ((i++)); done", "/t: x 0|/t: x 1"},
		{"while :; do x; done; y", "/t: x|/t: y"},
		{"while :; do i=$((i+1)); x; done; y $i", "/t: x|/t: y ‹word›"},
		{"until x; do y; done", "/t: x|/t: y"},
		{"if x; then y; else z; fi", "/t: x|/t: y|/t: z"},
		{"if ! x; then if y; then if ! z; then w; fi; fi; fi", "/t: x|/t: y|/t: z|/t: w"},
		{"x && y || z", "/t: x|/t: y|/t: z"},
		{"true && y || z", "/t: y|/t: z"},
		{"false && y; z", "/t: z"},
		{"x || exit 1; y", "/t: x|/t: y"},
		{"exit; y", ""},
		{"case $X in a) x;; b|c) y;; esac", "/t: x|/t: y"},
		{"case b in a) x;; [bc]) y;; *) z;; esac", "/t: y"},
		{"case a in a) x;;& *) y;; esac", "/t: x|/t: y"},
		{"[[ a == b ]] && x; [[ a == a* ]] && y", "/t: y"},
		{"[[ -f /w/x ]] && y", "< /w/x|/t: y"},
		{"[[ 2 -gt 1 && 1 -gt 2 ]] || y", "/t: y"},
		{"echo x > a; x < b; x 2>> c; x &> d; x >| e; x <> f", "> a|< b|/t: x|> c|> d|> e|< f|> f"},
		{"exec 3> /w/x; echo hi >&3", "> /w/x"},
		{"exec {fd}<<< 'cd /w'; sh <&$fd", "cd /w"},
		{"cat <<E | sh\ncd /w\nE", "cd /w"},
		{"sh <<'E'\n$X\nE", "/t: ‹unknown›"},
		{"sh -c 'x \"$0\" $1' /w b", "/t: x /w b"},
		{"bash() { x; }; bash", "/t: x"},
		{"trap 'cd /w; x' EXIT; y", "/t: y|cd /w|/w: x"},
		{"cd /w & x", "cd /w|/t: x"},
		{"coproc { cd /w; x; }", "cd /w|/w: x"},
		{"cat <(cd /w; x)", "cd /w|/w: x|/t: cat /dev/fd/1001"},
		{"x >(cd /w)", "cd /w|/t: x /dev/null"},
		{"X=1 Y=2 x; x", "/t: X=1 Y=2 x|/t: x"},
		{"export X=1; x", "/t: X=1 x"},
		{"X=1; export X; x", "/t: X=1 x"},
		{"set -a; X=1; x", "/t: X=1 x"},
		{"printf -v X %s /w; export X; x", "/t: X=/w x"},
		{"declare -x X=/w; x", "/t: X=/w x"},
		{"v=X; export $v=1; x", "/t: X=1 x"},
		{"export X=1; export -n X; x", "/t: x"},
		{"X=1; sh -c 'x $X'; export X; sh -c 'x $X'", "/t: x ‹unknown›|/t: X=1 x 1"},
		{"command cd /w; builtin cd /v; \\cd /u", "cd /w|cd /v|cd /u"},
		{"exec x; y", "/t: x"},
		{"! x && y", "/t: x|/t: y"},
		{"time x", "/t: x"},
		{"{ x; y; } > o", "> o|/t: x|/t: y"},
		{"echo 'cd /w' > s; . ./s; . s", "> s|< ./s|< s|cd /w"},
		{"enable -f /w/x.so x", "< /w/x.so|doubt machine code that the shell loads"},
		{"PROMPT_COMMAND='cd /w'", "cd /w"},
		{"x='a[$(cd /w)]'; echo $((x))", "cd /w"},
		{"x='$(cd /w)'; echo ${x@P}", "cd /w"},
		{"echo $((`cd /w`+1))", "cd /w"},
		{"[ -n \"$(cd /w)\" ]", "cd /w|/t: [ -n  ]"},
		{"IFS=,; a=x,y; ls $a", "/t: ls x y"},
		{"$'cd' /w", "cd /w"},
		{"c''d /w; \"c\"d /v; c\\d /u", "cd /w|cd /v|cd /u"},
		{"mkdir a && cd $_", "/t: mkdir a|cd /t/a"},
		{"shopt -s lastpipe; echo /w | read d; cd $d", "cd /w"},
		{"x=..; y=${x/../&}; cd $y", "cd ‹unknown›"},
		{`x='a'\''b'; y "$x"; z ${u:-a\ b}`, "/t: y a'b|/t: z a b"},
		{`case a\*b in a\*b) z;; esac; case axb in a\*b) w;; esac`, "/t: z"},
		{`x=~/a\ b; y "$x"`, "/t: y /h/a b"},
		{"'exec' 5<<< 'cd /w'; . /dev/fd/5", "< /dev/fd/5|cd /w"},
		{"e=exec; command $e 5<<< 'cd /w'; . /dev/fd/5", "< /dev/fd/5|cd /w"},
		{". /dev/fd/7", "< /dev/fd/7|/t: ‹unknown›"},
		{"x=$(exec > /dev/null; ls)", "> /dev/null|/t: ls"},
		{"PATH=/w:$PATH; x", "/t: PATH=/w:/usr/local/bin:/usr/bin:/bin x"},
		{"# cd /w\nx", "/t: x"},
		{"x 'cd /w' \"$(true)\"", "/t: x cd /w "},
		{"rm \"${F:0:3}\"", "/t: rm ‹unknown›"},
		{"list | while read f; do mv $f ${f%.a}.b; done", "/t: list|/t: mv ‹files of the tree› ‹files of the tree›.b"},
		{"while getopts ab o; do case $o in a) x;; *) y;; esac; done", ""},
		{"select i in a b; do x $i; done", "/t: x a|/t: x b"},
		{"let x=1+1; y $x", "/t: y 2"},
		{"function g { x; }; g", "/t: x"},
		{"echo $(</w/x)", "< /w/x"},
		{"x | y |& z", "/t: x|/t: y|/t: z"},
		{"break; x", "/t: x"},
		{"f() { :; } && x", "/t: x"},
		{"return; x", "/t: x"},
		{"cd $X/..", "cd ‹unknown›"},
		{"f() { x; }; export -f f; sh -c f", "/t: x"},
		{"echo ../*", "< ../"},
		{"for i in a; do for j in b; do break 2; x; done; y; done; z", "/t: z"},
	} {
		if got := strings.Join(acts(t, c.script), "|"); got != c.want {
			t.Errorf("%q\n got  %s\n want %s", c.script, got, c.want)
		}
	}
}

// What cannot be parsed, does not end, or grows without bound is given up, soon.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   error
	}{
		"unparsed":   {"cd /w && && x", ErrSyntax},
		"long":       {strings.Repeat("x;", maxText), ErrBudget},
		"nested":     {strings.Repeat("(", 40_000), ErrBudget},
		"braces":     {"ls {1..9}{1..9}{1..9}{1..9}{1..9}{1..9}", ErrBudget},
		"doubling":   {"x=aaaaaaaa; while :; do x=$x$x; done", ErrBudget},
		"replacing":  {"x=" + strings.Repeat("a", 20_000) + "; y=${x//a/$x}", ErrBudget},
		"recursion":  {"f() { f; }; f", ErrBudget},
		"bomb":       {":(){ :|:& };:", ErrBudget},
		"eval":       {"x='eval \"$x\"'; eval \"$x\"", ErrBudget},
		"conditions": {strings.Repeat("x && y || z;", 4000), ErrBudget},
		"loops":      {"for a in {1..900}; do for b in {1..900}; do for c in {1..900}; do x; done; done; done", ErrBudget},
	} {
		begin := time.Now()
		err := Explore(c.script, func() World { return &diary{texts: map[string]string{}} }, Start{Dir: "/t", Home: "/h"}, DefaultBudget)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
