package hook

import (
	"strings"

	"cordon/internal/guard"
	"cordon/internal/tool"
)

// Typed is a call as a person describes it: a tool's name and one text, which is
// a command for a shell tool and the path for a file tool. A tool that it does not
// know may write.
func Typed(name, text, cwd string) guard.Call {
	c := guard.Call{Tool: name, Cwd: cwd}
	switch strings.ToLower(name) {
	case "bash", "shell", "sh", "run_shell_command", "exec_command", "local_shell", "monitor", "powershell":
		c.Shell = []string{text}
	case "read", "view", "grep", "glob", "ls", "list", "search", "read_file", "list_directory", "grep_search", "view_image", "read_many_files", "search_file_content":
		c.Paths = []tool.Access{{Role: tool.Read, Path: text}}
	case "webfetch", "websearch", "web_fetch", "todowrite", "askuserquestion", "task", "agent": // text for somebody else
	case "enterworktree", "exitworktree":
		c.Findings = []tool.Finding{leasedTree}
	default:
		c.Paths = []tool.Access{{Role: tool.Write, Path: text}}
	}
	return c
}

// leasedTree is said to tools that change the worktree.
var leasedTree = tool.Finding{Weight: tool.Deny, Reason: "the worktree of this worker is given by its lease", Instead: "go on in the worktree you are in"}
