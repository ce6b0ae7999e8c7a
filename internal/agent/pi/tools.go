package pi

import (
	"cordon/internal/client"
)

// tools are those of pi. It has no sub-agents and no MCP servers; extensions could add some, and
// cordon loads none.
var tools = []client.Tool{
	{Name: "bash", Kind: client.Shell, Command: "command"},
	{Name: "read", Kind: client.Read, Read: "path"},
	{Name: "write", Kind: client.Write, Write: "path", Prose: "content"},
	{Name: "edit", Kind: client.Edit, Write: "path", Prose: "edits oldText newText"},
	{Name: "grep", Kind: client.Search, Place: "path", Prose: "pattern glob"},
	{Name: "find", Kind: client.Search, Place: "path", Glob: "pattern"},
	{Name: "ls", Kind: client.Search, Place: "path"},
}
