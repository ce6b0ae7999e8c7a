package conduct

import (
	"slices"
	"testing"

	"cordon/internal/agent/facts"
	"cordon/internal/git"
)

// What each client reads in a repository by itself, or is given from it.
var readByClients = map[string][]string{
	"claude": {
		"CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/skills/x/SKILL.md", ".claude/agents/a.md", ".claude/commands/deep/c.md",
		".claude/rules/r.md", ".mcp.json",
	},
	"codex":    {"AGENTS.md", "AGENTS.override.md", ".codex/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"},
	"gemini":   {"GEMINI.md", ".gemini/skills/x/SKILL.md", ".gemini/agents/a.md", ".gemini/commands/c.toml", ".agents/skills/x/SKILL.md"},
	"opencode": {"AGENTS.md", "CLAUDE.md", ".opencode/agent/a.md", ".opencode/command/c.md", "opencode.json", ".claude/skills/x/SKILL.md"},
	"copilot": {
		"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", ".github/instructions/a.instructions.md", ".github/agents/a.md",
		".github/skills/x/SKILL.md", ".claude/skills/x/SKILL.md",
	},
	"qwen": {"QWEN.md", "AGENTS.md", ".qwen/agents/a.md", ".qwen/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"},
	"pi":   {"AGENTS.md", "CLAUDE.md", ".pi/SYSTEM.md", ".pi/prompts/p.md", ".pi/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"},
}

// The instructions of each client are known, at any depth and in any case. Other files are not taken for them.
func TestInstructs(t *testing.T) {
	for _, c := range facts.All() {
		if len(readByClients[c.Name]) == 0 {
			t.Errorf("nothing is said about %s", c.Name)
		}
		for _, name := range readByClients[c.Name] {
			for _, at := range []string{name, "sub/dir/" + name, "claude.MD/" + name} {
				if !instructs(at, false) {
					t.Errorf("%s: %s is no instruction", c.Name, at)
				}
			}
		}
	}
	for _, name := range []string{"src/a.txt", "README.md", ".github/workflows/ci.yml", "docs/CLAUDE.md.txt", "agents/a.md", "skills/x/SKILL.md"} {
		if instructs(name, false) {
			t.Errorf("%s is taken for an instruction", name)
		}
	}
	if instructs(".github", false) || !instructs(".github", true) || instructs("src/github", true) {
		t.Error("a link in the place of .github may bring skills, and nothing else there does")
	}
}

// A change behind a link or an import of the instructions is one of theirs, and so is a link above it.
func TestObeyed(t *testing.T) {
	led := map[string]bool{"docs/rules.md": true, "shared": true}
	file, link, gone := git.Entry{Mode: git.Regular}, git.Entry{Mode: git.Symlink}, git.Entry{Mode: git.Absent}
	for _, c := range []struct {
		delta git.Delta
		want  bool
	}{
		{git.Delta{Path: "docs/rules.md", Old: file, New: file}, true},
		{git.Delta{Path: "shared/x/SKILL.md", Old: gone, New: file}, true},
		{git.Delta{Path: "docs", Old: gone, New: link}, true},
		{git.Delta{Path: "docs", Old: gone, New: file}, false},
		{git.Delta{Path: "docs/rules.md.orig", Old: gone, New: file}, false},
		{git.Delta{Path: "sharedness", Old: gone, New: link}, false},
	} {
		if got := obeyed(c.delta, led); got != c.want {
			t.Errorf("%+v is obeyed: %t, want %t", c.delta, got, c.want)
		}
	}
}

// An import names a document next to the file, and a link what it points at. Code stays what is judged.
func TestLeads(t *testing.T) {
	memory := git.File{Path: "sub/CLAUDE.md", Entry: git.Entry{Mode: git.Regular}}
	got := leads(memory, "Read @rules.md, @../docs/a.md and `@b.txt`.\nmail me@example.com, see @src/main.go, (@c.mdc)\n")
	want := []string{"sub/rules.md", "docs/a.md", "sub/b.txt", "sub/c.mdc"}
	if !slices.Equal(got, want) {
		t.Errorf("leads to %q, want %q", got, want)
	}
	link := git.File{Path: "sub/AGENTS.md", Entry: git.Entry{Mode: git.Symlink}}
	if got := leads(link, "../docs/agents"); len(got) != 1 || got[0] != "docs/agents" {
		t.Errorf("the link leads to %q", got)
	}
}
