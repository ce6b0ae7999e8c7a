package qwen

import (
	"cordon/internal/client"
)

// tools are those of Qwen Code. Some are shown to a model only on request, and tool_call calls one of
// these: its hook is asked with the name and the input of that tool.
var tools = []client.Tool{
	{Name: "run_shell_command", Kind: client.Shell, Command: "command", Dir: "directory", Prose: "description"},
	{Name: "monitor", Kind: client.Shell, Command: "command", Dir: "directory", Prose: "description"},
	{Name: "write_file", Kind: client.Write, Write: "file_path", Prose: "content"},
	{Name: "edit", Kind: client.Edit, Write: "file_path", Prose: "old_string new_string"},
	{Name: "notebook_edit", Kind: client.Notebook, Write: "notebook_path", Prose: "new_source"},
	{Name: "read_file", Kind: client.Read, Read: "file_path absolute_path"},
	{Name: "zoom_image", Kind: client.Read, Read: "file_path path"},
	{Name: "list_directory", Kind: client.Search, Place: "path", Prose: "ignore"},
	{Name: "glob", Kind: client.Search, Place: "path", Glob: "pattern"},
	{Name: "grep_search", Kind: client.Search, Place: "path", Prose: "pattern glob"},
	{Name: "lsp", Kind: client.Search, Read: "filePath file_path", Prose: "query"},
	{Name: "web_fetch", Kind: client.Fetch, Prose: "url prompt"},
	{Name: "web_search", Kind: client.Fetch, Prose: "query", Dangers: []client.Danger{client.Remote}},
	{Name: "agent", Kind: client.Agent, Prose: "prompt description"},
	{Name: "workflow", Kind: client.Agent, Read: "scriptPath script_path", Prose: "script"},
	{Name: "create_sub_session", Kind: client.Agent, Prose: "prompt description"},
	{Name: "skill", Kind: client.Skill, Prose: "skill args"},
	{Name: "enter_worktree", Kind: client.Worktree, Write: "path", Prose: "name"},
	{Name: "exit_worktree", Kind: client.Worktree, Prose: "action"},
	{Name: "save_memory", Kind: client.Write, Prose: "fact", Touches: []client.Path{{Path: "~/.qwen/QWEN.md", Write: true}}},
	{Name: "cron_create", Kind: client.Schedule, Prose: "prompt"},
	{Name: "loop_wakeup", Kind: client.Schedule, Prose: "prompt reason"},
	{Name: "send_message", Kind: client.Message, Prose: "message content target to", Dangers: []client.Danger{client.Elsewhere}},
	{Name: "ask_user_question", Kind: client.Question, Prose: "questions answers"},
	{Name: "tool_search", Kind: client.Note, Prose: "query"},
	{Name: "todo_write", Kind: client.Note, Prose: "todos"},
	{Name: "task_create", Kind: client.Note, Prose: "metadata subject description"},
	{Name: "task_update", Kind: client.Note, Prose: "metadata subject description"},
	{Name: "task_list", Kind: client.Note},
	{Name: "task_stop", Kind: client.Note},
	{Name: "list_agents", Kind: client.Note},
	{Name: "cron_list", Kind: client.Note},
	{Name: "cron_delete", Kind: client.Note},
	{Name: "get_goal", Kind: client.Note},
	{Name: "update_goal", Kind: client.Note, Prose: "status summary"},
	{Name: "propose_goal", Kind: client.Note, Prose: "objective"},
	{Name: "report_findings", Kind: client.Note, Prose: "findings"},
	{Name: "enter_plan_mode", Kind: client.Note},
	{Name: "exit_plan_mode", Kind: client.Note, Prose: "plan"},
	{Name: "structured_output", Kind: client.Note},
}
