package claude

import (
	"strings"

	"cordon/internal/agent"
)

// refused are the arguments of Claude that make a launch weaker, or that are
// cordon's own.
var refused = [][2]string{
	{"--bare", "switches the hooks off"},
	{"--safe-mode", "switches the hooks off"},
	{"--settings", "could switch the hooks off; cordon gives Claude its settings"},
	{"--setting-sources", "decides whose hooks run; only cordon may decide that"},
	{"--managed-settings", "could replace the settings that cordon gives"},
	{"--project-config-root", "reads the project's settings from another place"},
	{"--restricted", "takes the shell away; write_roots and the cell limit the agent instead"},
	{"--dangerously-skip-permissions", "drops the rules of the lease, and is not needed: the client asks nothing"},
	{"--allow-dangerously-skip-permissions", "lets the client drop the rules of the lease"},
	{"--permission-mode", "drops the rules of the lease, and is not needed: the client asks nothing"},
	{"--permission-prompts", "needs a host that answers questions, and the client asks none"},
	{"--permission-prompt-tool", "lets a tool allow calls that the lease forbids"},
	{"--enable-auto-mode", "lets a model allow calls that the lease forbids"},
	{"--plugin-dir", "adds hooks that could change a call after the guard judged it"},
	{"--plugin-dir-no-mcp", "adds hooks that could change a call after the guard judged it"},
	{"--plugin-url", "adds hooks that could change a call after the guard judged it"},
	{"--worktree", "makes a worktree; the lease gives the worktree"},
	{"-w", "makes a worktree; the lease gives the worktree"},
	{"--tmux", "leaves the cell's terminal"},
	{"--bg", "continues after the run has ended"},
	{"--background", "continues after the run has ended"},
	{"--cloud", "works on another machine, where nothing is guarded"},
	{"--remote", "works on another machine, where nothing is guarded"},
	{"--environment", "works on another machine, where nothing is guarded"},
	{"--teleport", "loads a session from another machine"},
	{"--remote-control", "lets another person type"},
	{"--rc", "lets another person type"},
	{"--desktop", "opens another program"},
	{"--chrome", "drives a browser outside the cell"},
	{"--ide", "talks to an editor outside the cell"},
	{"--from-pr", "continues a session of another worker"},
	{"--continue", "continues a session; cordon does that itself"},
	{"-c", "continues a session; cordon does that itself"},
	{"--resume", "continues a session; cordon does that itself"},
	{"-r", "continues a session; cordon does that itself"},
	{"--session-id", "names the session; cordon continues the last one"},
	{"--fork-session", "makes another session; cordon continues the last one"},
	{"--no-session-persistence", "leaves no session to continue when a question is answered"},
	{"-p", "is set by cordon when there is no terminal"},
	{"--print", "is set by cordon when there is no terminal"},
	{"--output-format", "hides the client's report of its calls"},
	{"--input-format", "reads prompts from another place"},
	{"--append-system-prompt", "holds the briefing; put your text into the prompt"},
	{"--append-system-prompt-file", "holds the briefing; put your text into the prompt"},
	{"--strict-mcp-config", "is there already"},
	{"--debug-file", "writes to any path"},
}

// passed are those that are passed on.
var passed = []agent.Passed{
	{Flag: "--model", Values: 1}, {Flag: "--fallback-model", Values: 1}, {Flag: "--effort", Values: 1}, {Flag: "--betas", Values: agent.Many},
	{Flag: "--agent", Values: 1}, {Flag: "--agents", Values: 1, Own: true}, {Flag: "--name", Values: 1}, {Flag: "-n", Values: 1},
	{Flag: "--tools", Values: agent.Many}, {Flag: "--disallowedTools", Values: agent.Many}, {Flag: "--disallowed-tools", Values: agent.Many},
	{Flag: "--allowedTools", Values: agent.Many, Check: onlyServers, Own: true}, {Flag: "--allowed-tools", Values: agent.Many, Check: onlyServers, Own: true},
	{Flag: "--mcp-config", Values: agent.Many, Own: true}, {Flag: "--add-dir", Values: agent.Many, Own: true},
	{Flag: "--max-turns", Values: 1}, {Flag: "--max-budget-usd", Values: 1}, {Flag: "--autocompact", Values: 1}, {Flag: "--json-schema", Values: 1},
	{Flag: "--system-prompt", Values: 1, Own: true}, {Flag: "--exclude-dynamic-system-prompt-sections"}, {Flag: "--disable-slash-commands"},
	{Flag: "--include-hook-events"}, {Flag: "--include-partial-messages"}, {Flag: "--forward-subagent-text"}, {Flag: "--ax-screen-reader"}, {Flag: "--no-chrome"},
}

// onlyServers allows tools of MCP servers by name: what else a worker may do is its
// lease's.
func onlyServers(value string) string {
	for _, tool := range strings.FieldsFunc(value, apart) {
		if name, ok := strings.CutPrefix(tool, "mcp__"); !ok || strings.ContainsFunc(strings.TrimSuffix(name, "*"), notPlain) || name == "*" || name == "" {
			return "allows a tool that only the lease may allow; you can add tools of an MCP server: mcp__server or mcp__server__tool"
		}
	}
	return ""
}
