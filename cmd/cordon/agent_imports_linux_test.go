package main

import (
	"testing"

	"cordon/internal/testmodel"
)

// Claude follows the imports of the project's CLAUDE.md within the tree, in a cell as by itself. Its user's rules stay
// at home, and a file that the cell hides comes in by no import.
func TestAgentsImports(t *testing.T) {
	t.Parallel()
	s := agentSite(t, "claude", testmodel.Script{Turns: []testmodel.Turn{testmodel.Say(lastWords)}})
	s.write("repo/CLAUDE.md", "words of the project\n\n@docs/more.md\n@~/.ssh/id_ed25519\n")
	s.write("repo/docs/more.md", "words of the import\n")
	s.write("home/.ssh/id_ed25519", "words of a secret\n")
	s.write("home/.claude/rules/mine.md", "words of my rules\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "memory")
	s.run([]int{0, 5})
	for text, want := range map[string]bool{"words of the project": true, "words of the import": true, "words of a secret": false, "words of my rules": false} {
		if s.seen(text) != want {
			t.Errorf("the model sees %q: %v", text, !want)
		}
	}
	s.bare()
	if !s.seen("words of my rules") {
		t.Error("by itself the client does not read the rules of its user")
	}
}
