package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/journal"
)

// What lands, releases or deletes something verifies the whole journal first. Here a byte of a
// worker that gc has removed is another one, long before the checkpoint: commands that only show
// something read from there, which is the control, and the others stop and change nothing.
func TestActsVerifyTheWholeJournal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", "echo x >src/removed.txt")
	s.cordon([]int{0}, "gc", "--yes", "--wait")
	log := s.journal()
	for range 300 { // what is appended next writes a checkpoint behind them
		s.tell(log, "", "+test.filler", struct{}{})
	}
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "echo x >src/waits.txt")
	waits := s.latest()
	s.cordon([]int{exitQuarantined}, "run", "--merge", "--write", "src", "--", "sh", "-c", "echo x >docs/bad.txt")
	bad := ""
	for _, w := range s.workers() {
		if w.Status == "quarantined" {
			bad = w.Worker
		}
	}
	files, err := filepath.Glob(s.place("state/cordon/*/" + journal.File))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(good, []byte("src/removed.txt"), []byte("src/remoVed.txt"), 1)
	if bytes.Equal(good, damaged) {
		t.Fatal("nothing was damaged")
	}
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ls", "inbox", "show ID", "audit ID", "logs ID", "diff ID"} {
		s.cordon([]int{0}, strings.Fields(strings.ReplaceAll(line, "ID", waits))...)
	}
	refs := func() string {
		return s.git("for-each-ref", "refs/heads", "refs/cordon/quarantine", "refs/cordon/results", "refs/cordon/trash")
	}
	before := refs()
	for _, line := range []string{
		"journal", "journal verify", "merge ID", "resume ID", "discard --yes ID", "gc --yes", "ls --all-states", "quarantine release BAD --write docs --reason x",
		"run --merge -- touch src/new.txt", "run --no-merge -- touch src/new.txt", "quarantine discard --yes BAD", "merge --inside BAD",
	} {
		o := s.try(s.command(strings.Fields(strings.NewReplacer("ID", waits, "BAD", bad).Replace(line))...))
		if o.code == 0 || !strings.Contains(o.err, "is damaged: line ") {
			t.Errorf("cordon %s: %+v", line, o)
		}
	}
	if now, err := os.ReadFile(files[0]); err != nil || !bytes.HasPrefix(now, damaged) {
		t.Errorf("the journal was changed: %v", err)
	}
	if now := refs(); now != before {
		t.Errorf("the refs were\n%s\nand are\n%s", before, now)
	}
}
