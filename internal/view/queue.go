package view

import "time"

// Queue is cordon.queue/1.
type Queue struct {
	Head
	Branches []QueueBranch `json:"branches" doc:"The branches for which results wait."`
}

// QueueBranch is the queue of one branch.
type QueueBranch struct {
	Target  string        `json:"target" doc:"Name of the branch."`
	Window  int           `json:"window" doc:"How many results may be tested at once; it grows with each landing and is halved by each failure."`
	Results []QueueResult `json:"results" doc:"The results, in the order in which they land."`
}

// QueueResult is one result that waits for its landing.
type QueueResult struct {
	Worker string    `json:"worker" doc:"Name of the worker."`
	State  string    `json:"state" doc:"waits, tested (now), passed, failed (one ahead of it may be the cause) or landing."`
	Ahead  []string  `json:"ahead" null:"yes" doc:"Workers whose results the tree of its test holds, beside what has landed."`
	Again  bool      `json:"again" doc:"It failed once, and is tested for the last time when those ahead of it have landed."`
	Since  time.Time `json:"since" doc:"Time at which it entered the queue."`
}
