package gemini

import (
	"cordon/internal/client"
)

// tools are those of the Gemini CLI.
var tools = []client.Tool{
	{Name: "run_shell_command", Kind: client.Shell, Command: "command", Dir: "dir_path directory", Prose: "description"},
	{Name: "write_file", Kind: client.Write, Write: "file_path", Prose: "content"},
	{Name: "replace", Kind: client.Edit, Write: "file_path", Prose: "old_string new_string instruction"},
	{Name: "read_file", Kind: client.Read, Read: "file_path absolute_path"},
	{Name: "read_many_files", Kind: client.Search, Glob: "paths include", Prose: "exclude"},
	{Name: "list_directory", Kind: client.Search, Place: "dir_path path", Prose: "ignore"},
	{Name: "glob", Kind: client.Search, Place: "dir_path path", Glob: "pattern"},
	{Name: "grep_search", Kind: client.Search, Place: "dir_path path", Prose: "pattern include include_pattern"},
	{Name: "search_file_content", Kind: client.Search, Place: "dir_path path", Prose: "pattern include"},
	{Name: "web_fetch", Kind: client.Fetch, Prose: "prompt url", Dangers: []client.Danger{client.Remote}, Here: "url"},
	{Name: "google_web_search", Kind: client.Fetch, Prose: "query", Dangers: []client.Danger{client.Remote}},
	{Name: "save_memory", Kind: client.Write, Prose: "fact", Touches: []client.Path{{Path: "~/.gemini/GEMINI.md", Write: true}}},
	{Name: "write_todos", Kind: client.Note, Prose: "todos"},
	{Name: "update_topic", Kind: client.Note, Prose: "title summary strategic_intent"},
	{Name: "list_background_processes", Kind: client.Note},
	{Name: "read_background_output", Kind: client.Note},
	{Name: "invoke_agent", Kind: client.Agent, Prose: "prompt agent_name"},
	{Name: "activate_skill", Kind: client.Skill, Prose: "name"},
	{Name: "ask_user", Kind: client.Question, Prose: "questions"},
	{Name: "enter_plan_mode", Kind: client.Note, Prose: "reason"},
	{Name: "exit_plan_mode", Kind: client.Note, Write: "plan_path", Prose: "plan_filename"},
}
