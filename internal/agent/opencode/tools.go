package opencode

import (
	"cordon/internal/client"
)

// tools are those of OpenCode. Tools of an MCP server have the server's
// name in front and no mark: they are found like any tool that is not known.
var tools = []client.Tool{
	{Name: "bash", Kind: client.Shell, Command: "command", Dir: "workdir", Prose: "description"},
	{Name: "read", Kind: client.Read, Read: "filePath"},
	{Name: "write", Kind: client.Write, Write: "filePath", Prose: "content"},
	{Name: "edit", Kind: client.Edit, Write: "filePath", Prose: "oldString newString"},
	{Name: "multiedit", Kind: client.Edit, Write: "filePath", Prose: "edits"},
	{Name: "patch", Kind: client.Patch, Patch: "patchText"},
	{Name: "apply_patch", Kind: client.Patch, Patch: "patchText"},
	{Name: "glob", Kind: client.Search, Place: "path", Glob: "pattern"},
	{Name: "grep", Kind: client.Search, Place: "path", Prose: "pattern include"},
	{Name: "list", Kind: client.Search, Place: "path", Prose: "ignore"},
	{Name: "lsp", Kind: client.Search, Read: "filePath", Prose: "query"},
	{Name: "task", Kind: client.Agent, Prose: "prompt description command"},
	{Name: "skill", Kind: client.Skill, Prose: "name"},
	{Name: "webfetch", Kind: client.Fetch, Prose: "url"},
	{Name: "websearch", Kind: client.Fetch, Prose: "query"},
	{Name: "codesearch", Kind: client.Fetch, Prose: "query"},
	{Name: "todowrite", Kind: client.Note, Prose: "todos"},
	{Name: "todoread", Kind: client.Note},
	{Name: "question", Kind: client.Question, Prose: "questions"},
	{Name: "plan_enter", Kind: client.Note},
	{Name: "plan_exit", Kind: client.Note},
	{Name: "invalid", Kind: client.Note, Prose: "tool error"},
}
