package copilot

import (
	"cordon/internal/client"
)

// tools are those of the Copilot CLI.
var tools = []client.Tool{
	{Name: "bash", Kind: client.Shell, Command: "command", Prose: "description sessionId shellId"},
	{Name: "powershell", Kind: client.Shell, Command: "command", Prose: "description sessionId shellId", Dangers: []client.Danger{client.Foreign}},
	{Name: "write_bash", Kind: client.Shell, Command: "input", Dangers: []client.Danger{client.Typed}},
	{Name: "write_powershell", Kind: client.Shell, Command: "input", Dangers: []client.Danger{client.Typed, client.Foreign}},
	{Name: "read_bash", Kind: client.Note},
	{Name: "read_powershell", Kind: client.Note},
	{Name: "stop_bash", Kind: client.Note},
	{Name: "stop_powershell", Kind: client.Note},
	{Name: "list_bash", Kind: client.Note},
	{Name: "create", Kind: client.Write, Write: "path", Prose: "file_text"},
	{Name: "edit", Kind: client.Edit, Write: "path", Prose: "old_str new_str"},
	{Name: "view", Kind: client.Read, Read: "path", Prose: "view_range"},
	{Name: "show_file", Kind: client.Read, Read: "path"},
	{Name: "str_replace_editor", Kind: client.Edit, Write: "path", Prose: "command file_text old_str new_str insert_text view_range", ReadsOn: "view"},
	{Name: "apply_patch", Kind: client.Patch, Patch: "input patch command"},
	{Name: "grep", Kind: client.Search, Place: "paths path", Prose: "pattern glob"},
	{Name: "rg", Kind: client.Search, Place: "paths path", Prose: "pattern glob"},
	{Name: "glob", Kind: client.Search, Place: "paths path", Glob: "pattern"},
	{Name: "task", Kind: client.Agent, Prose: "prompt description"},
	{Name: "read_agent", Kind: client.Note},
	{Name: "list_agents", Kind: client.Note},
	{Name: "write_agent", Kind: client.Agent, Prose: "message prompt"},
	{Name: "skill", Kind: client.Skill, Prose: "skill"},
	{Name: "sql", Kind: client.Note, Prose: "query description"},
	{Name: "session_store_sql", Kind: client.Note, Prose: "query description"},
	{Name: "web_fetch", Kind: client.Fetch, Prose: "url"},
	{Name: "web_search", Kind: client.Fetch, Prose: "query", Dangers: []client.Danger{client.Remote}},
	{Name: "report_intent", Kind: client.Note, Prose: "intent"},
	{Name: "update_todo", Kind: client.Note, Prose: "todos"},
	{Name: "store_memory", Kind: client.Note, Prose: "fact subject citations reason"},
	{Name: "exit_plan_mode", Kind: client.Note, Prose: "summary"},
	{Name: "fetch_copilot_cli_documentation", Kind: client.Note},
	{Name: "ask_user", Kind: client.Question, Prose: "question choices message requestedSchema"},
}
