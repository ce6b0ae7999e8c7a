package codex

import (
	"slices"
	"strings"

	"cordon/internal/agent"
)

// refused are the arguments of Codex that make a launch weaker, or that are
// cordon's own.
var refused = [][2]string{
	{"--dangerously-bypass-hook-trust", "trusts the hooks of everybody"},
	{"--dangerously-bypass-approvals-and-sandbox", "is not needed: nothing is asked, and the cell is the sandbox"},
	{"--yolo", "is not needed: nothing is asked, and the cell is the sandbox"},
	{"--full-auto", "is not needed: nothing is asked, and the cell is the sandbox"},
	{"--approve-for-me", "starts a sandbox that cannot work in a cell"},
	{"-s", "starts a sandbox that cannot work in a cell"},
	{"--sandbox", "starts a sandbox that cannot work in a cell"},
	{"-a", "is not needed: nothing is asked"},
	{"--ask-for-approval", "is not needed: nothing is asked"},
	{"--enable", "could switch the hooks off, or on a tool that has none"},
	{"--disable", "could switch the hooks off"},
	{"-p", "reads a configuration that cordon has not seen"},
	{"--profile", "reads a configuration that cordon has not seen"},
	{"-C", "names a directory; the worktree is the lease's"},
	{"--cd", "names a directory; the worktree is the lease's"},
	{"--worktree", "makes a worktree; the worktree is the lease's"},
	{"--remote", "works through a server outside the cell"},
	{"--remote-auth-token-env", "works through a server outside the cell"},
	{"--ephemeral", "leaves nothing to go on with when a question is answered"},
	{"--json", "is cordon's to give: without a terminal it is there"},
	{"--experimental-json", "is cordon's to give: without a terminal it is there"},
	{"-o", "writes where it likes; cordon logs has the last words"},
	{"--output-last-message", "writes where it likes; cordon logs has the last words"},
}

// passed are those that are passed on.
var passed = []agent.Passed{
	{Flag: "-c", Values: 1, Check: checkKey}, {Flag: "--config", Values: 1, Check: checkKey},
	{Flag: "-m", Values: 1}, {Flag: "--model", Values: 1}, {Flag: "--oss"}, {Flag: "--local-provider", Values: 1},
	{Flag: "-i", Values: agent.Many}, {Flag: "--image", Values: agent.Many}, {Flag: "--add-dir", Values: 1},
	{Flag: "--output-schema", Values: 1}, {Flag: "--color", Values: 1}, {Flag: "--strict-config"},
	{Flag: "--search"}, {Flag: "--no-alt-screen"}, {Flag: "--skip-git-repo-check"},
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
		return "sets something that cordon does not leave to its arguments: the model, its provider and MCP servers may be set"
	}
	return ""
}
