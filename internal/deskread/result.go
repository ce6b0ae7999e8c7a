package deskread

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"cordon/internal/desk"
	"cordon/internal/inspect"
	"cordon/internal/ledger"
	"cordon/internal/remark"
	"cordon/internal/session"
	"cordon/internal/view"
)

// ResultOf reads what a worker left. The changes are those of its review.
func ResultOf(ctx context.Context, s *session.Session, w *ledger.Worker, changes []view.Change) (r desk.Result, err error) {
	patch(ctx, s, w, changes, &r)
	if r.Transcript, r.Earlier, err = transcript(s, w); err != nil {
		return r, err
	}
	notes, err := remark.List(ctx, s.Site, w)
	if err != nil {
		return r, err
	}
	r.Comments, r.Seen = notes.Comments, notes.Seen
	events, err := s.Events()
	for _, e := range events {
		if e.Worker == string(w.ID) {
			r.Events = append(r.Events, view.Event(e))
		}
	}
	return r, err
}

// maxPatch is how much of a patch is read.
const maxPatch = 20 << 20

// errEnough ends a patch that is too long for a screen.
var errEnough = errors.New("the patch is longer than a screen shows")

// bounded keeps the beginning.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxPatch {
		return 0, errEnough
	}
	return b.Buffer.Write(p)
}

// patch reads what a worker changed.
func patch(ctx context.Context, s *session.Session, w *ledger.Worker, changes []view.Change, r *desk.Result) {
	if w.Tree == nil {
		r.NoPatch = "There is no worktree yet."
		return
	}
	var text bounded
	err := inspect.Diff(ctx, s.Site, w, &text, false)
	switch {
	case text.Len() > 0 && err != nil:
		r.NoPatch = "Only the beginning is here; cordon diff " + string(w.ID) + " prints everything."
	case err != nil:
		r.NoPatch = err.Error()
	}
	found := make([]view.Finding, 0, len(changes))
	for _, c := range changes {
		found = append(found, c.Finding)
	}
	r.Files, r.Left = desk.Files(text.String(), found)
	if len(r.Files) == 0 && r.NoPatch == "" {
		r.NoPatch = "It changed nothing in its tree."
	}
}

// maxTranscript is how much of the end of a transcript a screen has.
const maxTranscript = 64 << 10

func transcript(s *session.Session, w *ledger.Worker) (text string, earlier bool, err error) {
	file, err := s.Transcript(w)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return "", false, err
	}
	from := max(0, fi.Size()-maxTranscript)
	b, err := io.ReadAll(io.NewSectionReader(file, from, maxTranscript))
	if from > 0 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return uncoloured(string(b)), from > 0, err
}

// uncoloured leaves out the sequences that only choose colours. Every other one is shown.
func uncoloured(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.TrimLeft(after, "0123456789;")
		if strings.HasPrefix(end, "m") {
			s = end[1:]
			continue
		}
		b.WriteString("\x1b[")
		s = after
	}
}
