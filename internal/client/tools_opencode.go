package client

// openCodeTools are those of OpenCode. Tools of an MCP server have the server's
// name in front and no mark: they are found like any tool that is not known.
var openCodeTools = []tool{
	{name: "bash", kind: Shell, fields: []field{{"command", command}, {"workdir", dir}, {"description", prose}}},
	{name: "read", kind: Read, fields: []field{{"filePath", read}}},
	{name: "write", kind: Write, fields: []field{{"filePath", write}, {"content", prose}}},
	{name: "edit", kind: Edit, fields: []field{{"filePath", write}, {"oldString", prose}, {"newString", prose}}},
	{name: "multiedit", kind: Edit, fields: []field{{"filePath", write}, {"edits", prose}}},
	{name: "patch", kind: Patch, fields: []field{{"patchText", patch}}},
	{name: "apply_patch", kind: Patch, fields: []field{{"patchText", patch}}},
	{name: "glob", kind: Search, fields: []field{{"path", place}, {"pattern", glob}}},
	{name: "grep", kind: Search, fields: []field{{"path", place}, {"pattern", prose}, {"include", prose}}},
	{name: "list", kind: Search, fields: []field{{"path", place}, {"ignore", prose}}},
	{name: "lsp", kind: Search, fields: []field{{"filePath", read}, {"query", prose}}},
	{name: "task", kind: Agent, fields: []field{{"prompt", prose}, {"description", prose}, {"command", prose}}},
	{name: "skill", kind: Skill, fields: []field{{"name", prose}}},
	{name: "webfetch", kind: Fetch, fields: []field{{"url", prose}}},
	{name: "websearch", kind: Fetch, fields: []field{{"query", prose}}},
	{name: "codesearch", kind: Fetch, fields: []field{{"query", prose}}},
	{name: "todowrite", kind: Note, fields: []field{{"todos", prose}}},
	{name: "todoread", kind: Note},
	{name: "question", kind: Question, fields: []field{{"questions", prose}}},
	{name: "plan_enter", kind: Note},
	{name: "plan_exit", kind: Note},
	{name: "invalid", kind: Note, fields: []field{{"tool", prose}, {"error", prose}}},
}
