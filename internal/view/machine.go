package view

import "time"

// Doctor is cordon.doctor/1.
type Doctor struct {
	Head
	Checks  []DoctorCheck  `json:"checks" doc:"The checks, in the order of the terminal output."`
	Clients []DoctorClient `json:"clients" doc:"The agent clients that cordon knows."`
	Verdict string         `json:"verdict" doc:"Whether cordon works here, as a sentence."`
	Next    []string       `json:"next" null:"yes" doc:"What to do next; null if nothing is known."`
}

// DoctorCheck is one check.
type DoctorCheck struct {
	Name   string `json:"name" doc:"What was checked."`
	Status string `json:"status" doc:"Result: ok, warn, fail or info."`
	Detail string `json:"detail" doc:"What was found."`
	Hint   string `json:"hint" doc:"What to do about it; may be empty."`
}

// DoctorClient is an agent client.
type DoctorClient struct {
	Client  string       `json:"client" doc:"Name of the client."`
	Path    string       `json:"path" doc:"Path of its program; empty if it is not on PATH."`
	Version string       `json:"version" doc:"Its version; empty if it is not known."`
	Tested  string       `json:"tested" doc:"The version with which cordon was tested."`
	Oldest  string       `json:"oldest" doc:"The oldest version that cordon runs."`
	Proof   *ClientProof `json:"proof" doc:"When its hooks were last seen alive in this repository; null if never."`
}

// ClientProof is the last time at which a client's hooks were seen alive.
type ClientProof struct {
	Worker  string    `json:"worker" doc:"Name of the worker."`
	Version string    `json:"version" doc:"Version of the client then."`
	At      time.Time `json:"at" doc:"Time of the proof."`
	Event   string    `json:"event" doc:"The first event that the hooks reported."`
	Calls   int       `json:"calls" doc:"Number of that worker's tool calls that the guard judged."`
	Denied  int       `json:"denied" doc:"Number of those that it denied."`
}

// Probe is cordon.probe/1.
type Probe struct {
	Head
	Attempts []Escape `json:"attempts" doc:"The attempts."`
	Summary  string   `json:"summary" doc:"The result in one line."`
}

// Escape is an attempt to escape.
type Escape struct {
	Group     string `json:"group" doc:"Group of the attempt."`
	Name      string `json:"name" doc:"Name of the attempt."`
	What      string `json:"what" doc:"What the attempt does."`
	Control   string `json:"control" doc:"Result without cordon: escaped, held or not tested."`
	Verdict   string `json:"verdict" doc:"Result with cordon: escaped, held or not tested."`
	Attention bool   `json:"attention" doc:"Whether the result needs your attention."`
	Detail    string `json:"detail" doc:"What happened."`
}

// Calls is cordon.calls/1.
type Calls struct {
	Head
	Calls []Call `json:"calls" null:"yes" doc:"The system calls; null on systems without cells."`
}

// Call is a system call that a cell refuses.
type Call struct {
	Call   string `json:"call" doc:"Name of the system call."`
	Errno  string `json:"errno" doc:"The error that the caller gets."`
	Reason string `json:"reason" doc:"Why it is refused."`
	When   string `json:"when,omitempty" doc:"When it is refused; absent if it always is."`
}

// Version is cordon.version/1.
type Version struct {
	Head
	Version  string `json:"version" doc:"The version; devel for a build without one."`
	Commit   string `json:"commit" doc:"Commit from which the program was built; empty if it is not known."`
	Modified bool   `json:"modified" doc:"Whether the sources differed from that commit."`
	Go       string `json:"go" doc:"Version of Go."`
	OS       string `json:"os" doc:"Operating system."`
	Arch     string `json:"arch" doc:"Architecture."`
}

// Error is cordon.error/1.
type Error struct {
	Head
	Error string   `json:"error" doc:"The message."`
	Hint  string   `json:"hint" doc:"What to do about it; may be empty."`
	Exit  int      `json:"exit" doc:"The exit code of the command."`
	Stale []string `json:"stale,omitempty" doc:"What has changed since the operator looked, if a decision was refused for that."`
}
