package guard

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/shell"
)

// corpusCommands are the commands of the corpora that are there.
func corpusCommands(t testing.TB) []labelled {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal("no corpus: ", err)
	}
	var list []labelled
	for _, name := range names {
		for _, c := range readCases(t, name) {
			if c.Tool == "Bash" || c.Tool == "" {
				list = append(list, c)
			}
		}
	}
	return list
}

// FuzzDecide: whatever a command is, there is a verdict, in time; what cannot be
// parsed is not allowed; and what is refused is refused however it is written.
func FuzzDecide(f *testing.F) {
	every := 90 // each is judged some forty times
	if slowly() {
		every = 9
	}
	for i, c := range corpusCommands(f) {
		if i%every == 0 {
			f.Add(c.Command)
		}
	}
	for _, seed := range []string{
		"", " ", "\n", "#", "\\", "'", "\"", "$(", "`", "${", "$((", "<<", "<<E\n", "a <<E\n$(b\nE\n", "((", "[[", "{", "a=(", "a[", "case x in", "for ((;;)); do", "coproc", "!", "&", "|", ";;", ">", "2>&", "<>x", "&>x", ">&x", "{fd}>x", "$'\\", "$\"", "~", "~x", "!!", "a\x00b", "\xff\xfe", "a\rb",
		"\u200b", "cd\u00a0/w/repo", "x=${x@P}", "${ cat ../../x; }", "${| cat ../../x; }", "let x=1", "time", "time -p", "function f", "a() b", "export -f f", "declare -n a=b", "x=(a b); x[1]+=c", "echo ${x[@]:1:2} ${!x*} ${!x@} ${x^} ${x@Q} ${#x}", "exec 3<>/dev/tcp/h/1", "trap -- '' DEBUG",
		`x=\/w/repo/README.md; cat $x`, `cat ${x:-\/w/repo/x}`, "exec 5< <(echo touch ../../x); . /dev/fd/5", "x=$(exec > /dev/null; ls)", ">()", ": /w/repo/README.md; cat $_",
	} {
		f.Add(seed)
	}
	s := worker(f)
	f.Fuzz(func(t *testing.T, command string) {
		d := judged(t, s, command)
		if d.Verdict == Allow && !parses(command) {
			t.Fatalf("not to be parsed, and allowed: %q", command)
		}
		if len(command) > 4<<10 {
			return // what follows is for commands that a person would read
		}
		sameQuoted(t, s, command, d)
		if d.Verdict != Allow && parses(command) {
			neverFreed(t, s, command, wrapped(command))
		}
	})
}

// judged is a decision that is one, in time.
func judged(t testing.TB, s *Scope, command string) Decision {
	t.Helper()
	start := time.Now()
	d := Decide(s, Call{Tool: "Bash", Shell: []string{command}})
	if took := time.Since(start); took > hangs {
		t.Fatalf("%q hangs: %v", command, took)
	}
	switch {
	case d.Verdict == Allow:
	case d.Verdict != Deny && d.Verdict != Ask, d.Reason == "":
		t.Fatalf("%q: no verdict or no reason: %+v", command, d)
	case strings.Contains(d.Reason, "the guard failed"), strings.Contains(d.Reason, "runtime error"):
		t.Fatalf("%q: a panic: %s", command, d.Reason)
	}
	return d
}

// sameQuoted: ways to quote the words of a command do not change its verdict.
func sameQuoted(t testing.TB, s *Scope, command string, d Decision) {
	t.Helper()
	words, ok := plainWords(command)
	if !ok || len(words) == 0 || tired(d) {
		return
	}
	for _, q := range quotings {
		v := rewrite(command, words, q.quote)
		if !parses(v) {
			continue
		}
		if got := judged(t, s, v); got.Verdict != d.Verdict && !tired(got) {
			t.Errorf("%q is %s (%s)\nwith %s %q is %s (%s)", command, d.Verdict, d.Reason, q.name, v, got.Verdict, got.Reason)
		}
	}
}

// tired is a verdict that only says that there was too much to judge, which is
// not the same for a longer text.
func tired(d Decision) bool { return strings.HasPrefix(d.Reason, shell.ErrBudget.Error()) }

// neverFreed: no variant of a command that is refused is allowed.
func neverFreed(t testing.TB, s *Scope, command string, list []variant) {
	t.Helper()
	for _, v := range list {
		if got := judged(t, s, v.command); got.Verdict == Allow && !v.fed {
			t.Errorf("%q is refused\nwith %s %q is allowed", command, v.name, v.command)
		}
	}
}

// Every variant of a command of the corpus is judged as the command is: no
// wrapping, quoting or value frees an escape, and none turns a harmless command
// into a suspect.
func TestVariants(t *testing.T) {
	alike(t, readCases(t, "testdata/cases.jsonl"), 12)
}

func TestVariantsAll(t *testing.T) {
	alike(t, corpusCommands(t), 7)
}

// alike compares one of every so many variants with its command.
func alike(t *testing.T, list []labelled, every int) {
	s := worker(t)
	freed, alarms, n := 0, 0, 0
	for i, c := range list {
		if c.Tool != "Bash" || c.Cwd != "" && c.Cwd != ownTree {
			continue
		}
		// A command that is misjudged itself, or given up, is another test's.
		if d := judged(t, s, c.Command); tired(d) || (d.Verdict == Allow) != (c.Expect == "allow") {
			continue
		}
		for k, v := range append(wrapped(c.Command), quoted(c.Command)...) {
			if (i+k)%every != 0 || !parses(v.command) {
				continue
			}
			n++
			switch d := judged(t, s, v.command); {
			case c.Expect != "allow" && d.Verdict == Allow && !v.fed:
				freed++
				t.Errorf("%s frees %q: %q", v.name, c.Command, v.command)
			case c.Expect == "allow" && d.Verdict != Allow && !v.fed:
				alarms++
				t.Errorf("%s: a false alarm for %q: %q: %s", v.name, c.Command, v.command, d.Reason)
			}
		}
	}
	t.Logf("%d variants, %d freed, %d false alarms", n, freed, alarms)
}

// What bash itself cannot parse is never allowed. Known to be laxer than bash is
// the parser about a function whose body is a simple command, a command named in,
// and more than sixteen here-documents: bash runs nothing of these.
func TestBashAgrees(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	s := worker(t)
	var list []string
	for i, c := range corpusCommands(t) {
		for k, cut := range cuts(c.Command) {
			if (i+k)%9 == 0 && !startsIn(cut) {
				list = append(list, cut)
			}
		}
	}
	for _, h := range hostile(150, 1000) {
		if h.name != "many here-documents" {
			list = append(list, h.command)
		}
	}
	allowed := 0
	for _, c := range list {
		if judged(t, s, c).Verdict != Allow {
			continue
		}
		allowed++
		cmd := exec.Command("bash", "-O", "extglob", "-n")
		cmd.Stdin = strings.NewReader(c)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("bash cannot parse %.300q, which is allowed: %s", c, out)
		}
	}
	t.Logf("bash agrees about %d of %d damaged commands that are allowed", allowed, len(list))
}

// cuts are a command with something missing or too much.
func cuts(c string) []string {
	list := []string{c + " &&", c + " |", c + ";;", c + ")", c + "}", c + "'", c + "\"", c + "`", c + "$(", "(" + c, "{ " + c, "if " + c, "then " + c, c + " <<E", c + "\nfi", c + "\ndone", "for x in a; do " + c, c + " ${", c + " $((", "((" + c, "[[ " + c, c + "&&&", "! | " + c, c + " > ", c + " >& ", "case x in " + c}
	for _, i := range []int{1, 3, len(c) / 3, len(c) / 2, len(c) - 3, len(c) - 1} {
		if i > 0 && i < len(c) {
			list = append(list, c[:i], c[i:])
		}
	}
	return list
}

func startsIn(c string) bool {
	word := strings.TrimLeft(c, " \t\n")
	return strings.HasPrefix(word, "in") && strings.TrimLeft(word[2:], plainLetters) == word[2:]
}
