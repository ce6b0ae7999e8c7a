package usersetup

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/client"
)

// write makes the files of a home.
func write(t *testing.T, home string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Every client has a row: what a person can have set up for it is found.
func TestLook(t *testing.T) {
	home := t.TempDir()
	write(t, home, map[string]string{
		".claude/CLAUDE.md": "x", ".claude/skills/deploy/SKILL.md": "x", ".claude/skills/deploy/notes.md": "x", ".claude/skills/none/readme.md": "x",
		".claude/agents/team/review.md": "x", ".claude/agents/notes.txt": "x", ".claude/commands/fix.md": "x",
		".claude.json": `{"mcpServers":{"a":{"command":"a"},"old":{"type":"sse","url":"https://x.example"}},"projects":{"/src/app":{"mcpServers":{"b":{"command":"b"}}},
			"/src/other":{"mcpServers":{"c":{"command":"c"}}}}}`,
		".codex/AGENTS.md": "x", ".codex/skills/deploy/SKILL.md": "x", ".codex/prompts/fix.md": "x", ".codex/prompts/deep/no.md": "x",
		".codex/config.toml": "model = \"m\"\n[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.off]\ncommand = \"b\"\nenabled = false\n",
		".gemini/GEMINI.md":  "x", ".gemini/agents/review.md": "x", ".gemini/commands/team/fix.toml": "x", ".gemini/settings.json": `{"mcpServers":{"a":{"httpUrl":"https://x.example"},"o":{"url":"https://x"}}}`,
		".agents/skills/shared/SKILL.md": "x",
		".config/opencode/AGENTS.md":     "x", ".config/opencode/skill/s/SKILL.md": "x", ".config/opencode/agent/review.md": "x", ".config/opencode/command/fix.md": "x",
		".config/opencode/opencode.json":   `{"mcp":{"a":{"type":"local","command":["a","b"]},"off":{"type":"local","command":["a"],"enabled":false}} /* ok */}`,
		".copilot/copilot-instructions.md": "x", ".copilot/skills/s/SKILL.md": "x", ".copilot/agents/review.agent.md": "x",
		".copilot/mcp-config.json": `{"mcpServers":{"a":{"type":"local","command":"a","tools":["*"]}}}`,
	})
	want := map[client.Name]agent.Inventory{
		"claude": {Instructions: []string{".claude/CLAUDE.md"}, Skills: []string{"deploy"}, Agents: []string{"team/review"}, Commands: []string{"fix"}, Servers: []string{"a", "b"}},
		"codex":  {Instructions: []string{".codex/AGENTS.md"}, Skills: []string{"deploy", "shared"}, Commands: []string{"fix"}, Servers: []string{"a"}},
		"gemini": {Instructions: []string{".gemini/GEMINI.md"}, Skills: []string{"shared"}, Agents: []string{"review"}, Commands: []string{"team/fix"}, Servers: []string{"a"}},
		"opencode": {Instructions: []string{".config/opencode/AGENTS.md"}, Skills: []string{"s", "deploy", "shared"}, Agents: []string{"review"},
			Commands: []string{"fix"}, Servers: []string{"a"}},
		"copilot": {Instructions: []string{".copilot/copilot-instructions.md"}, Skills: []string{"s", "shared"}, Agents: []string{"review.agent"}, Servers: []string{"a"}},
	}
	for name, want := range want {
		a, err := clients.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Look(home, "/src/app", a)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
		empty, err := Look(t.TempDir(), "/src/app", a)
		if err != nil || len(empty.Counted()) > 0 || len(empty.Words()) > 0 {
			t.Errorf("%s: an empty home has %+v, %v", name, empty, err)
		}
	}
	got := want["claude"]
	if s := strings.Join(got.Counted(), ", "); s != "1 instruction file, 1 skill, 1 agent, 1 command, 2 MCP servers" {
		t.Error(s)
	}
	if s := strings.Join(got.Words(), " "); s != "instructions skills agents commands mcp:a mcp:b" {
		t.Error(s)
	}
}

// A moved directory is where the client itself would look.
func TestMoved(t *testing.T) {
	home, moved := t.TempDir(), t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", moved)
	write(t, home, map[string]string{".claude/CLAUDE.md": "x", ".claude/skills/old/SKILL.md": "x"})
	write(t, moved, map[string]string{"skills/new/SKILL.md": "x", ".claude.json": `{"mcpServers":{"a":{"command":"a"}}}`})
	a, err := clients.Of("claude")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Look(home, "/src/app", a)
	if want := (agent.Inventory{Skills: []string{"new"}, Servers: []string{"a"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A link that leads back ends somewhere, and a file that is not understood shows none of
// its values.
func TestBounds(t *testing.T) {
	home := t.TempDir()
	write(t, home, map[string]string{".claude/commands/a.md": "x", ".claude.json": `{"mcpServers":{"a":"hunter2"`})
	if err := os.Symlink(".", filepath.Join(home, ".claude/commands/again")); err != nil {
		t.Fatal(err)
	}
	a, err := clients.Of("claude")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Look(home, "/", a)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// What servers are given names variables in the way of each client.
func TestServerVariables(t *testing.T) {
	home := t.TempDir()
	t.Setenv("KEY_OF_MINE", "v'1")
	write(t, home, map[string]string{
		".claude.json":                   `{"mcpServers":{"a":{"command":"a","args":["${KEY_OF_MINE}","$KEY_OF_MINE","${NOT_THERE:-d}","${NOT_THERE}"],"env":{"K":"${KEY_OF_MINE}"}}}}`,
		".gemini/settings.json":          `{"mcpServers":{"a":{"command":"a","env":{"K":"$KEY_OF_MINE"}}}}`,
		".config/opencode/opencode.json": `{"mcp":{"a":{"type":"remote","url":"https://x.example","headers":{"K":"Bearer {env:KEY_OF_MINE}"}}}}`,
		".copilot/mcp-config.json":       `{"mcpServers":{"a":{"type":"http","url":"https://x.example","headers":{"K":"${KEY_OF_MINE}"}}}}`,
		".codex/config.toml":             "[mcp_servers.a]\nurl=\"https://x.example\"\nhttp_headers={K=\"v'1\"}\n",
	})
	for name, want := range map[client.Name]agent.Server{
		"claude":   {Name: "a", Command: "a", Args: []string{"v'1", "$KEY_OF_MINE", "d", "${NOT_THERE}"}, Env: map[string]string{"K": "v'1"}},
		"gemini":   {Name: "a", Command: "a", Env: map[string]string{"K": "v'1"}},
		"opencode": {Name: "a", URL: "https://x.example", Headers: map[string]string{"K": "Bearer v'1"}},
		"copilot":  {Name: "a", URL: "https://x.example", Headers: map[string]string{"K": "v'1"}},
		"codex":    {Name: "a", URL: "https://x.example", Headers: map[string]string{"K": "v'1"}},
	} {
		a, err := clients.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Servers(home, "/", a)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
