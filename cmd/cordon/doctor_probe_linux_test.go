package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/escape"
)

// realProgram is cordon as people have it: the probe copies and starts it again.
func realProgram(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("CORDON_ESCAPE_PROGRAM"); program != "" {
		return program
	}
	program := filepath.Join(t.TempDir(), "cordon")
	if out, err := exec.Command("go", "build", "-o", program, "cordon/cmd/cordon").CombinedOutput(); err != nil {
		t.Fatalf("cordon cannot be built here (CORDON_ESCAPE_PROGRAM can name one): %v: %s", err, out)
	}
	return program
}

// TestProbe: the fixtures lie where homes are, as those of an ordinary user do, and
// attempts are made and held. One of them has a log as its standard error.
func TestProbe(t *testing.T) {
	t.Parallel()
	dir, err := homeDir()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := realProgram(t)
	probe := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"doctor", "--probe", "--only",
			"^(files-write|files-deny-write-file|descriptors-stderr-reopen|secrets-home-ssh-key|secrets-tree-in-home|git-launch-hook)$"}, args...)...)
		cmd.Env = append(os.Environ(), "CORDON_ESCAPE_DIR="+dir, "HOME="+dir)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			t.Fatalf("%v: %s%s", err, out, said.String())
		}
		return string(out)
	}
	short := probe()
	if !strings.HasPrefix(short, "6 attempts: 6 held, 0 escaped, 0 not tested\nContained: ") || strings.Contains(short, "VERDICT") {
		t.Errorf("in short:\n%s", short)
	}
	all := probe("--all")
	if !strings.HasPrefix(all, "6 attempts: ") || strings.Count(all, "works without cordon") != 6 {
		t.Errorf("all:\n%s", all)
	}
	var object struct {
		Attempts []struct{ Name, Control, Verdict string }
	}
	if err := json.Unmarshal([]byte(probe("--json")), &object); err != nil || len(object.Attempts) != 6 || object.Attempts[0].Control != "escaped" {
		t.Errorf("%v: %+v", err, object)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestProbeReport: the verdict comes first, only what needs attention is listed, and
// everything fits a narrow terminal.
func TestProbeReport(t *testing.T) {
	long := strings.Repeat("a long reason ", 20)
	row := func(name string, control, v escape.Verdict, died bool, detail string) escape.Result {
		return escape.Result{Attempt: escape.Attempt{Name: name, What: "do " + name}, Control: control, Verdict: v, Died: died, Detail: detail}
	}
	held := row("files-held", escape.Escaped, escape.Held, false, long)
	root := row("files-root", escape.NotTested, escape.NotTested, false, "its control needs root")
	died := row("files-died", escape.Escaped, escape.NotTested, true, "the attack never began: "+long)
	out := row("files-out", escape.Escaped, escape.Escaped, false, "changed on the host: "+long)
	for _, c := range []struct {
		name     string
		results  []escape.Result
		all      bool
		begins   string
		has, not []string
		ok       bool
	}{
		{"held", []escape.Result{held, root}, false, "2 attempts: 1 held, 0 escaped, 1 not tested\nContained",
			[]string{"1: its control needs root"}, []string{"files-held", "files-root"}, true},
		{"all", []escape.Result{held, root}, true, "2 attempts", []string{"files-held", "files-root", "works without cordon"}, nil, true},
		{"escaped", []escape.Result{held, out}, false, "2 attempts: 1 held, 1 escaped, 0 not tested\nNOT CONTAINED",
			[]string{"escaped     files-out", "works without cordon"}, []string{"files-held", "Contained:"}, false},
		{"died", []escape.Result{held, died}, false, "2 attempts: 1 held, 0 escaped, 1 not tested\nINCOMPLETE",
			[]string{"files-died", "1: the attack never began"}, []string{"files-held", "Contained:"}, false},
		{"all died", slices.Repeat([]escape.Result{died}, 500), false, "500 attempts: 0 held, 0 escaped, 500 not tested\nINCOMPLETE: 500 attempts",
			[]string{"and 490 more that died"}, []string{"Contained:"}, false},
		{"nothing", []escape.Result{root}, false, "1 attempts: 0 held, 0 escaped, 1 not tested\nNOTHING SHOWN", nil, []string{"Contained:"}, false},
	} {
		got := probeReport(c.results, c.all, 80)
		if !strings.HasPrefix(got, c.begins) || contained(c.results) != c.ok {
			t.Errorf("%s: contained %v:\n%s", c.name, contained(c.results), got)
		}
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in:\n%s", c.name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in:\n%s", c.name, not, got)
			}
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
				t.Errorf("%s: %d columns: %s", c.name, n, line)
			}
		}
	}
}

// TestVerdict: the last lines of the doctor's say whether cordon works, and what next.
func TestVerdict(t *testing.T) {
	ok, commit := check{"git", statusOK, "", ""}, check{"commit", statusOK, "", ""}
	for _, c := range []struct {
		checks      []check
		ready, next string
		failed      bool
	}{
		{[]check{ok}, "Ready.", "Next: cordon demo", false},
		{[]check{ok, commit}, "Ready.", "Next: cordon run", false},
		{[]check{ok, commit, {"policy", statusOK, "default (no file)", ""}}, "Ready.", "Next: cordon init", false},
		{[]check{ok, {"disk", statusWarn, "", "free some"}}, "Ready, with 1 warning (disk).", "Next: cordon demo", false},
		{[]check{ok, {"cell", statusFail, "none", "a line"}, {"cell", statusFail, "", ""}}, "Not ready: 1 check failed (cell).", "Next: a line", true},
	} {
		v := verdictOf(c.checks)
		if v.Ready != c.ready || len(v.Next) != 1 || !strings.HasPrefix(v.Next[0], c.next) || (v.exit() != nil) != c.failed {
			t.Errorf("%+v: %+v", c.checks, v)
		}
	}
}
