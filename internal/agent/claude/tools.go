package claude

import (
	"cordon/internal/client"
)

// tools are those of Claude Code. Glob, Grep, LS and MultiEdit are not in
// every build.
var tools = []client.Tool{
	{Name: "Bash", Kind: client.Shell, Command: "command", Prose: "description"},
	{Name: "Monitor", Kind: client.Shell, Command: "command", Prose: "description"},
	{Name: "BashOutput", Kind: client.Note},
	{Name: "KillShell", Kind: client.Note},
	{Name: "TaskOutput", Kind: client.Note},
	{Name: "TaskStop", Kind: client.Note},
	{Name: "Read", Kind: client.Read, Read: "file_path"},
	{Name: "Write", Kind: client.Write, Write: "file_path", Prose: "content"},
	{Name: "Edit", Kind: client.Edit, Write: "file_path", Prose: "old_string new_string"},
	{Name: "MultiEdit", Kind: client.Edit, Write: "file_path", Prose: "edits"},
	{Name: "NotebookEdit", Kind: client.Notebook, Write: "notebook_path", Prose: "new_source"},
	{Name: "NotebookRead", Kind: client.Read, Read: "notebook_path"},
	{Name: "Glob", Kind: client.Search, Place: "path", Glob: "pattern"},
	{Name: "Grep", Kind: client.Search, Place: "path", Prose: "pattern glob"},
	{Name: "LS", Kind: client.Search, Place: "path", Prose: "ignore"},
	{Name: "LSP", Kind: client.Search, Read: "filePath file_path", Prose: "query"},
	{Name: "EnterWorktree", Kind: client.Worktree, Write: "path", Prose: "name"},
	{Name: "ExitWorktree", Kind: client.Worktree, Prose: "action"},
	{Name: "Agent", Kind: client.Agent, Prose: "prompt description"},
	{Name: "Task", Kind: client.Agent, Prose: "prompt description"},
	{Name: "Workflow", Kind: client.Agent, Read: "scriptPath", Prose: "script"},
	{Name: "Artifact", Kind: client.Write, Read: "file_path file_paths", Write: "out_dir"},
	{Name: "Projects", Kind: client.Unknown},
	{Name: "Skill", Kind: client.Skill, Prose: "skill args command"},
	{Name: "SlashCommand", Kind: client.Skill, Prose: "command"},
	{Name: "WebFetch", Kind: client.Fetch, Prose: "url prompt"},
	{Name: "WebSearch", Kind: client.Fetch, Prose: "query", Dangers: []client.Danger{client.Remote}},
	{Name: "ScheduleWakeup", Kind: client.Schedule, Prose: "prompt reason"},
	{Name: "CronCreate", Kind: client.Schedule, Prose: "prompt"},
	{Name: "SendMessage", Kind: client.Message, Prose: "message content target", Dangers: []client.Danger{client.Elsewhere}},
	{Name: "ListAgents", Kind: client.Message, Dangers: []client.Danger{client.Elsewhere}},
	{Name: "TodoWrite", Kind: client.Note, Prose: "todos"},
	{Name: "TaskCreate", Kind: client.Note, Prose: "metadata"},
	{Name: "TaskUpdate", Kind: client.Note, Prose: "metadata"},
	{Name: "TaskGet", Kind: client.Note},
	{Name: "TaskList", Kind: client.Note},
	{Name: "ToolSearch", Kind: client.Note, Prose: "query"},
	{Name: "EnterPlanMode", Kind: client.Note},
	{Name: "ExitPlanMode", Kind: client.Note, Prose: "plan"},
	{Name: "AskUserQuestion", Kind: client.Question, Prose: "questions answers"},
}
