package query

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"cordon/internal/inspect"
	"cordon/internal/view"
)

// Part is a page of something long: Most entries from an entry on, counted from 0.
type Part struct{ From, Most int }

// The sizes of pages.
const (
	PartLines = 1000    // where nobody asks for another number
	MostLines = 10000   // lines or decisions
	mostBytes = 4 << 20 // of lines; one line alone may be longer
)

// end is the entry after the last one.
func (p Part) end() int { return p.From + p.Most }

func (p Part) holds(at int) bool { return p.From <= at && at < p.end() }

// Diff is a page of the changes of a worker.
func (d Desk) Diff(ctx context.Context, id string, part Part) (*view.Lines, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := inspect.Diff(ctx, s.Site, w, &text, false); err != nil {
		return nil, err
	}
	shown := linesOf(text.Bytes(), part)
	shown.Worker, shown.Of = string(w.ID), "diff"
	return shown, nil
}

// Transcript is a page of what a worker printed.
func (d Desk) Transcript(ctx context.Context, id string, part Part) (*view.Lines, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	text, err := transcript(s, w)
	if err != nil {
		return nil, err
	}
	shown := linesOf(text, part)
	shown.Worker, shown.Of = string(w.ID), "transcript"
	return shown, nil
}

// linesOf is a page of a text.
func linesOf(text []byte, part Part) *view.Lines {
	sum := sha256.Sum256(text)
	shown := &view.Lines{Digest: hex.EncodeToString(sum[:]), From: part.From, Lines: []view.Text{}}
	size, full := 0, false
	for line := range bytes.Lines(text) {
		at := shown.Total
		shown.Total++
		if full || !part.holds(at) {
			full = full || at >= part.end()
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if size += len(line); size > mostBytes && len(shown.Lines) > 0 {
			full = true
			continue
		}
		shown.Lines = append(shown.Lines, view.Text(line))
	}
	if next := part.From + len(shown.Lines); next < shown.Total && len(shown.Lines) > 0 {
		shown.Next = next
	}
	return shown
}
