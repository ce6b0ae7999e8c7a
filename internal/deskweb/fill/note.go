package fill

import (
	"context"
	"fmt"

	"cordon/internal/deskweb"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/remark"
)

// Note keeps a note about a worker's result, where cordon comments and the desk in the terminal keep theirs.
func (f *Source) Note(ctx context.Context, n deskweb.Note) (string, error) {
	if err := f.writable(); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.s.Find(n.Worker)
	if err == nil && string(w.ID) != n.Worker {
		err = &fault.MistakeError{Err: fmt.Errorf("%q is not the whole name of a worker", n.Worker)}
	}
	done := ""
	if err == nil {
		done, err = f.note(ctx, w, n)
	}
	if err != nil {
		return "", refusal(err)
	}
	return done, nil
}

func (f *Source) note(ctx context.Context, w *ledger.Worker, n deskweb.Note) (string, error) {
	switch n.Do {
	case deskweb.NoteComment:
		if n.Blob == "" {
			return "", &fault.MistakeError{Err: fmt.Errorf("there is no content on that side that a comment could be about")}
		}
		on := remark.On{Path: string(n.Path), Side: n.Side, From: n.From, To: n.To, Blob: n.Blob}
		c, err := remark.Add(ctx, f.s.Site, w, on, n.Text, f.who+" via "+face)
		return fmt.Sprintf("The comment on %s is kept. It is not sent yet.", remark.Place(c)), err
	case deskweb.NoteRemove:
		return "The comment is removed.", remark.Remove(f.s.Site, w, n.Comment)
	case deskweb.NoteSeen:
		return "Marked as seen, until the file changes.", remark.MarkSeen(f.s.Site, w, n.Blob, true)
	case deskweb.NoteUnseen:
		return "Not marked as seen any more.", remark.MarkSeen(f.s.Site, w, n.Blob, false)
	}
	return "", &fault.MistakeError{Err: fmt.Errorf("%q is nothing that a page can note", n.Do)}
}
