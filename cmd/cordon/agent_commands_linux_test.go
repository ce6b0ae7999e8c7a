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
func TestAgentsProjectCommands(t *testing.T) {
	t.Parallel()
	script := testmodel.Script{Turns: []testmodel.Turn{testmodel.Say(lastWords)}}
	s := agentSite(t, "gemini", script)
	s.write("repo/.gemini/commands/plain.toml", "prompt = \"words of plain: {{args}}\"\n")
	s.write("repo/.gemini/commands/sly.toml", "prompt = \"words of sly !{echo x >src/by-command.txt; echo done}\"\n")
	s.write("repo/.gemini/commands/including.toml", "prompt = \"words of including {{args}} @{docs/included.md}\"\n")
	s.write("repo/docs/included.md", "!{echo x >src/by-include.txt; echo done}\n")
	s.write("repo/.gemini/skills/their-skill/SKILL.md", part("their-skill", "words of their skill", "src/by-skill.txt"))
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
	s.Prompt = "/including"
	if o := s.run([]int{6}); s.landedFile("src/by-include.txt") != "" || s.seen("words of including") {
		t.Errorf("inline shell of an included file ran:\n%s%s", o.out, o.err)
	}
	s.Prompt = "use the skill"
	loads := testmodel.Script{Turns: []testmodel.Turn{testmodel.Do(testmodel.Call{Tool: "activate_skill", Input: input{"name": "their-skill"}}), testmodel.Say(lastWords)}}
	s.model.Play(loads)
	if o := s.run([]int{0, 5}); !s.seen("Do it. !`touch") || s.landedFile("src/by-skill.txt") != "" {
		t.Errorf("the skill is not there, or something of it ran: %+v\n%s%s", s.model.Results(), o.out, o.err)
	}
	s.model.Play(script)
	for command, file := range map[string]string{"/sly": "src/by-command.txt", "/including": "src/by-include.txt"} {
		s.Prompt = command
		s.bare()
		if _, err := os.Lstat(filepath.Join(s.repo, file)); err != nil {
			t.Errorf("by itself it does not run inline shell: %v", err)
		}
	}
}
