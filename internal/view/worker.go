package view

import "time"

// OneWorker is cordon.worker/1.
type OneWorker struct {
	Head
	Worker
}

// Workers is cordon.workers/1.
type Workers struct {
	Head
	Workers []Worker `json:"workers" doc:"The workers, in the order of their leases."`
}

// Short is cordon.short/1.
type Short struct {
	Head
	NeedYou int `json:"need_you" doc:"Number of workers that need a person."`
	Running int `json:"running" doc:"Number of workers that run and need nobody."`
}

// The groups of workers.
const (
	NeedsYou = "needs you"
	AtWork   = "running"
	Landed   = "landed"
	Over     = "over"
)

// Worker is everything that is known about one worker.
type Worker struct {
	ID         string     `json:"worker" doc:"Name of the worker."`
	Status     string     `json:"status" doc:"State of the worker, one of the words in the table of states."`
	Reason     string     `json:"reason" doc:"Why the worker is in this state, as a sentence."`
	Title      string     `json:"title" doc:"First line of the prompt of an agent client, or of the command."`
	Says       string     `json:"says,omitempty" doc:"First line of what the worker itself says of its result, with cordon done."`
	Group      string     `json:"group" doc:"What the worker needs: needs you, running, landed (merged, or nothing to merge) or over (discarded or removed)."`
	Since      time.Time  `json:"since" doc:"Time since which the worker is in this state, or since which its oldest question is open."`
	Activity   string     `json:"activity,omitempty" doc:"What a running worker does now: a phase, its last tool call, or its last line of output."`
	Silent     bool       `json:"silent,omitempty" doc:"Whether a running worker has shown no sign of life for the time of notify.silent."`
	Next       []string   `json:"next,omitempty" doc:"Commands to type next; the first is the usual one."`
	Repository string     `json:"repository,omitempty" doc:"Directory of the repository; only with ls --all."`
	PID        int        `json:"pid,omitempty" doc:"Process ID of the cordon process that works on the worker now."`
	LastSign   time.Time  `json:"last_sign" doc:"Time of the last sign of life: an event, output, a decision of the guard or of the network."`
	Created    time.Time  `json:"created" doc:"Time at which the lease was sealed."`
	Changed    time.Time  `json:"changed" doc:"Time of the worker's last event in the journal."`
	Expires    time.Time  `json:"expires" doc:"Time at which the lease ends."`
	Base       string     `json:"base" doc:"Commit from which the worker started."`
	BaseShort  string     `json:"base_short" doc:"The base commit, abbreviated."`
	Behind     int        `json:"behind" doc:"Number of commits that the target has and the base does not."`
	Attempts   int        `json:"attempts,omitempty" doc:"How often the worker was started again after its result was judged."`
	Target     string     `json:"target" doc:"Full name of the branch on which the result is to land."`
	Branch     string     `json:"branch" doc:"Short name of the branch in the worker's own repository."`
	Worktree   string     `json:"worktree" doc:"Directory on this machine that holds the worker's files, or its changed files if tree is overlay."`
	Inside     string     `json:"worktree_inside" doc:"The working directory as the worker sees it."`
	Tree       string     `json:"tree" doc:"Kind of worktree: overlay (copied on write) or copy."`
	Adopted    bool       `json:"adopted" doc:"Whether another tool created the worktree."`
	Lease      string     `json:"lease" doc:"Hash of the sealed lease."`
	Source     string     `json:"policy_source" doc:"Where the policy came from."`
	WriteRoots []string   `json:"write_roots" doc:"Paths that the worker may write."`
	Command    []string   `json:"command" null:"yes" doc:"The command that ran last or will run; null if it is not known."`
	Line       string     `json:"command_line" doc:"The command in one line."`
	Layers     []string   `json:"confinement" doc:"Layers of the cell that were proven before the last start."`
	Disk       int64      `json:"disk" doc:"Bytes that the worker takes on disk; in a list, if nobody works on it, as found after its last event."`
	Publish    []int      `json:"publish,omitempty" doc:"Ports that the worker publishes while it runs: cordon open prints their addresses."`
	Visits     int        `json:"visits" doc:"Number of visits with cordon shell during the last run."`
	Questions  []Question `json:"questions" doc:"Questions that nobody has answered."`
	Client     *Client    `json:"client,omitempty" doc:"The agent client, if the worker runs one."`
	Guard      *Guard     `json:"guard,omitempty" doc:"Number of tool calls that the guard judged."`
	Net        *Tally     `json:"network,omitempty" doc:"Summary of the connections that the worker tried."`
	Exit       *Exit      `json:"exit,omitempty" doc:"How the command ended."`
	Audit      *Audited   `json:"audit,omitempty" doc:"Result of the last audit."`
	Summary    string     `json:"summary,omitempty" doc:"Number of changes that may land, with the number of violations in parentheses."`
	Gate       *Gate      `json:"gate,omitempty" doc:"Result of the gate."`
	Then       *Then      `json:"then,omitempty" doc:"Your command after the landing (land.then)."`
	Reasons    []string   `json:"reasons,omitempty" doc:"Every reason why the result is quarantined."`
}

// Exit is how a command ended.
type Exit struct {
	Code    int            `json:"code" doc:"Exit code; 128+n if signal n ended the command."`
	Reason  string         `json:"reason" doc:"What ended the command: exited, interrupted, not started, or the name of a limit."`
	Left    int            `json:"left,omitempty" doc:"Number of processes that the command left behind and cordon ended."`
	Error   string         `json:"error,omitempty" doc:"Why the command could not be started."`
	Refused map[string]int `json:"refused,omitempty" doc:"How often the cell refused each system call that ordinary programs do not make."`
}

// Then is the operator's command after a landing.
type Then struct {
	Command []string `json:"command" doc:"The command as your configuration had it."`
	Commit  string   `json:"commit" doc:"The commit that had landed."`
	Code    *int     `json:"code,omitempty" doc:"Its exit code, -1 if it did not exit by itself; absent if its end is not known."`
	How     string   `json:"how" doc:"How it ended, in words."`
	Output  string   `json:"output,omitempty" doc:"The end of its output."`
}

// Gate is a result of the gate.
type Gate struct {
	Outcome  string       `json:"outcome" doc:"What the gate decided: merged, nothing, conflict, waiting, violations or rejected."`
	Commit   string       `json:"commit,omitempty" doc:"The commit that landed or is ready to land."`
	Target   string       `json:"target" doc:"Full name of the branch on which the result is to land."`
	Paths    []Text       `json:"paths,omitempty" doc:"Paths that conflict with the target; at most 200."`
	Findings []Finding    `json:"findings,omitempty" doc:"Violations in the merged tree; at most 200."`
	Checks   []Acceptance `json:"checks,omitempty" doc:"The acceptance commands that ran."`
	Retries  int          `json:"retries,omitempty" doc:"How often acceptance of this result failed before it ran as checks says."`
	Why      string       `json:"why,omitempty" doc:"Why the gate decided this way."`
	Checkout string       `json:"checkout,omitempty" doc:"The checkout in which something is left to do."`
	InTheWay []Obstacle   `json:"in_the_way,omitempty" doc:"Uncommitted changes that keep the result from landing, if nothing else does; at most 200."`
	Queue    *Passage     `json:"queue,omitempty" doc:"How the result went through the queue of its branch; absent where it was not recorded."`
}

// Passage is the way of a result through the queue of its branch.
type Passage struct {
	Since time.Time `json:"since" doc:"Time at which it entered the queue."`
	Tests int       `json:"tests" doc:"How many tests of it were begun; a test on a tree that changed meanwhile counts too."`
	Ahead int       `json:"ahead" doc:"How many results that had not landed yet were in the tree of its last test."`
}

// Obstacle is an uncommitted change that keeps a checkout from following its branch.
type Obstacle struct {
	Checkout string `json:"checkout" doc:"The checkout."`
	Path     Text   `json:"path" doc:"Path in the checkout."`
	Why      string `json:"why" doc:"What is there."`
}

// Acceptance is an acceptance command that ran.
type Acceptance struct {
	Command string `json:"command" doc:"The command."`
	Code    int    `json:"code" doc:"Its exit code."`
	Ended   string `json:"ended,omitempty" doc:"The limit that ended the command, in words."`
	Took    int64  `json:"took_ns" doc:"Duration in nanoseconds."`
	Output  string `json:"output,omitempty" doc:"The end of its output."`
	Reused  bool   `json:"reused,omitempty" doc:"Whether it did not run, because it has passed on the same files before (acceptance with paths)."`
	Names   []Text `json:"names,omitempty" doc:"Changed files that the command names, alone or with a directory. Other commands may run the worker's code too."`
	Node    string `json:"node,omitempty" doc:"The node of the fleet that ran it, by its word; missing: it ran at home."`
}

// State is a word for the status of a worker.
type State struct{ Word, Means string }

// States lists the words.
func States() []State {
	return []State{
		{"leased", "The lease is sealed; there is no worktree yet."},
		{"ready", "The worktree exists; the command has not run."},
		{"running", "The command runs."},
		{"lost", "The command was running when cordon or the machine stopped. `cordon resume` continues it."},
		{"interrupted", "A person stopped the command."},
		{"failed", "The command failed."},
		{"asks", "The worker ended with a question that nobody has answered."},
		{"finished", "The command ended; the gate has not accepted or quarantined the result."},
		{"review", "The result passed the audit, and its landing is left to you: `cordon diff`, then `cordon merge`."},
		{"at the gate", "The gate is judging the result."},
		{"merged", "The result is part of the target branch."},
		{"no change", "The worker changed nothing that could land."},
		{"conflict", "The result conflicts with the target branch."},
		{"waiting", "The result is accepted; your checkout is in the way."},
		{"quarantined", "The result did not pass."},
		{"discarded", "The result was discarded."},
	}
}
