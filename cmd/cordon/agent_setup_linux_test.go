package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// ownFiles are the operator's own setup of each client: a memory file, a skill and an
// agent, and the file with the server that %s stands for. Where a client has hooks in front
// matter, the skill has one.
var ownFiles = map[client.Name]struct {
	memory, skill, agent   string // "": the client has none
	servers, serversText   string
	project, projectMarker string // a part of the project's, and what the model sees of it
}{
	"claude": {".claude/CLAUDE.md", ".claude/skills/own-skill/SKILL.md", ".claude/agents/own-agent.md", ".claude.json", `{"mcpServers":{%s}}`,
		".claude/agents/their-agent.md", "words of their part"},
	"codex": {".codex/AGENTS.md", ".codex/skills/own-skill/SKILL.md", "", ".codex/config.toml", "", ".agents/skills/their-skill/SKILL.md", "words of their part"},
	"gemini": {".gemini/GEMINI.md", ".gemini/skills/own-skill/SKILL.md", ".gemini/agents/own-agent.md", ".gemini/settings.json",
		`{"security":{"auth":{"selectedType":"gemini-api-key"}},"mcpServers":{%s}}`, ".gemini/agents/their-agent.md", "words of their part"},
	"opencode": {".config/opencode/AGENTS.md", ".config/opencode/skills/own-skill/SKILL.md", ".config/opencode/agents/own-agent.md",
		".config/opencode/opencode.json", "", ".opencode/agents/their-agent.md", "words of their part"},
	"copilot": {".copilot/copilot-instructions.md", ".copilot/skills/own-skill/SKILL.md", ".copilot/agents/own-agent.md", ".copilot/mcp-config.json",
		`{"mcpServers":{%s}}`, ".github/agents/their-agent.md", "words of their part"},
}

// part is a skill or agent that would run something if its client obeyed all of it.
func part(name, marker, ran string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\nhooks:\n  SessionStart:\n    - hooks: [{type: command, command: 'touch %s'}]\n"+
		"allowed-tools: Bash(*)\n---\nDo it. !`touch %s`\n", name, marker, ran, ran)
}

// setUp gives the operator a setup of their client, and the project one.
func (s *staged) setUp() {
	s.t.Helper()
	own, ran := ownFiles[s.client], filepath.Join(s.home, "ran")
	s.write("home/"+own.memory, "words of my memory\n")
	s.write("home/"+own.skill, part("own-skill", "words of my skill", ran))
	if own.agent != "" {
		s.write("home/"+own.agent, part("own-agent", "words of my agent", ran))
	}
	s.mcp()
	s.servers = "" // not by the flag
	program := filepath.Join(s.home, "bin", mcpProgram)
	switch s.client {
	case "codex":
		s.write("home/"+own.servers, fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = [%q]\nenv = {%s = %q}\n", testmodel.MCPServer, program, mcpArg, mcpVariable, mcpValue))
	case "opencode":
		s.write("home/"+own.servers, fmt.Sprintf(`{"mcp":{%q:{"type":"local","command":[%q,%q],"environment":{%q:%q},"enabled":true}}}`, testmodel.MCPServer, program,
			mcpArg, mcpVariable, mcpValue))
	default:
		server := s.server
		if s.client == "copilot" {
			server = strings.TrimSuffix(server, "}") + `,"tools":["*"]}`
		}
		s.write("home/"+own.servers, fmt.Sprintf(own.serversText, server))
	}
	s.write("repo/"+own.project, part("their-part", own.projectMarker, ran))
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "their setup")
}

// seen reports whether a text is in a request of the model's, with its tools.
func (s *staged) seen(text string) bool {
	for _, r := range s.model.Requests() {
		if strings.Contains(r.System+r.User+string(r.Body), text) {
			return true
		}
	}
	return false
}

// A client in a cell has its user's memory, skills, agents and MCP servers if the operator
// shares them with the repository, and nothing of them otherwise; and nothing of a skill
// runs. The project's are there in both cases.
func TestAgentsSetup(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		if _, ok := ownFiles[name]; !ok {
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, testmodel.Script{})
			s.model.Play(playing(t, name, []deed{{kind: mcpTool, path: "mcp.txt", text: "in"}}, ""))
			s.setUp()
			mine := []string{"words of my memory", "words of my skill"}
			if ownFiles[name].agent != "" {
				mine = append(mine, "words of my agent")
			}
			s.run([]int{0, 1, 4, 5}) // the stranger's case: the tool is not there
			for _, text := range mine {
				if s.seen(text) {
					t.Errorf("without consent the model sees %q", text)
				}
			}
			if s.landedFile("mcp.txt") != "" {
				t.Error("without consent the server works")
			}
			if !s.seen(ownFiles[name].projectMarker) {
				t.Error("the model does not see the project's part")
			}
			s.cordon([]int{0}, "config", "share", "instructions", "skills", "agents", "commands", "mcp:"+testmodel.MCPServer)
			o := s.run([]int{0})
			for _, text := range mine {
				if !s.seen(text) {
					t.Errorf("the model does not see %q\n%s", text, o.err)
				}
			}
			if got := s.landedFile("mcp.txt"); got != "in" {
				t.Errorf("the server wrote %q\nresults: %+v\n%s", got, s.model.Results(), o.err)
			}
			if !strings.Contains(o.err, "without allowed-tools, hooks, inline shell") {
				t.Errorf("what was removed is not named:\n%s", o.err)
			}
			if _, err := os.Lstat(filepath.Join(s.home, "ran")); err == nil {
				t.Error("something of a skill ran")
			}
			if all := s.cordon([]int{0}, "ls", "--json").out + s.journal(); strings.Contains(all, "'key' of") {
				t.Error("the journal has a value of the server")
			}
		})
	}
}

// journal is the text of all journals of the site.
func (s *staged) journal() string {
	s.t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(filepath.Dir(s.home), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(filepath.Base(path), "journal") {
			b, _ := os.ReadFile(path)
			text.Write(b)
		}
		return nil
	})
	if err != nil || text.Len() == 0 {
		s.t.Errorf("no journal: %v", err)
	}
	return text.String()
}

// Without cordon each client has all of it: the positive control.
func TestClientsSetupByThemselves(t *testing.T) {
	t.Parallel()
	for _, name := range tested() {
		if _, ok := ownFiles[name]; !ok {
			continue
		}
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			s := agentSite(t, name, testmodel.Script{Turns: []testmodel.Turn{testmodel.Say(lastWords)}})
			s.setUp()
			s.server = ""
			s.bare()
			for _, text := range []string{"words of my memory", "words of my skill"} {
				if !s.seen(text) {
					t.Errorf("the model does not see %q", text)
				}
			}
		})
	}
}
