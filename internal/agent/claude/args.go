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
	{"--setting-sources", "decides whose hooks run, and that is cordon's"},
	{"--managed-settings", "could stand in the place of the settings that cordon gives"},
	{"--project-config-root", "takes the project's settings from somewhere else"},
	{"--restricted", "takes the shell away; write_roots and the cell say what may be done"},
	{"--dangerously-skip-permissions", "drops the rules of the lease; nothing is asked without it"},
	{"--allow-dangerously-skip-permissions", "lets the rules of the lease be dropped"},
	{"--permission-mode", "drops the rules of the lease; nothing is asked without it"},
	{"--permission-prompts", "is for a host that answers, and nothing is asked"},
	{"--permission-prompt-tool", "lets a tool allow what the lease does not"},
	{"--enable-auto-mode", "lets a model allow what the lease does not"},
	{"--plugin-dir", "brings hooks that could change a call after it was judged"},
	{"--plugin-dir-no-mcp", "brings hooks that could change a call after it was judged"},
	{"--plugin-url", "brings hooks that could change a call after it was judged"},
	{"--worktree", "makes a worktree; the worktree is the lease's"},
	{"-w", "makes a worktree; the worktree is the lease's"},
	{"--tmux", "leaves the cell's terminal"},
	{"--bg", "goes on after the run has ended"},
	{"--background", "goes on after the run has ended"},
	{"--cloud", "works on another machine, where nothing is guarded"},
	{"--remote", "works on another machine, where nothing is guarded"},
	{"--environment", "works on another machine, where nothing is guarded"},
	{"--teleport", "brings a session of another machine"},
	{"--remote-control", "lets somebody else type"},
	{"--rc", "lets somebody else type"},
	{"--desktop", "opens another program"},
	{"--chrome", "drives a browser outside the cell"},
	{"--ide", "talks to an editor outside the cell"},
	{"--from-pr", "goes on with a session that is not this worker's"},
	{"--continue", "goes on with a session, and cordon does that itself"},
	{"-c", "goes on with a session, and cordon does that itself"},
	{"--resume", "goes on with a session, and cordon does that itself"},
	{"-r", "goes on with a session, and cordon does that itself"},
	{"--session-id", "names the session, and cordon goes on with the last one"},
	{"--fork-session", "makes another session, and cordon goes on with the last one"},
	{"--no-session-persistence", "leaves nothing to go on with when a question is answered"},
	{"-p", "is cordon's to give: without a terminal it is there"},
	{"--print", "is cordon's to give: without a terminal it is there"},
	{"--output-format", "hides what the client says of its calls"},
	{"--input-format", "reads prompts from somewhere else"},
	{"--append-system-prompt", "is where the briefing stands; put it into the prompt"},
	{"--append-system-prompt-file", "is where the briefing stands; put it into the prompt"},
	{"--strict-mcp-config", "is there already"},
	{"--debug-file", "writes where it likes"},
}

// passed are those that are passed on.
var passed = []agent.Passed{
	{Flag: "--model", Values: 1}, {Flag: "--fallback-model", Values: 1}, {Flag: "--effort", Values: 1}, {Flag: "--betas", Values: agent.Many},
	{Flag: "--agent", Values: 1}, {Flag: "--agents", Values: 1}, {Flag: "--name", Values: 1}, {Flag: "-n", Values: 1},
	{Flag: "--tools", Values: agent.Many}, {Flag: "--disallowedTools", Values: agent.Many}, {Flag: "--disallowed-tools", Values: agent.Many},
	{Flag: "--allowedTools", Values: agent.Many, Check: onlyServers}, {Flag: "--allowed-tools", Values: agent.Many, Check: onlyServers},
	{Flag: "--mcp-config", Values: agent.Many}, {Flag: "--add-dir", Values: agent.Many},
	{Flag: "--max-turns", Values: 1}, {Flag: "--max-budget-usd", Values: 1}, {Flag: "--autocompact", Values: 1}, {Flag: "--json-schema", Values: 1},
	{Flag: "--system-prompt", Values: 1}, {Flag: "--exclude-dynamic-system-prompt-sections"}, {Flag: "--disable-slash-commands"},
	{Flag: "--include-hook-events"}, {Flag: "--include-partial-messages"}, {Flag: "--forward-subagent-text"}, {Flag: "--ax-screen-reader"}, {Flag: "--no-chrome"},
}

// onlyServers allows tools of MCP servers by name: what else a worker may do is its
// lease's.
func onlyServers(value string) string {
	for _, tool := range strings.FieldsFunc(value, apart) {
		if name, ok := strings.CutPrefix(tool, "mcp__"); !ok || strings.ContainsFunc(strings.TrimSuffix(name, "*"), notPlain) || name == "*" || name == "" {
			return "allows a tool that is the lease's to allow; only those of an MCP server, mcp__server or mcp__server__tool, are added to its rules"
		}
	}
	return ""
}
