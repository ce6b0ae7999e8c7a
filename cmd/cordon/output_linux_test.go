package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pipedLast runs commands of the operator's, with $RUN for the beginning of a line, and returns
// the last word that they print.
func pipedLast(s *site, dir, run, lines string) string {
	s.t.Helper()
	out := operatorShell(s, dir, append(s.env, "RUN="+run), nil, "-c", lines)
	words := strings.Fields(out)
	if len(words) == 0 {
		s.t.Fatal("nothing was printed")
	}
	return words[len(words)-1]
}

// Whoever stops reading the output of a command does not keep cordon from looking at what
// the command left. The command hears of it as it does without cordon.
func TestExecOutputThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, pipe := range map[string]string{
		"the command goes on": `$RUN sh -c "$PLANT; yes" | head -1; echo ${PIPESTATUS[0]}`,
		"both outputs":        `$RUN sh -c "$PLANT; yes" 2>&1 | head -1; echo ${PIPESTATUS[0]}`,
		// It is told when nobody reads any more: a reader may be slow to go.
		"the command ends soon": `{ until test -e ../gone; do sleep 0.02; done; echo; } | ` +
			`$RUN sh -c "$PLANT; echo ok; read x; echo more; sleep 0.2; echo more" 2>&1 | { grep -q ok; exec <&-; >../gone; }; ` +
			`set -- ${PIPESTATUS[1]}; rm ../gone; echo $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dir := plainDirectory(s)
			s.env = append(s.env, "PLANT="+plantRepository)
			planted := filepath.Join(dir, "PWNED")
			if code := pipedLast(s, dir, "", pipe); code != "141" {
				t.Errorf("without cordon, the command ends with %s: this shows nothing", code)
			}
			operatorShell(s, dir, s.env, nil, "-c", "git status >/dev/null && rm PWNED && rm -r .git")
			if code := pipedLast(s, dir, "cordon exec --", pipe); code != "141" {
				t.Errorf("cordon ended with %s", code)
			}
			operatorShell(s, dir, s.env, nil, "-c", "git status >/dev/null 2>&1 || true")
			if _, err := os.Lstat(planted); err == nil {
				t.Error("git ran what the command left")
			}
			if left, _ := filepath.Glob(s.place("state/cordon/.execs/*")); len(left) > 0 {
				t.Errorf("cordon did not come to its end: %v", left)
			}
		})
	}
}

// A command that writes nothing is not told of a reader that is gone, and a status of its
// own goes before.
func TestExecPassesTheStatusOnWhenNobodyReads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	dir := plainDirectory(s)
	for lines, want := range map[string]string{
		`$RUN sh -c "sleep 0.2" 2>&1 | true; echo ${PIPESTATUS[0]}`:                               "0",
		`$RUN sh -c "trap '' PIPE; sleep 0.2; echo x; exit 7" 2>&1 | true; echo ${PIPESTATUS[0]}`: "7",
	} {
		for _, run := range []string{"", "cordon exec --"} {
			if code := pipedLast(s, dir, run, lines); code != want {
				t.Errorf("%q %s: %s", run, lines, code)
			}
		}
	}
}

// A worker whose output nobody reads ends as its command would, and what it left is judged
// and disarmed.
func TestRunOutputThatNobodyReads(t *testing.T) {
	t.Parallel()
	s, tree, _ := adoptedSite(t)
	s.write("repo/.git/info/exclude", "build/\n")
	plant := "mkdir build; cd build; " + plantRepository
	s.env = append(s.env, "PLANT="+plant, "TREE="+tree)
	operatorShell(s, tree, s.env, nil, "-c", `sh -c "$PLANT; yes" | head -25; cd build && git status && rm PWNED && rm -r ../build`)
	operatorShell(s, s.repo, s.env, nil, "-c", `cordon run --merge --adopt "$TREE" -- sh -c "$PLANT; yes" 2>&1 | head -25`)
	operatorShell(s, filepath.Join(tree, "build"), s.env, nil, "-c", "git status >/dev/null 2>&1 || true")
	if _, err := os.Lstat(filepath.Join(tree, "build/PWNED")); err == nil {
		t.Error("git ran what the worker left")
	}
	if w := s.only(); w.Status == "running" || w.Status == "lost" || w.Status == "leased" {
		t.Errorf("nobody took the worker to its end: it is %s", w.Status)
	}
}

// Setup and acceptance come to their own ends when nobody reads.
func TestAcceptanceThatNobodyReads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "POLICY="+s.write("policy.yaml", "version: 1\nsetup: ['sleep 0.2; echo one; sleep 0.1; echo two']\nacceptance: ['echo one; sleep 0.1; echo two']\n"))
	operatorShell(s, s.repo, s.env, nil, "-c", `cordon run --merge --policy "$POLICY" -- sh -c 'echo new >src/b.txt' 2>&1 | true`)
	s.mergedOnce("src/b.txt", "new")
}

// A visitor whose output nobody reads ends, and the worker goes on.
func TestShellOutputThatNobodyReads(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	if code := pipedLast(v.site, v.repo, "cordon shell "+v.id+" --", `$RUN yes | head -1; echo ${PIPESTATUS[0]}`); code != "141" {
		t.Errorf("the visit ended with %s", code)
	}
	if o := v.inside("true"); o.code != 0 {
		t.Errorf("the worker does not go on: %+v", o)
	}
	v.tellToEnd()
	v.awaitEnd()
}
