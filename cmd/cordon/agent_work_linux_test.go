package main

import (
	"strings"
	"testing"

	"cordon/internal/client"
)

// Harmless work of every kind passes with every client, each in the cell and with its
// hooks, and lands.
func TestAgentsWork(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			for _, patching := range []bool{false, true} {
				worksInCell(t, name, patching)
			}
		})
	}
}

func worksInCell(t *testing.T, name client.Name, patching bool) {
	t.Helper()
	deeds, want := bareDeeds(name, patching)
	if len(deeds) == 0 {
		return
	}
	if !patching {
		deeds = append(deeds, deed{kind: shellTool, command: "git add -A && git commit -q -m 'by the agent itself'"})
	}
	s := busySite(t, name, patching, deeds)
	s.git("add", ".")
	s.git("commit", "-q", "-m", "what it works on")
	o := s.run([]int{0}, "--keep-history")
	if log := s.git("log", "--format=%s", "main"); !patching && !strings.Contains(log, "by the agent itself") {
		t.Errorf("its own commit is not in the history:\n%s", log)
	}
	if !strings.Contains(o.out+o.err, lastWords) {
		t.Errorf("the model's last words are missing:\n%s%s", o.out, o.err)
	}
	if !s.told("", "FORBIDDEN") {
		t.Error("it was not told the rules")
	}
	if _, helped := spoken(name, deed{kind: subTool}); helped && !patching && !s.told("HELP-1", "FORBIDDEN") {
		t.Error("its sub-agent was not told the rules")
	}
	for file, text := range want {
		if got := s.landedFile(file); !strings.Contains(got, text) {
			t.Errorf("%s landed as %q, want %q\nresults: %+v", file, got, text, s.model.Results())
		}
	}
	s.sound()
}
