package codex

import (
	"slices"
	"strings"

	"cordon/internal/agent"
)

// refused are the arguments of Codex that make a launch weaker, or that are
// cordon's own.
var refused = [][2]string{
	{"--dangerously-bypass-hook-trust", "trusts hooks from any source"},
	{"--dangerously-bypass-approvals-and-sandbox", "is not needed: the client asks nothing, and the cell is the sandbox"},
	{"--yolo", "is not needed: the client asks nothing, and the cell is the sandbox"},
	{"--full-auto", "is not needed: the client asks nothing, and the cell is the sandbox"},
	{"--approve-for-me", "starts a sandbox that cannot work in a cell"},
	{"-s", "starts a sandbox that cannot work in a cell"},
	{"--sandbox", "starts a sandbox that cannot work in a cell"},
	{"-a", "is not needed: the client asks nothing"},
	{"--ask-for-approval", "is not needed: the client asks nothing"},
	{"--enable", "could switch the hooks off, or enable a tool without hooks"},
	{"--disable", "could switch the hooks off"},
	{"-p", "reads a configuration that cordon has not seen"},
	{"--profile", "reads a configuration that cordon has not seen"},
	{"-C", "names a directory; the lease gives the worktree"},
	{"--cd", "names a directory; the lease gives the worktree"},
	{"--worktree", "makes a worktree; the lease gives the worktree"},
	{"--search", "is decided by the lease: agent.web: true in the policy lets the client search"},
	{"--remote", "works through a server outside the cell"},
	{"--remote-auth-token-env", "works through a server outside the cell"},
	{"--ephemeral", "leaves no session to continue when a question is answered"},
	{"--json", "is set by cordon when there is no terminal"},
	{"--experimental-json", "is set by cordon when there is no terminal"},
	{"-o", "writes to any path; cordon logs shows the last message"},
	{"--output-last-message", "writes to any path; cordon logs shows the last message"},
}

// passed are those that are passed on.
var passed = []agent.Passed{
	{Flag: "-c", Values: 1, Check: checkKey, OwnValue: namesServer}, {Flag: "--config", Values: 1, Check: checkKey, OwnValue: namesServer},
	{Flag: "-m", Values: 1}, {Flag: "--model", Values: 1}, {Flag: "--oss", Own: true}, {Flag: "--local-provider", Values: 1, Own: true},
	{Flag: "-i", Values: agent.Many, Own: true}, {Flag: "--image", Values: agent.Many, Own: true}, {Flag: "--add-dir", Values: 1, Own: true},
	{Flag: "--output-schema", Values: 1, Own: true}, {Flag: "--color", Values: 1}, {Flag: "--strict-config"},
	{Flag: "--no-alt-screen"}, {Flag: "--skip-git-repo-check"},
	{Flag: "--ignore-user-config"}, {Flag: "--ignore-rules"}, {Flag: "--no-daemon"},
}

// allowedKeys are the values that an operator may give: which model, where it is, how
// it thinks, and MCP servers, whose tools reach the hook.
var allowedKeys = []string{
	"model", "model_provider", "model_providers", "openai_base_url", "chatgpt_base_url", "model_context_window", "model_auto_compact_token_limit",
	"model_reasoning_effort", "model_reasoning_summary", "model_supports_reasoning_summaries", "model_verbosity", "service_tier", "personality",
	"hide_agent_reasoning", "show_raw_agent_reasoning", "web_search", "mcp_servers", "notice", "tui",
}

// checkKey says what is wrong with key=value. A key in quotes could be any.
func checkKey(value string) string {
	key, _, _ := strings.Cut(value, "=")
	first, _, _ := strings.Cut(strings.TrimSpace(key), ".")
	if !slices.Contains(allowedKeys, first) {
		return "is not a setting that arguments may change: only the model, its provider and MCP servers are"
	}
	return ""
}

// plainKeys are those of allowedKeys that name no server and no variable with a key.
var plainKeys = []string{
	"model", "model_context_window", "model_auto_compact_token_limit", "model_reasoning_effort", "model_reasoning_summary",
	"model_supports_reasoning_summaries", "model_verbosity", "service_tier", "personality", "hide_agent_reasoning", "show_raw_agent_reasoning",
}

// namesServer says whether key=value may send the model's key, or the work, elsewhere.
func namesServer(value string) bool {
	key, _, _ := strings.Cut(value, "=")
	return !slices.Contains(plainKeys, strings.TrimSpace(key))
}
