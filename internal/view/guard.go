package view

import "time"

// Guard counts the decisions of a worker's guard.
type Guard struct {
	Calls  int    `json:"calls" doc:"Number of tool calls that were judged."`
	Denied int    `json:"denied" doc:"Number of calls that were denied."`
	Asked  int    `json:"asked" doc:"Number of calls that a person was asked about."`
	Warned int    `json:"warned,omitempty" doc:"Number of calls that were allowed with a warning."`
	Broken int    `json:"broken,omitempty" doc:"Number of lines of the record that are not decisions."`
	Digest string `json:"digest" doc:"SHA-256 of the record."`
}

// Decisions is cordon.decisions/1.
type Decisions struct {
	Head
	Worker    string     `json:"worker" doc:"Name of the worker."`
	Tally     Guard      `json:"tally" doc:"Totals."`
	Decisions []Decision `json:"decisions" doc:"The decisions, oldest first."`
}

// Decision is one decision of a guard.
type Decision struct {
	Time    time.Time `json:"time" doc:"Time of the decision."`
	Client  string    `json:"client" doc:"Name of the agent client that asked."`
	Session string    `json:"session,omitempty" doc:"The client's name for the conversation."`
	Call    string    `json:"call,omitempty" doc:"The client's name for the call."`
	Event   string    `json:"event,omitempty" doc:"The event that the client reported, if it is not a tool call."`
	Tool    string    `json:"tool" doc:"Name of the tool."`
	Input   string    `json:"input,omitempty" doc:"Input of the tool, shortened."`
	Verdict string    `json:"decision" doc:"The decision: allow, ask or deny."`
	Warned  bool      `json:"warned,omitempty" doc:"Whether the call was allowed only because the policy asks for warnings."`
	Reason  string    `json:"reason,omitempty" doc:"Why."`
}

// Check is cordon.check/1.
type Check struct {
	Head
	Verdict string `json:"decision" doc:"The decision: allow, ask or deny."`
	Reason  string `json:"reason" doc:"Why; empty if the call is allowed."`
	Tried   string `json:"tried" doc:"What the call would do."`
	Instead string `json:"instead" doc:"What to do instead."`
	Holds   string `json:"holds" doc:"The layer that protects if the guard is wrong."`
	Warned  bool   `json:"warned" doc:"Whether the call is allowed only because the policy asks for warnings."`
	Steps   []Step `json:"steps" null:"yes" doc:"What the call does, step by step; null if nothing is known about it."`
}

// Step is one thing that a tool call does.
type Step struct {
	Line    int    `json:"line,omitempty" doc:"Line of the command."`
	Dir     string `json:"dir" doc:"Working directory of this step."`
	Does    string `json:"does" doc:"What it does."`
	Path    string `json:"path,omitempty" doc:"The path as it is written."`
	Leads   string `json:"leads_to,omitempty" doc:"The path to which it leads."`
	Place   string `json:"place,omitempty" doc:"The kind of place that this is."`
	Verdict string `json:"decision" doc:"The decision about this step: allow, ask or deny."`
	Why     string `json:"why,omitempty" doc:"Why."`
}

// Warrant is cordon.warrant/1. The guard reads it back byte by byte and therefore
// encodes it itself; this struct describes it.
type Warrant struct {
	Head
	Lease    Document `json:"lease" doc:"The sealed lease."`
	Hash     string   `json:"hash" doc:"Hash of the lease."`
	Hosts    []string `json:"hosts" doc:"Your checkout and its git directory."`
	State    string   `json:"state" doc:"Directory of cordon's state."`
	Private  bool     `json:"private_git" doc:"Whether the worktree has a git directory of its own."`
	Confined bool     `json:"confined" doc:"Whether the worker runs in a cell."`
	Journal  string   `json:"journal,omitempty" doc:"File in which decisions are recorded."`
	Post     string   `json:"post,omitempty" doc:"Directory of the socket to which decisions are sent."`
}
