package agent_test

import (
	"strings"
	"testing"

	. "cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/client"
)

// A policy may choose the model and how it thinks; servers, providers, files and tools are
// for the command line, where the control passes.
func TestPolicyArguments(t *testing.T) {
	for _, c := range []struct {
		client client.Name
		args   []string
		ok     bool
	}{
		{"claude", []string{"--model", "opus", "--effort=high"}, true},
		{"claude", []string{"--mcp-config", `{"mcpServers":{"x":{"command":"touch"}}}`}, false},
		{"claude", []string{"--mcp-config={}"}, false},
		{"claude", []string{"--add-dir", "/home"}, false},
		{"claude", []string{"--agents", `{"a":{"hooks":{}}}`}, false},
		{"claude", []string{"--allowedTools", "mcp__x"}, false},
		{"codex", []string{"-m", "gpt-5.5", "-c", "model_reasoning_effort=\"high\""}, true},
		{"codex", []string{"-c", `model_providers.x={base_url="https://x.example",env_key="GH_TOKEN"}`}, false},
		{"codex", []string{"-c", `openai_base_url="https://x.example"`}, false},
		{"codex", []string{"-c", `mcp_servers.x={command="touch"}`}, false},
		{"codex", []string{"-c", `web_search="live"`}, false},
		{"gemini", []string{"--model", "m"}, true},
		{"copilot", []string{"--model", "m"}, true},
		{"opencode", []string{"--model", "m/n"}, true},
		{"qwen", []string{"--model", "m"}, true},
		{"qwen", []string{"--auth-type", "openai"}, false},
		{"pi", []string{"--model", "m"}, true},
		{"pi", []string{"--provider", "openai"}, false},
	} {
		a, err := clients.Of(c.client)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Accept(c.args); err != nil {
			t.Errorf("the control: %v", err)
		}
		if err := a.AcceptPolicy(c.args); (err == nil) != c.ok {
			t.Errorf("%s %q: %v", c.client, c.args, err)
		}
		if err := a.AcceptPolicy([]string{"--dangerously-skip-permissions"}); err == nil {
			t.Errorf("%s takes what the command line does not", c.client)
		}
	}
}

// No record holds the values of servers, which one client has on its command line.
func TestRecordedWithoutValues(t *testing.T) {
	for _, a := range clients.All() {
		if a.NoServers != "" {
			continue
		}
		k, err := a.Kit(Order{
			Client: a.Name, Program: "/bin/x", Prompt: "p", Place: "/place", State: "/state", Tree: "/tree", Home: "/home/op", Guard: []string{"/g"}, Label: "k3v9q7x2m4p8z1a5",
			Servers: []Server{{Name: "s", Command: "c", Env: map[string]string{"K": "hunter2"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(k.Recorded(), " "); strings.Contains(all, "hunter2") || !strings.Contains(all, "/bin/x") {
			t.Errorf("%s: %s", a.Name, all)
		}
	}
}

// A flag in the place of a value is a value for some clients, and a flag for others: with
// one of them a policy could name the server that the operator's key is sent to. The
// same word is refused whatever the flag before it is, and passes where it can only be a
// value.
func TestFlagAsValue(t *testing.T) {
	for _, a := range clients.All() {
		for _, p := range a.Passed {
			if p.Values == 0 {
				continue
			}
			for _, hidden := range []string{"--openai-base-url=https://x.example", "--adminPolicy=rules.toml", "--command=run", "-f", "--", "-"} {
				if err := a.Accept([]string{p.Flag, hidden}); err == nil {
					t.Errorf("%s %s takes %s for its value", a.Name, p.Flag, hidden)
				}
			}
		}
		model := "--model"
		if err := a.AcceptPolicy([]string{model + "=--odd"}); err != nil {
			t.Errorf("the control: %v", err)
		}
	}
}
