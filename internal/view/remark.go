package view

import "time"

// Comments is cordon.comments/1.
type Comments struct {
	Head
	Worker   string    `json:"worker" doc:"Name of the worker."`
	Comments []Comment `json:"comments" doc:"The comments on its result, oldest first."`
	Seen     []string  `json:"seen" doc:"Object IDs of the file contents that you marked as seen."`
}

// The sides of a change.
const (
	SideNew = "new"
	SideOld = "old"
)

// Comment is a comment on lines of a worker's result.
type Comment struct {
	ID       string     `json:"id" doc:"Name of the comment, such as c1."`
	Path     Text       `json:"path" doc:"Path of the file from the top of the worktree."`
	Side     string     `json:"side" doc:"Which content is meant: new (what the worker left) or old (what was there before)."`
	Blob     string     `json:"blob" doc:"Object ID of that content. The lines are lines of this content and of no other."`
	From     int        `json:"from" doc:"Number of the first line, from 1."`
	To       int        `json:"to" doc:"Number of the last line."`
	Quote    []Text     `json:"quote" doc:"These lines."`
	Text     string     `json:"text" doc:"The comment."`
	Who      string     `json:"who" doc:"Who wrote it, and through what."`
	Created  time.Time  `json:"created" doc:"Time at which it was written."`
	Sent     *time.Time `json:"sent,omitempty" doc:"Time at which it was sent to the worker; absent if it was not."`
	Outdated bool       `json:"outdated" doc:"Whether the file has other content by now, so that the lines are of an earlier one."`
}
