package deskweb

import (
	"context"
	"net/http"
)

// What the page can do with a note.
const (
	NoteComment = "comment" // keep a comment on lines of a content
	NoteRemove  = "remove"  // take a comment back
	NoteSeen    = "seen"    // the reader has seen a content
	NoteUnseen  = "unseen"
)

// Note is what the page sends when its reader notes something about a result. It decides nothing.
type Note struct {
	Do      string `json:"do"`
	Worker  string `json:"worker"`
	Path    []byte `json:"path,omitempty"` // as it is, since a path need not be text
	Side    string `json:"side,omitempty"`
	Blob    string `json:"blob,omitempty"` // the content that was shown
	From    int    `json:"from,omitempty"`
	To      int    `json:"to,omitempty"`
	Text    string `json:"text,omitempty"`
	Comment string `json:"comment,omitempty"` // the name of the one that is taken back
}

// Noter keeps notes. A source that is none only shows.
type Noter interface {
	// Note keeps a note, and says so in a sentence.
	Note(context.Context, Note) (string, error)
}

// note takes a note of the page.
func (s *Server) note(w http.ResponseWriter, r *http.Request) {
	by, can := s.source.(Noter)
	var n Note
	if !can {
		refuse(w, http.StatusNotFound)
		return
	}
	if !readBody(w, r, &n) {
		return
	}
	done, err := by.Note(r.Context(), n)
	tell(w, reply{Done: done}, err)
}
