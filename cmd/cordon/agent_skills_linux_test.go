package main

import (
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// skilled are the clients that find skills of a project by themselves, with a folder that they look into,
// and the call that loads one; without a call the model is told the path of the file.
var skilled = map[client.Name]struct {
	folder string
	load   testmodel.Call
}{
	"codex":    {folder: ".agents/skills"},
	"pi":       {folder: ".agents/skills"},
	"opencode": {folder: ".claude/skills"}, // its call needs ripgrep
	"copilot":  {".github/skills", testmodel.Call{Tool: "skill", Input: input{"skill": "their-skill"}}},
	"qwen":     {".qwen/skills", testmodel.Call{Tool: "skill", Input: input{"skill": "their-skill"}}},
}

// A client has the skills of a project as text, and not as they lie in the tree. By itself it has them
// as they are: the positive control.
func TestAgentsProjectSkills(t *testing.T) {
	t.Parallel()
	for name, skill := range skilled {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, testmodel.Script{})
			file, ran := filepath.Join(skill.folder, "their-skill/SKILL.md"), filepath.Join(s.home, "ran")
			s.write("repo/"+file, part("their-skill", "words of their skill", ran)+"words of the body\n")
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "their skill")
			script := testmodel.Script{Turns: []testmodel.Turn{testmodel.Say(lastWords)}}
			raw := "/" + skill.folder // the model is told where it lies
			if skill.load.Tool != "" {
				script.Turns = append([]testmodel.Turn{testmodel.Do(skill.load)}, script.Turns...)
				raw = "!`touch"
			}
			s.model.Play(script)
			o := s.run([]int{0, 5}) // it changes nothing
			if !s.seen("words of their skill") || s.seen(raw) {
				t.Errorf("the model sees the skill: %v, as it is in the tree: %v\n%s%+v", s.seen("words of their skill"), s.seen(raw), o.err, s.model.Results())
			}
			if skill.load.Tool != "" && !s.seen("words of the body") {
				t.Errorf("the skill was not loaded: %+v", s.model.Results())
			}
			if !strings.Contains(o.err, "skill their-skill without allowed-tools, hooks, inline shell") {
				t.Errorf("what was removed is not named:\n%s", o.err)
			}
			s.model.Play(script)
			if s.bare(); !s.seen(raw) {
				t.Errorf("by itself the client does not have the skill as it is: %+v", s.model.Results())
			}
		})
	}
}
