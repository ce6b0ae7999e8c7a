package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/testmodel"
)

// Gemini reads the project's commands from the tree. Their inline shell does not run, the same command
// is there as text, and commands without any have their own names. By itself it runs the shell.
func TestSlowAgentsProjectCommands(t *testing.T) {
	slow(t)
	script := testmodel.Script{Turns: []testmodel.Turn{testmodel.Say(lastWords)}}
	s := agentSite(t, "gemini", script)
	s.write("repo/.gemini/commands/plain.toml", "prompt = \"words of plain: {{args}}\"\n")
	s.write("repo/.gemini/commands/sly.toml", "prompt = \"words of sly !{echo x >src/by-command.txt; echo done}\"\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "their commands")
	s.Prompt = "/plain of mine"
	if o := s.run([]int{0, 5}); !s.seen("words of plain: of mine") {
		t.Errorf("the command does not work:\n%s%s", o.out, o.err)
	}
	s.Prompt = "/workspace.sly"
	if o := s.run([]int{6}); s.landedFile("src/by-command.txt") != "" || s.seen("words of sly") {
		t.Errorf("inline shell ran:\n%s%s", o.out, o.err)
	}
	s.Prompt = "/user.sly"
	if o := s.run([]int{0, 5}); !s.seen("words of sly {echo x") || !strings.Contains(o.err, "command sly without inline shell") {
		t.Errorf("the command is not there as text:\n%s%s", o.out, o.err)
	}
	s.Prompt = "/sly"
	s.bare()
	if _, err := os.Lstat(filepath.Join(s.repo, "src/by-command.txt")); err != nil {
		t.Errorf("by itself it does not run inline shell: %v", err)
	}
}
