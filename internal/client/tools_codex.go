package client

// codexTools are those of the Codex CLI. What its shell tools are called depends
// on the model; its hook says Bash for all of them, and the names they really
// have are here for the day it does not.
var codexTools = []tool{
	{name: "Bash", kind: Shell, fields: codexShell},
	{name: "shell", kind: Shell, fields: codexShell},
	{name: "shell_command", kind: Shell, fields: codexShell},
	{name: "local_shell", kind: Shell, fields: codexShell},
	{name: "container.exec", kind: Shell, fields: codexShell},
	{name: "exec_command", kind: Shell, fields: codexShell},
	{name: "write_stdin", kind: Shell, fields: []field{{"chars", command}}, dangers: []Danger{Typed}},
	{name: "apply_patch", kind: Patch, fields: []field{{"command", patch}, {"input", patch}, {"patch", patch}}},
	{name: "view_image", kind: Read, fields: []field{{"path", read}}},
	{name: "read_file", kind: Read, fields: []field{{"file_path", read}}},
	{name: "list_dir", kind: Search, fields: []field{{"dir_path", place}}},
	{name: "grep_files", kind: Search, fields: []field{{"path", place}, {"pattern", prose}, {"include", prose}}},
	{name: "update_plan", kind: Note, fields: []field{{"plan", prose}, {"explanation", prose}}},
	{name: "spawn_agent", kind: Agent, fields: []field{{"message", prose}, {"items", prose}}},
	{name: "send_input", kind: Agent, fields: []field{{"message", prose}, {"items", prose}}},
	{name: "wait", kind: Agent},
	{name: "wait_agent", kind: Agent},
	{name: "resume_agent", kind: Agent},
	{name: "close_agent", kind: Agent},
	{name: "request_user_input", kind: Question, fields: []field{{"questions", prose}}},
	{name: "web_search", kind: Fetch, fields: []field{{"query", prose}}},
	{name: "list_mcp_resources", kind: Note},
	{name: "list_mcp_resource_templates", kind: Note},
}

var codexShell = []field{
	{"command", argv}, {"cmd", argv}, {"workdir", dir}, {"cwd", dir}, {"shell", program}, {"justification", prose}, {"prefix_rule", prose},
}
