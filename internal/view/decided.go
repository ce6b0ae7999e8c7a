package view

// Decided is cordon.decided/1.
type Decided struct {
	Head
	Worker  string   `json:"worker" doc:"Name of the worker."`
	Choice  string   `json:"choice" doc:"What was decided, one of the names of choices in a review."`
	Command []string `json:"command" doc:"The command line that does the same."`
	Ended   bool     `json:"ended" doc:"Whether it is done; otherwise it is in the journal and being carried out."`
	Exit    int      `json:"exit" doc:"Exit code of the command, if it is done: 0, or what became of the worker."`
	Status  string   `json:"status,omitempty" doc:"State of the worker then, if the command says it."`
}

// DecideRequest is a decision about a worker. Each route takes what belongs to it.
type DecideRequest struct {
	Seen      string   `json:"seen" doc:"digests.seen of the review that the decision rests on."`
	Inside    bool     `json:"inside,omitempty" doc:"Of a merge: land only the changes inside the lease."`
	WhenClean bool     `json:"when_clean,omitempty" doc:"Of a merge: wait until nothing is in the way in the checkout."`
	Text      string   `json:"text,omitempty" doc:"Of a resume: what the worker is told."`
	Comments  bool     `json:"comments,omitempty" doc:"Of a resume: send the collected comments."`
	Reason    string   `json:"reason,omitempty" doc:"Of a release, which needs it, or a discard: why, for the journal."`
	Roots     []Text   `json:"roots,omitempty" doc:"Of a release: paths that are added to the write_roots."`
	Repeated  []Text   `json:"repeated,omitempty" doc:"Those of roots that are the whole tree, a glob or a protected name, once more."`
	Accepts   []string `json:"accepts,omitempty" doc:"Of a release: options that name a kind of fault, such as --accept-host."`
}

// CommentRequest is a comment on lines of a result.
type CommentRequest struct {
	Path Text   `json:"path" doc:"Path of the file."`
	Side string `json:"side" doc:"Which content is meant: new or old."`
	Blob string `json:"blob" doc:"Object ID of the content that was shown."`
	From int    `json:"from" doc:"Number of the first line, from 1."`
	To   int    `json:"to" doc:"Number of the last line."`
	Text string `json:"text" doc:"The comment."`
}
