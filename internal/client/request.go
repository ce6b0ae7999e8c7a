package client

import (
	"path"
	"strings"
)

// Request is what a client says, in one form for all of them. Nothing in it is to
// be believed as a place: Cwd is where the client says that it is, and a tool may
// have moved it.
type Request struct {
	Client  Name
	Event   Event
	Word    string // the client's own word for the event, where it has one
	Session string
	Call    string
	Cwd     string

	// What follows is about a tool, and empty for every event but PreTool.
	Tool     string // the client's own name for it
	Kind     Kind
	Commands []string // shell text that the call runs
	Dir      string   // where the client was told to run it, relative to Cwd; "": in Cwd
	Paths    []Path
	Dangers  []Danger
	Input    []byte // as the client sent it
}

// Place is where relative paths and commands of the call start.
func (r Request) Place() string {
	if r.Dir == "" || path.IsAbs(r.Dir) || strings.HasPrefix(r.Dir, "~") {
		if r.Dir != "" {
			return r.Dir
		}
		return r.Cwd
	}
	// Not path.Join: it would drop what comes before a "..", which may be a link.
	return strings.TrimSuffix(r.Cwd, "/") + "/" + r.Dir
}

// Path is a path that a call names, as it names it: relative ones start in the
// place of the request, and a leading ~ is the home.
type Path struct {
	Path  string
	Write bool
}

// Kind is what a tool does, whatever its client calls it.
type Kind string

// The kinds.
const (
	Shell    Kind = "shell"
	Read     Kind = "read"
	Write    Kind = "write"
	Edit     Kind = "edit"
	Search   Kind = "search"
	Notebook Kind = "notebook"
	Patch    Kind = "patch"
	Fetch    Kind = "fetch"
	Agent    Kind = "agent"
	Worktree Kind = "worktree"
	Skill    Kind = "skill"
	MCP      Kind = "mcp"
	Question Kind = "question"
	Schedule Kind = "schedule"
	Message  Kind = "message"
	Note     Kind = "note" // the client's own affairs: its list of tasks, its plan
	Unknown  Kind = "unknown"
)

// Danger is something in a call that matters beyond its commands and paths.
type Danger string

// The dangers.
const (
	Unsandboxed Danger = "unsandboxed" // asks its client not to confine it
	Escalated   Danger = "escalated"   // asks its client for more rights
	Isolated    Danger = "isolated"    // starts an agent in a worktree of the client's own
	Typed       Danger = "typed"       // types into a process that runs already
	Foreign     Danger = "foreign"     // its commands are for a shell that is not POSIX
	Later       Danger = "later"       // is carried out when nobody watches
	Elsewhere   Danger = "elsewhere"   // reaches another session
	Remote      Danger = "remote"      // is carried out by servers of the client's maker, which reach what they like
	Opaque      Danger = "opaque"      // runs something, and what it is was not found in the call
)

const (
	maxInput = 1 << 20
	maxDepth = 64
	maxNodes = 20000
	maxFound = 256 // paths and commands of one call
	maxName  = 256
)
