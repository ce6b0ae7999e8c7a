package codex

import (
	"cordon/internal/client"
)

// tools are those of the Codex CLI. What its shell tools are called depends
// on the model; its hook says Bash for all of them, and the names they really
// have are here for the day it does not.
var tools = []client.Tool{
	{Name: "Bash", Kind: client.Shell, Argv: "command cmd", Dir: "workdir cwd", Program: "shell", Prose: "justification prefix_rule"},
	{Name: "shell", Kind: client.Shell, Argv: "command cmd", Dir: "workdir cwd", Program: "shell", Prose: "justification prefix_rule"},
	{Name: "shell_command", Kind: client.Shell, Argv: "command cmd", Dir: "workdir cwd", Program: "shell", Prose: "justification prefix_rule"},
	{Name: "local_shell", Kind: client.Shell, Argv: "command cmd", Dir: "workdir cwd", Program: "shell", Prose: "justification prefix_rule"},
	{Name: "container.exec", Kind: client.Shell, Argv: "command cmd", Dir: "workdir cwd", Program: "shell", Prose: "justification prefix_rule"},
	{Name: "exec_command", Kind: client.Shell, Argv: "command cmd", Dir: "workdir cwd", Program: "shell", Prose: "justification prefix_rule"},
	{Name: "write_stdin", Kind: client.Shell, Command: "chars", Dangers: []client.Danger{client.Typed}},
	{Name: "apply_patch", Kind: client.Patch, Patch: "command input patch"},
	{Name: "view_image", Kind: client.Read, Read: "path"},
	{Name: "read_file", Kind: client.Read, Read: "file_path"},
	{Name: "list_dir", Kind: client.Search, Place: "dir_path"},
	{Name: "grep_files", Kind: client.Search, Place: "path", Prose: "pattern include"},
	{Name: "update_plan", Kind: client.Note, Prose: "plan explanation"},
	{Name: "spawn_agent", Kind: client.Agent, Prose: "message items"},
	{Name: "send_input", Kind: client.Agent, Prose: "message items"},
	{Name: "wait", Kind: client.Agent},
	{Name: "wait_agent", Kind: client.Agent},
	{Name: "resume_agent", Kind: client.Agent},
	{Name: "close_agent", Kind: client.Agent},
	{Name: "request_user_input", Kind: client.Question, Prose: "questions"},
	{Name: "web_search", Kind: client.Fetch, Prose: "query", Dangers: []client.Danger{client.Remote}},
	{Name: "list_mcp_resources", Kind: client.Note},
	{Name: "list_mcp_resource_templates", Kind: client.Note},
}
