package agent_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"cordon/internal/client"

	. "cordon/internal/agent"
	"cordon/internal/agent/claude"
	"cordon/internal/agent/clients"
)

// order is a launch as the tests have it.
func order(n client.Name) Order {
	return Order{
		Client: n, Program: "/opt/bin/" + string(n), Prompt: "--fix the tests",
		Place: "/post", State: "/state", Tree: "/w/tree", Home: "/home/op",
		Guard:    []string{"/post/bin/cordon", "hook", "--client", string(n), "--lease", "/post/warrant.json"},
		Label:    "k3v9-q7x2-m4p8-z1",
		Briefing: "Work in \"src\".\nAsk.",
		Rules:    rules(),
		Root:     true,
	}
}

func rules() Rules {
	return Rules{
		Tree: "/w/tree", Write: []string{"src", "docs/*.md", "a(1)"}, DenyWrite: []string{"**/.git", "src/{gen,vendor}"},
		DenyRead: []string{"/home/op/.ssh", `/home/op/\[x\]`}, Domains: []string{"@anthropic", "example.com", "*.example.org", "10.0.0.1:80"},
	}
}

// kits are the launches that are compared with golden files.
var kits = []struct {
	name string
	with func(*Order)
}{
	{"managed", func(o *Order) { o.Managed = true }},
	{"flags", func(*Order) {}},
	{"again", func(o *Order) { o.Managed, o.Again = true, true }},
	{"terminal", func(o *Order) { o.Managed, o.Interactive, o.Prompt = true, true, "" }},
	{"terminal_again", func(o *Order) { o.Interactive, o.Again, o.Key = true, true, "sk-ant-0123456789abcdefghij" }},
}

func TestClaudeKits(t *testing.T) {
	for _, row := range kits {
		o := order("claude")
		row.with(&o)
		goldenKit(t, "claude_"+row.name, o)
	}
}

func TestClaudeOperator(t *testing.T) {
	o := order("claude")
	o.Managed = true
	o.Args = []string{"--model=opus", "--mcp-config", `{"mcpServers":{"db":{"command":"x"},"od d":{}}}`, "--allowedTools", "mcp__web__get,mcp__fs",
		"mcp__x__*", "--max-turns", "3"}
	o.Machine = map[string][]byte{claude.Managed: []byte(`{"disableAllHooks":true,"companyAnnouncements":["hi"],"permissions":{"deny":["Bash(sudo *)","EnterWorktree"],"defaultMode":"plan"},
		"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/opt/theirs"}]}],"Stop":[{"hooks":[{"type":"command","command":"/opt/stop"}]}]}}`)}
	goldenKit(t, "claude_operator", o)
	o.Machine[claude.Managed] = []byte(`{"hooks":`)
	if _, err := claude.Client.Kit(o); err == nil {
		t.Error("settings of the machine that cannot be read are dropped")
	}
}

func TestClaudeSettings(t *testing.T) {
	got, err := claude.Client.Settings(rules())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "claude_settings.golden", got)
	got, err = claude.Client.Settings(Rules{Tree: "/w/od d(1)[x]*", Write: []string{"."}})
	if err != nil || !strings.Contains(string(got), `"Edit(//w/od d\\(1\\)\\[x\\]\\*/**)"`) {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := claude.Client.Settings(Rules{Tree: "/w", Write: []string{strings.Repeat("{a,b}", 9)}}); err == nil {
		t.Error("a pattern that stands for 512")
	}
}

// TestClaudePins looks at what a project could turn, in both wirings.
func TestClaudePins(t *testing.T) {
	for _, managed := range []bool{true, false} {
		o := order("claude")
		o.Managed = managed
		k, err := claude.Client.Kit(o)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		if i := slices.Index(k.Argv, "--settings"); i >= 0 {
			text = []byte(k.Argv[i+1])
		} else {
			text = k.Files[slices.IndexFunc(k.Files, func(f File) bool { return f.Name == "managed-settings.json" })].Text
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if s["disableAllHooks"] != false || s["disableSkillShellExecution"] != true || s["autoMemoryEnabled"] != false {
			t.Errorf("managed %v: %s", managed, text)
		}
		sources := slices.Index(k.Argv, "--setting-sources")
		if (s["allowManagedHooksOnly"] == true) != managed || sources < 0 || k.Argv[sources+1] != "" {
			t.Errorf("managed %v: %q %s", managed, k.Argv, text)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, row := range []struct {
		client client.Name
		args   []string
		ok     bool
	}{
		{"claude", []string{"--model", "opus", "--add-dir", "a", "b", "--effort=high"}, true},
		{"claude", []string{"--tools", ""}, true},
		{"claude", []string{"--bare"}, false},
		{"claude", []string{"--settings={}"}, false},
		{"claude", []string{"--add-dir", "a", "--dangerously-skip-permissions"}, false},
		{"claude", []string{"--model"}, false},
		{"claude", []string{"--allowedTools", "Bash"}, false},
		{"claude", []string{"--allowedTools", "mcp__a", "mcp__*"}, false},
		{"claude", []string{"--allowedTools", "mcp__a,Edit"}, false},
		{"claude", []string{"mcp", "list"}, false},
		{"claude", []string{"--sdk-url", "x"}, false},
		{"claude", []string{"-pc"}, false},
		{"codex", []string{"-m", "gpt-5.5", "-c", "model_reasoning_effort=high", "--config=model_providers.x={}"}, true},
		{"codex", []string{"-c", "features.hooks=false"}, false},
		{"codex", []string{"-c", `"features".hooks=false`}, false},
		{"codex", []string{"-c", "hooks={}"}, false},
		{"codex", []string{"-c", "notify=['x']"}, false},
		{"codex", []string{"-cfeatures.hooks=false"}, false},
		{"codex", []string{"--config=projects={}"}, false},
		{"codex", []string{"--dangerously-bypass-hook-trust"}, false},
		{"codex", []string{"--disable", "hooks"}, false},
		{"codex", []string{"exec"}, false},
		{"codex", []string{"-c"}, false},
	} {
		a, err := clients.Of(row.client)
		if err != nil {
			t.Fatal(err)
		}
		o := order(row.client)
		o.Args = row.args
		_, err = a.Kit(o)
		var wrong *ArgumentError
		if row.ok != (err == nil) || !row.ok && (!errors.As(err, &wrong) || wrong.Why == "" || wrong.Client != string(row.client)) {
			t.Errorf("%s %q: %v", row.client, row.args, err)
		}
	}
}

func TestNoPrompt(t *testing.T) {
	for _, n := range []client.Name{"claude", "codex"} {
		a, err := clients.Of(n)
		if err != nil {
			t.Fatal(err)
		}
		o := order(n)
		o.Prompt = ""
		if k, err := a.Kit(o); err == nil {
			t.Errorf("%s: %q", n, k.Argv)
		}
	}
}
