package guard

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"cordon/internal/shell"
	"cordon/internal/testground"
)

// expensive is an input that is made to cost a lot.
type expensive struct {
	name, command string
	harmless      bool // it does nothing outside, and may be allowed
}

// hostile are inputs that are meant to cost more than they look, and nestings of each depth.
func hostile(depths ...int) []expensive {
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	rows := []expensive{
		{"a megabyte of words", "echo " + strings.Repeat("a ", 1<<19), false},
		{"eight megabytes of one word", "echo " + strings.Repeat("a", 8<<20), false},
		{"a megabyte of statements", strings.Repeat("a\n", 1<<19), false},
		{"a megabyte of nothing", strings.Repeat("\n", 1<<20), false},
		{"a megabyte of comment", "#" + strings.Repeat("x", 1<<20), false},
		{"statements below the limit", strings.Repeat("a;", 30_000), false},
		{"a here-document of a megabyte", "cat <<E\n" + strings.Repeat("x\n", 1<<19) + "E", false},
		{"many here-documents", "cat " + strings.Repeat("<<E ", 5000) + "\n" + strings.Repeat("E\n", 5000), true},
		{"functions", list(3000, "f%d() { :; }\n") + "f1", true},
		{"functions that call each other", list(400, "f%[1]d() { f$((%[1]d+1)); f$((%[1]d+1)); }\n") + "f1", false},
		{"recursion", "f() { f; }; f", false},
		{"a fork bomb", ":(){ :|:& };:", false},
		{"braces that explode", "touch " + strings.Repeat("{a,b}", 40), false},
		{"a range", "touch {1..99999999}", false},
		{"ranges of ranges", "touch {1..9999}{1..9999}{1..9999}", false},
		{"a range of words", "cat ../../{1..99999999}", false},
		{"doubling", "x=aaaaaaaa; " + strings.Repeat("x=$x$x; ", 40) + "cat $x", false},
		{"doubling in a loop", "x=aa; while :; do x=$x$x; done", false},
		{"doubling by replacement", "x=aaaaaaaa; " + strings.Repeat("x=${x//a/aa}; ", 40) + "cat $x", false},
		{"doubling of an array", "a=(1 2 3); " + strings.Repeat(`a=("${a[@]}" "${a[@]}"); `, 40) + `cat "${a[@]}"`, false},
		{"wide printf", "x=$(printf %99999999d 1); cat $x", true},
		{"wider printf", "printf -v x %0999999999d 1; cat $x", true},
		{"printf again and again", "x=$(printf '%s' $(seq 99999999)); cat $x", true},
		{"seq", "for i in $(seq 1 99999999); do touch ../../$i; done", false},
		{"yes", "x=$(yes | head -c 99999999999); cat $x", true},
		{"a subscript", "a[99999999999]=1; echo ${a[@]}", true},
		{"subscripts", "a[999999999]=1; a[9223372036854775807]=2; cat ${a[@]} ${#a[@]}", true},
		{"a negative subscript", "a=(1); echo ${a[-99999999]}", true},
		{"powers", "x=$((2**63)); y=$((9**999999999)); touch ../../$x$y", false},
		{"division by nothing", "x=$((1/0)); y=$((1%0)); touch /w/repo/x", false},
		{"the smallest divided", "x=$(( -9223372036854775808 / -1 )); touch /w/repo/x", false},
		{"shifts", "x=$((1<<99999999999)); y=$((1<<-1)); touch /w/repo/x", false},
		{"an arithmetic loop", "for ((i=0;i<99999999999;i++)); do :; done; touch /w/repo/x", false},
		{"arithmetic that assigns itself", "x=x+1; y=$((x)); touch /w/repo/x", false},
		{"an endless loop", "while :; do :; done", true},
		{"endless loops", strings.Repeat("while true; do ", 20) + ":" + strings.Repeat("; done", 20), true},
		{"loops of loops", strings.Repeat("for i in 1 2 3 4 5 6 7 8; do ", 20) + "touch ../../x" + strings.Repeat("; done", 20), false},
		{"aliases that are each other", "shopt -s expand_aliases\nalias a=b b=a\na\nalias c='c c'\nc", true},
		{"aliases that double", list(40, "alias a%[1]d='a%[1]d; a%[1]d'\n") + "a1", true},
		{"references that are each other", "declare -n a=b b=a; a=1; cat $a", true},
		{"a reference to itself", "declare -n a=a; cat $a", true},
		{"references in a row", list(2000, "declare -n v%[1]d=v$((%[1]d+1)); ") + "cat $v1", true},
		{"indirection of itself", "a=a; cat ${!a} ${!a}", true},
		{"eval of eval", strings.Repeat("eval ", 5000) + "touch ../../x", false},
		{"eval of itself", `x='eval "$x"'; eval "$x"`, false},
		{"eval that doubles", `x='eval "$x$x"'; eval "$x"`, false},
		{"bash of bash", shells(7), false},
		{"wrappers of wrappers", strings.Repeat("env ", 8000) + "touch ../../x", false},
		{"xargs of xargs", strings.Repeat("xargs ", 2000) + "touch ../../x", false},
		{"and, or", "a" + strings.Repeat(" && b || c", 3000), false},
		{"and, or with ends", list(30, "{ a%[1]d && cd x%[1]d || cd y%[1]d; }; ") + "touch z", true},
		{"conditions", list(60, "if a%[1]d; then x=$x%[1]d; fi; ") + "touch ../../$x", false},
		{"pipes", "a" + strings.Repeat(" | b", 8000), true},
		{"a huge case", "case $x in " + list(5000, "p%d) :;; ") + "esac", false},
		{"cases of cases", strings.Repeat("case $x in a) ", 150) + "touch ../../x" + strings.Repeat(" ;; esac", 150), false},
		{"patterns", "x=" + strings.Repeat("a", 5000) + "; case $x in " + strings.Repeat("*a", 200) + "b) :;; esac; touch ../../x", false},
		{"extended patterns", "shopt -s extglob; x=" + strings.Repeat("a", 60) + "; [[ $x == +(+(+(a)))b ]]; touch ../../x", false},
		{"a regular expression", "[[ " + strings.Repeat("a", 60) + " =~ (a*)*(a*)*(a*)*b ]]; touch ../../x", false},
		{"removal by patterns", "x=" + strings.Repeat("a", 30_000) + "; y=${x##*a*a*a*a*b}; touch ../../x", false},
		{"case folding", "x=" + strings.Repeat("a", 60_000) + "; " + strings.Repeat("x=${x^^}; x=${x,,}; ", 400) + "touch ../../x", false},
		{"globs", "cat " + strings.Repeat("/*/*/*/* ", 500), false},
		{"stars", "shopt -s globstar; cat /usr/**/* /usr/**/*", true},
		{"a deep path", "cat " + strings.Repeat("a/", 30_000) + strings.Repeat("../", 30_000) + "../../x", false},
		{"climbing", "cat " + strings.Repeat("../", 20_000), true},
		{"links in a row", list(500, "ln -s l%[1]d m%[1]d; ") + "touch m1", true},
		{"a link to itself", "ln -s l l; touch l/x", false},
		{"directories", strings.Repeat("cd src; cd ..; ", 3000) + "cd ../..", false},
		{"pushd", strings.Repeat("pushd src; ", 4000) + "touch ../../../../../../../x", false},
		{"traps", strings.Repeat("trap 'trap : EXIT' EXIT; ", 2000) + "touch ../../x", false},
		{"a trap of itself", "trap 'eval \"$BASH_COMMAND\"; touch ../../x' DEBUG; a", false},
		{"descriptors", list(5000, "exec %d>&1; ") + "touch ../../x", false},
		{"assignments", list(8000, "v%d=1; ") + "touch ../../x", false},
		{"subshells of a big shell", list(3000, "v%d=1; ") + strings.Repeat("(:); ", 3000) + "touch ../../x", false},
		{"mapfile", "mapfile -t a < <(yes); cat \"${a[@]}\"", true},
		{"process substitutions", "cat " + strings.Repeat("<(cat ", 150) + "../../x" + strings.Repeat(")", 150), false},
		{"jq", "jq -n '[range(99999999999)]' > ../../x", false},
		{"python", "python3 -c '" + strings.Repeat("(", 30_000) + "'", false},
		{"python that doubles", "python3 -c 'x=\"a\"*99999999999; open(x*9,\"w\")'", false},
		{"awk", "awk 'BEGIN { while (1) x = x \"aaaa\"; print > x }'", false},
		{"sed", "sed '" + strings.Repeat("{", 20_000) + "' list.txt", false},
		{"find", "find . " + strings.Repeat("\\( -name a -o ", 8000) + "-delete", false},
	}
	for _, n := range depths {
		for _, d := range [][3]string{
			{"(", "a", ")"}, {"{ ", "a;", " };"}, {"$(", "a", ")"}, {"\"$(", "a", ")\""}, {"`", "a", "`"}, {"((", "1", "))"}, {"$((", "1", "))"}, {"$((1+(", "1", ")))"}, {"[[ (", " a ", ") ]]"}, {"if a; then ", "b", "; fi"},
			{"while a; do ", "b", "; done"}, {"for i in 1; do ", "b", "; done"}, {"case a in a) ", "b", ";; esac"}, {"f() { ", "a;", " };"}, {"${a:-", "b", "}"}, {"\"${a:-", "b", "}\""}, {"${a[", "1", "]}"}, {"a[", "1", "]=1"}, {"a=(", "1", ")"},
			{"! ", "a", ""}, {"time ", "a", ""}, {"eval '", "a", "'"}, {"<(", "a", ")"}, {"cat <<E\n$(", "a", "\nE\n)"}, {"$[", "1", "]"}, {"coproc ", "a", ""}, {"{a,", "b", "}"}, {"@(", "a", ")"}, {"'", "a", "'"}, {"\\", "a", ""}, {"[", "a", "]"},
		} {
			rows = append(rows,
				expensive{fmt.Sprintf("%d of %q", n, d[0]), "echo " + nest(d[0], d[1]+" ../../x", d[2], n) + "; touch ../../x", false},
				expensive{fmt.Sprintf("%d of %q, alone", n, d[0]), nest(d[0], "touch ../../x", d[2], n), n < 200},
				expensive{fmt.Sprintf("%d of %q, open", n, d[0]), strings.Repeat(d[0], n), true},
			)
		}
	}
	return rows
}

// shells is a shell that starts a shell that starts a shell.
func shells(n int) string {
	c := "touch ../../x"
	for range n {
		c = "bash -c " + single(c)
	}
	return c
}

// hangs is when a test stops to wait; what a call may cost is counted, not timed.
const hangs = time.Minute

// Nothing that is made to be expensive is, and none of it is allowed but what is
// harmless.
func TestHostile(t *testing.T) { withstands(t, hostile(150)) }

func TestHostileAll(t *testing.T) {
	withstands(t, hostile(190, 1000, 5000, 300_000))
}

func withstands(t *testing.T, list []expensive) {
	s := worker(t)
	for _, h := range list {
		d, cost := costs(s, h.command)
		if cost.bytes > 64<<20 {
			t.Errorf("%s: %d MB", h.name, cost.bytes>>20)
		}
		if cost.took > hangs {
			t.Errorf("%s: it hangs (%v)", h.name, cost.took)
		}
		if d.Verdict == Allow && !h.harmless {
			t.Errorf("%s is allowed: %.80q", h.name, h.command)
		}
		if os.Getenv("GUARD_COSTS") != "" {
			t.Logf("%6d kB %8v %-5s %s: %.60s", cost.bytes>>10, cost.took.Round(time.Microsecond), d.Verdict, h.name, d.Reason)
		}
	}
}

type cost struct {
	bytes uint64 // everything that was allocated, kept or not
	took  time.Duration
}

func costs(s *Scope, command string) (Decision, cost) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	d := Decide(s, Call{Tool: "Bash", Shell: []string{command}})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return d, cost{after.TotalAlloc - before.TotalAlloc, took}
}

// A glob over a directory of many files costs no more than is allowed for.
func TestBigDirectory(t *testing.T) {
	dir := t.TempDir()
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := worker(t)
	for _, c := range []string{"cat DIR/*", "cat DIR/* DIR/* DIR/* DIR/* DIR/*", "cat DIR/*{1,2,3,4,5,6,7,8,9}*{1,2,3,4}*", "for f in DIR/*; do for g in DIR/*; do cat $f $g; done; done; touch ../../x"} {
		d, cost := costs(s, strings.ReplaceAll(c, "DIR", dir))
		if cost.bytes > 64<<20 || cost.took > hangs {
			t.Errorf("%s: %d MB, %v", c, cost.bytes>>20, cost.took)
		}
		if strings.Contains(c, "touch") && d.Verdict == Allow {
			t.Errorf("%s is allowed", c)
		}
	}
}

// spy counts what a script tells its world.
type spy struct {
	*judge
	told *int
}

func (s spy) Exec(m *shell.Machine, args []string) shell.Status {
	*s.told++
	return s.judge.Exec(m, args)
}

// The budget is of steps and bytes, so that a slow machine judges as a quick one.
// The deadline is a second net: what only it ends is named here.
func TestBudget(t *testing.T) {
	s := worker(t)
	b := shell.DefaultBudget
	b.Deadline = time.Second
	for _, h := range hostile(150, 5000) {
		told := 0
		shared := newSeen()
		err := shell.Explore(h.command, func() shell.World { return spy{s.judge(shared), &told} }, shell.Start{Dir: s.Worktree, Home: s.Home}, b)
		if told > b.Steps {
			t.Errorf("%s: %d commands, the budget is %d steps", h.name, told, b.Steps)
		}
		if err != nil && strings.Contains(err.Error(), "too long") {
			t.Logf("only the deadline ends %s (after %d commands)", h.name, told)
		}
	}
}

func slowly() bool { return testground.Wanted() != testground.Fast }

// crowded has one directory too many elsewhere, and a link out in the worktree.
type crowded struct{ Files }

func (c crowded) ReadDir(name string) ([]fs.DirEntry, error) {
	listed := fstest.MapFS{"readme-link": &fstest.MapFile{Mode: fs.ModeSymlink}}
	switch name {
	case "/usr/many":
		listed = fstest.MapFS{}
		for i := range maxEntries + 1 {
			listed[fmt.Sprint(i)] = &fstest.MapFile{}
		}
	case ownTree:
	default:
		return c.Files.ReadDir(name)
	}
	return listed.ReadDir(".")
}

// What a script lists elsewhere does not use up what the guard reads of the
// worktree.
func TestCrowdedElsewhere(t *testing.T) {
	s := worker(t)
	s.Files = crowded{s.Files}
	for _, c := range []string{"touch readme-l*", ": /usr/many/x*; touch readme-l*"} {
		if d := Decide(s, Call{Tool: "Bash", Shell: []string{c}}); d.Verdict == Allow || tired(d) {
			t.Errorf("%s: %s %s", c, d.Verdict, d.Reason)
		}
	}
}
