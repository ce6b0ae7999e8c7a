package main

import (
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// A result that does not land goes back to the agent that made it: cordon resume continues
// the same conversation, and the model learns what was wrong. First acceptance fails, then a
// script of the repository writes outside the lease, then the operator has changed the same
// line; after that it lands. That every client continues its conversation with what it is told
// is shown by TestAgentsPlan.
func TestAgentsMend(t *testing.T) {
	t.Parallel()
	for _, name := range shared() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			mends(t, name)
		})
	}
}

// counts is a site whose acceptance wants a count of 42, and a model that runs a command
// for each launch.
func counts(t *testing.T, name client.Name, lines ...string) *staged {
	t.Helper()
	var script testmodel.Script
	for _, line := range lines {
		script.Turns = append(script.Turns, playing(t, name, []deed{{kind: shellTool, command: line}}, "").Turns...)
	}
	s := agentSite(t, name, script)
	s.policy = []string{"filesystem: {write_roots: [src]}", `acceptance: ["grep 42 src/n.txt || { echo the count is wrong; exit 3; }"]`}
	return s
}

func mends(t *testing.T, name client.Name) {
	s := counts(t, name,
		"echo 41 >src/n.txt",
		"echo 42 >src/n.txt; sh tools/generate.sh",
		"cordon done 'src: count to 42'",
		"grep '^<<<<<<<' src/n.txt >src/seen.txt; echo 42 and 7 >src/n.txt")
	s.write("repo/tools/generate.sh", "echo made >docs/made.txt\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "tools")
	s.run([]int{4})
	id := s.only().Worker

	s.cordon([]int{4}, "resume", id)
	s.heard(2, `grep 42 src/n.txt`, "ended with 3", "| the count is wrong", "The end of its output")
	s.write("repo/src/n.txt", "7\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "src: count to seven")
	s.cordon([]int{5}, "resume", id, "--", "leave the generator alone")
	s.heard(4, "| added docs/made.txt: outside write_roots", "The operator says: leave the generator alone")
	s.cordon([]int{0}, "resume", id)
	s.heard(6, "conflicts with what has landed on main", "| src/n.txt", "| src: count to seven", "| src: count to 42")

	if got := s.landedFile("src/n.txt"); got != "42 and 7" {
		t.Errorf("landed %q", got)
	}
	if s.landedFile("src/seen.txt") == "" {
		t.Error("the model's last tree had no conflict markers")
	}
	if s.landedFile("docs/made.txt") != "" {
		t.Error("what was outside the lease has landed")
	}
	if got := s.git("log", "-1", "--format=%s", "main"); got != "src: count to 42" {
		t.Errorf("landed as %q", got)
	}
	s.sound()
}

// heard wants the request for a turn to continue the first conversation, and to say
// everything in a list.
func (s *staged) heard(turn int, texts ...string) {
	s.t.Helper()
	for _, r := range s.model.Requests() {
		if r.Turn != turn {
			continue
		}
		for _, text := range append(texts, s.Prompt) {
			if !strings.Contains(r.User, text) {
				s.t.Errorf("the request for turn %d does not say %q:\n%s", turn, text, r.User)
			}
		}
		return
	}
	s.t.Errorf("turn %d was not asked for", turn)
}
