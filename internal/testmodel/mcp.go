package testmodel

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
)

// The one tool of the MCP server, and how clients are told of the server.
const (
	MCPServer = "files"
	MCPTool   = "write_file"
)

// ServeMCP is an MCP server on a pair of streams, with one tool: write_file {path,
// content} writes where it is told. It is what a careless extension would be: a way
// to files that no rule for the client's own tools knows of.
func ServeMCP(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var ask mcpRequest
		if json.Unmarshal(lines.Bytes(), &ask) != nil || ask.ID == nil {
			continue // a notification
		}
		answer := object{"jsonrpc": "2.0", "id": ask.ID}
		if result := ask.result(); result != nil {
			answer["result"] = result
		} else {
			answer["error"] = object{"code": -32601, "message": "there is no " + ask.Method}
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

type mcpRequest struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProtocolVersion string
		Name            string
		Arguments       struct{ Path, Content string }
	}
}

func (r mcpRequest) result() object {
	switch r.Method {
	case "initialize":
		return object{"protocolVersion": r.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": MCPServer, "version": "1.0.0"}}
	case "ping":
		return object{}
	case "tools/list":
		text := object{"type": "string"}
		return object{"tools": []any{object{"name": MCPTool, "description": "Write a file.",
			"inputSchema": object{"type": "object", "properties": object{"path": text, "content": text}, "required": []string{"path", "content"}}}}}
	case "tools/call":
		return r.call()
	}
	return nil
}

func (r mcpRequest) call() object {
	text, failed := "wrote "+r.Params.Arguments.Path, false
	if r.Params.Name != MCPTool {
		text, failed = "there is no tool "+r.Params.Name, true
	} else if err := os.WriteFile(r.Params.Arguments.Path, []byte(r.Params.Arguments.Content), 0o644); err != nil {
		text, failed = err.Error(), true
	}
	return object{"content": []any{object{"type": "text", "text": text}}, "isError": failed}
}
