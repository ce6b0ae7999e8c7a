package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/client"
)

// cordon stop ends every client in its grace time, while it waits for its model and while its
// tool runs. Nothing is lost: the tree keeps its files, and the conversation continues where it
// was.
func TestAgentsStopped(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		for _, during := range []string{"model", "tool"} {
			t.Run(string(name)+"/"+during, func(t *testing.T) {
				t.Parallel()
				stoppedWhileItWorks(t, name, during)
			})
		}
	}
}

func stoppedWhileItWorks(t *testing.T, name client.Name, during string) {
	reached, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	long := "test -e src/begun.txt || { echo begun >src/begun.txt; sleep 600; }"
	if during == "model" {
		long = "true"
	}
	script := playing(t, name, []deed{
		{kind: shellTool, command: "echo half >src/half.txt"},
		{kind: shellTool, command: long},
		{kind: shellTool, command: "echo whole >src/whole.txt"},
	}, "")
	if during == "model" {
		script.Turns[1].Before = func() { close(reached); <-release }
	}
	s := agentSite(t, name, script)
	id := strings.TrimSpace(s.cordon([]int{0}, s.runArgs("-d")...).out)
	if during == "model" {
		<-reached
	} else {
		s.begun(filepath.Join(s.only().Tree, "src/begun.txt"))
	}
	before := len(s.model.Requests())

	began := time.Now()
	o := s.cordon([]int{0}, "stop", "--grace", "5m", id)
	var shown struct{ Exit struct{ Code int } }
	s.parse(s.cordon([]int{0}, "show", "--json", id).out, &shown)
	t.Logf("%s ended with %d, %.1f s after SIGTERM", name, shown.Exit.Code, time.Since(began).Seconds())
	if shown.Exit.Code == 128+int(syscall.SIGKILL) {
		t.Error("it does not end by itself when it is asked to")
	}
	if !strings.Contains(o.out, id+"  interrupted") || !strings.Contains(o.err, "cordon resume "+id) {
		t.Errorf("it was not stopped:\n%s%s", o.out, o.err)
	}
	if left := s.alive(id); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if s.landedFile("src/half.txt") != "" {
		t.Error("half of the work landed")
	}

	s.cordon([]int{0}, "resume", id)
	for file, want := range map[string]string{"src/half.txt": "half", "src/whole.txt": "whole"} {
		if got := s.landedFile(file); got != want {
			t.Errorf("%s landed as %q", file, got)
		}
	}
	for _, r := range s.model.Requests()[before:] {
		if r.Turn == 0 && name != "copilot" { // it stores a turn a moment later, and may begin again
			t.Error("the conversation began again")
		}
	}
	s.sound()
}

// begun waits for a file of a worker.
func (s *staged) begun(path string) {
	s.t.Helper()
	s.await(path+" is there", func() bool {
		w := s.only() // before the look: it may make it, and end
		if _, err := os.Stat(path); err == nil {
			return true
		}
		if w.Status != "running" && w.Status != "leased" && w.Status != "ready" {
			s.t.Fatalf("%s is %s before %s is there\n%s", w.Worker, w.Status, path, s.evidence())
		}
		return false
	})
}
