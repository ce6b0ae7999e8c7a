package desk

import "cordon/internal/view"

// Result is what a worker left, beside its review.
type Result struct {
	Files      []File
	Left       int    // lines of the patch that are too many
	NoPatch    string // why there is no patch, or not all of it
	Transcript string // its end
	Earlier    bool   // the transcript has more before that
	Events     []view.Event
	Comments   []view.Comment
	Seen       []string // contents that were marked as seen
}
