package client

// geminiTools are those of the Gemini CLI.
var geminiTools = []tool{
	{name: "run_shell_command", kind: Shell, fields: []field{{"command", command}, {"dir_path", dir}, {"directory", dir}, {"description", prose}}},
	{name: "write_file", kind: Write, fields: []field{{"file_path", write}, {"content", prose}}},
	{name: "replace", kind: Edit, fields: []field{{"file_path", write}, {"old_string", prose}, {"new_string", prose}, {"instruction", prose}}},
	{name: "read_file", kind: Read, fields: []field{{"file_path", read}, {"absolute_path", read}}},
	{name: "read_many_files", kind: Search, fields: []field{{"paths", glob}, {"include", glob}, {"exclude", prose}}},
	{name: "list_directory", kind: Search, fields: []field{{"dir_path", place}, {"path", place}, {"ignore", prose}}},
	{name: "glob", kind: Search, fields: []field{{"dir_path", place}, {"path", place}, {"pattern", glob}}},
	{name: "grep_search", kind: Search, fields: []field{{"dir_path", place}, {"path", place}, {"pattern", prose}, {"include", prose}, {"include_pattern", prose}}},
	{name: "search_file_content", kind: Search, fields: []field{{"dir_path", place}, {"path", place}, {"pattern", prose}, {"include", prose}}},
	{name: "web_fetch", kind: Fetch, fields: []field{{"prompt", prose}, {"url", prose}}},
	{name: "google_web_search", kind: Fetch, fields: []field{{"query", prose}}},
	{name: "save_memory", kind: Write, fields: []field{{"fact", prose}}},
	{name: "write_todos", kind: Note, fields: []field{{"todos", prose}}},
	{name: "update_topic", kind: Note, fields: []field{{"title", prose}, {"summary", prose}, {"strategic_intent", prose}}},
	{name: "list_background_processes", kind: Note},
	{name: "read_background_output", kind: Note},
	{name: "invoke_agent", kind: Agent, fields: []field{{"prompt", prose}, {"agent_name", prose}}},
	{name: "activate_skill", kind: Skill, fields: []field{{"name", prose}}},
	{name: "ask_user", kind: Question, fields: []field{{"questions", prose}}},
	{name: "enter_plan_mode", kind: Note, fields: []field{{"reason", prose}}},
	{name: "exit_plan_mode", kind: Note, fields: []field{{"plan_path", write}, {"plan_filename", prose}}},
}
