package view

// Checkout is cordon.checkout/1.
type Checkout struct {
	Head
	Worker   string     `json:"worker" doc:"Name of the worker."`
	Checkout CheckedOut `json:"checkout" doc:"What was written."`
}

// CheckedOut is a directory or a branch that holds a worker's files.
type CheckedOut struct {
	Dir    string `json:"dir,omitempty" doc:"The new directory."`
	Branch string `json:"branch,omitempty" doc:"The new branch."`
	Commit string `json:"commit,omitempty" doc:"Commit of the new branch."`
	Files  int    `json:"files,omitempty" doc:"Number of files in the directory."`
	Left   []Text `json:"left_out,omitempty" doc:"Repositories and special files that were left out."`
}

// Discard is cordon.discard/1.
type Discard struct {
	Head
	Worker string `json:"worker" doc:"Name of the worker."`
	Status string `json:"status" doc:"State of the worker: discarded."`
}

// GC is cordon.gc/1.
type GC struct {
	Head
	Chores []Chore `json:"chores" doc:"What is removed, and what is kept with the reason."`
	Bytes  int64   `json:"bytes" doc:"Bytes of everything that is removed."`
	Done   bool    `json:"done" doc:"Whether it was removed; false with --dry-run."`
}

// Chore is one thing that gc removes or keeps.
type Chore struct {
	Worker string `json:"worker,omitempty" doc:"Name of the worker that it belongs to."`
	What   string `json:"what" doc:"What it is."`
	Why    string `json:"why" doc:"Why it is removed or kept."`
	Bytes  int64  `json:"bytes" doc:"Its size in bytes."`
	Keep   bool   `json:"keep,omitempty" doc:"Whether it is kept."`
}
