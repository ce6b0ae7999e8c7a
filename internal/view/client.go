package view

// Client is an agent client of a worker.
type Client struct {
	Name    string   `json:"name" doc:"Name of the client."`
	Wiring  *Wiring  `json:"wiring" doc:"How the hooks of the last launch were set up; null before the first launch."`
	Proof   *Proof   `json:"proof" doc:"Proof that the hooks of the last launch worked; null if there is none."`
	Stream  *Summary `json:"stream" doc:"Summary of the client's own stream; null before the client has ended."`
	Limits  []string `json:"limits,omitempty" doc:"What the client said each time its provider limited the rate; at most 20 of each launch."`
	Limited bool     `json:"limited,omitempty" doc:"True if the last launch failed because the provider limited the rate."`
}

// Wiring is how the hooks of a client were set up.
type Wiring struct {
	Client  string            `json:"client" doc:"Name of the client."`
	Version string            `json:"version" doc:"Version of the client."`
	Program string            `json:"program" doc:"Path of the client's program."`
	Guard   string            `json:"guard" doc:"SHA-256 of the program that acts as guard."`
	Files   map[string]string `json:"files" null:"yes" doc:"SHA-256 of each file that registers the guard, by name."`
	Managed []string          `json:"managed,omitempty" doc:"Files in the cell that hold the hooks, if the client has managed settings."`
	Stream  int64             `json:"stream,omitempty" doc:"Offset at which the stream of this launch begins."`
	Parts   []Part            `json:"parts,omitempty" doc:"What the client was given of the operator's and the project's setup."`
}

// Part is something of the operator's or the project's setup.
type Part struct {
	Part    string   `json:"part" doc:"instructions, skills, agents, commands or mcp."`
	Name    string   `json:"name" doc:"Its name; the text and the values of servers are not recorded."`
	From    string   `json:"from" doc:"user: the operator's own. project: the base commit's."`
	Removed []string `json:"removed,omitempty" doc:"What cordon took out of it, such as hooks and inline shell."`
	Left    string   `json:"left,omitempty" doc:"Why it was left out; absent if it was given."`
}

// Proof shows that hooks were alive.
type Proof struct {
	Canary string `json:"canary" doc:"The guard's answer to a call that must be denied."`
	Event  string `json:"event" doc:"The first event that the client's hooks reported."`
	After  int64  `json:"after" doc:"Nanoseconds from the start of the client to that event."`
}

// Summary is what a client's stream says about its work.
type Summary struct {
	Calls       int            `json:"calls" doc:"Number of tool calls."`
	Tools       map[string]int `json:"tools,omitempty" doc:"Number of calls of each tool."`
	Input       int            `json:"input_tokens,omitempty" doc:"Number of input tokens."`
	Output      int            `json:"output_tokens,omitempty" doc:"Number of output tokens."`
	Cached      int            `json:"cached_tokens,omitempty" doc:"Number of input tokens that came from a cache."`
	Cost        float64        `json:"cost_usd,omitempty" doc:"Cost in US dollars, as the client reports it."`
	Turns       int            `json:"turns,omitempty" doc:"Number of turns of the conversation."`
	Model       string         `json:"model,omitempty" doc:"Name of the model."`
	Session     string         `json:"session,omitempty" doc:"The client's name for the conversation."`
	Reason      string         `json:"reason,omitempty" doc:"Why the client stopped, in its own words."`
	Unknown     int            `json:"unknown_lines,omitempty" doc:"Number of lines that cordon did not understand."`
	Gap         []string       `json:"gap,omitempty" doc:"Tool calls that ran without a decision of the guard."`
	Interactive bool           `json:"interactive,omitempty" doc:"Whether the client was interactive and therefore had no stream."`
	Why         string         `json:"why,omitempty" doc:"What could not be compared with the guard's decisions."`
}
