package main

import (
	"os"
	"strings"
	"testing"
)

// cordon merge -e shows the agent's message in the operator's editor, and nothing lands if
// the message comes back empty or the editor fails.
func TestMergeEdit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", `echo more >>src/a.txt; cordon done "parser: accept tabs"`)
	id := s.only().Worker
	s.git("config", "--global", "core.editor", s.place("editor"))
	before := s.git("rev-parse", "main")
	edit := func(code int, script string) {
		t.Helper()
		file := s.place("editor")
		if err := writeWhole(file, "#!/bin/sh\n"+script, 0o700); err != nil {
			t.Fatal(err)
		}
		c := newConsole(s, nil, "merge", "-e", id)
		c.end(code)
	}
	edit(1, "exit 3\n")
	edit(1, ">\"$1\"\n")
	if s.git("rev-parse", "main") != before || s.only().Status != "finished" {
		t.Fatalf("it is %s", s.only().Status)
	}
	edit(0, "cp \"$1\" "+s.place("seen")+"\necho 'parser: accept tabs, too' >\"$1\"\n")
	seen, err := os.ReadFile(s.place("seen"))
	if err != nil || !strings.HasPrefix(string(seen), "parser: accept tabs\n\n# ") || !strings.Contains(string(seen), id) {
		t.Errorf("%v: %q", err, seen)
	}
	if got := s.git("log", "-1", "--format=%s"); strings.TrimSpace(got) != "parser: accept tabs, too" {
		t.Errorf("the subject is %q", got)
	}
}
