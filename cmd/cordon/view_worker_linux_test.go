package main

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"cordon/internal/view"
)

// shown is the one worker as cordon show prints it.
func (s *site) shown(id string) (w view.OneWorker) {
	s.t.Helper()
	s.parse(s.cordon([]int{0}, "show", "--json", id).out, &w)
	return w
}

// A worker that runs names its process, its directory and its last sign of life; one that
// has ended names no process.
func TestWorkerTellsOfItsLife(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	// It prints where it is, and goes on only when it is interrupted.
	id, pid := s.detached("--", "sh", "-c", "pwd >src/where.txt; echo here; exec sleep 600")
	s.becomes("running")
	s.await("the worker has printed where it is", func() bool { return s.cordon([]int{0}, "logs", id).out == "here\n" })
	w := s.shown(id)
	if w.PID != pid || w.Reason != "The command runs." || w.Title == "" {
		t.Errorf("it runs in process %d: %+v", pid, w.Worker)
	}
	files, err := filepath.Glob(s.place("state/cordon/*/workers/" + id + "/transcript"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	printed, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if w.LastSign.Before(w.Changed) || w.LastSign.Before(printed.ModTime()) {
		t.Errorf("the last sign of life was %v; its last event %v, its last output %v", w.LastSign, w.Changed, printed.ModTime())
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.becomes("interrupted")
	awaitGone(t, strconv.Itoa(pid)) // it ends a moment after that
	if w = s.shown(id); w.PID != 0 || w.Reason != "A person stopped the command." {
		t.Errorf("it has ended: %+v", w.Worker)
	}
	if where := s.cordon([]int{0}, "merge", id); where.code != 0 {
		t.Fatal(where.err)
	}
	text, err := os.ReadFile(s.place("repo/src/where.txt"))
	if err != nil || string(text) != w.Inside+"\n" {
		t.Errorf("it saw %q as its directory, and %q is shown: %v", text, w.Inside, err)
	}
}
