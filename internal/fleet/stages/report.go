package stages

import (
	"errors"
	"io"

	"cordon/internal/backoff"
	"cordon/internal/fleet/protocol"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/worksite"
)

// printed is how much a stage has printed that is in the transcript of its worker.
type printed struct {
	fence uint64
	next  int64
}

// Heed takes a report of the node that has a stage: what it prints goes into the transcript of the worker, and what
// its worker asks and which rate limits it meets into the journal, as if the command ran here. It returns the offset of the next piece, and the answers
// that the operator has given.
func (j *Journal) Heed(r protocol.Report) (next int64, answers []string, err error) {
	j.heeding.Lock() // a question is recorded once
	defer j.heeding.Unlock()
	w, err := j.Site.Find(r.Lease)
	switch {
	case err != nil:
		return 0, nil, err
	case w.Away == nil || w.Away.Fence != r.Fence:
		return 0, nil, errors.New("the stage is in other hands")
	}
	if next, err = j.print(w, r); err != nil {
		return 0, nil, err
	}
	known := asked(w, r.Fence)
	for _, q := range r.Questions[min(len(known), len(r.Questions)):] {
		if err := j.Site.Append(w.ID, ledger.Asked, question(q)); err != nil {
			return 0, nil, err
		}
	}
	if err := j.backOff(w, r); err != nil {
		return 0, nil, err
	}
	for _, q := range known {
		answer := ""
		if q.Answer != nil {
			answer = q.Answer.Text
		}
		answers = append(answers, answer)
	}
	return next, answers, nil
}

// backOff keeps the rate limits of a report that are new. The provider is that of the worker's lease, so that a node speaks
// only of providers whose stages it has.
func (j *Journal) backOff(w *ledger.Worker, r protocol.Report) error {
	known := len(w.RateLimitsSince(r.Fence))
	if w.Agent == nil {
		return nil
	}
	for _, text := range r.Limits[min(known, len(r.Limits)):] {
		text = legible.PlainLine(text)
		after, _ := backoff.Limited(text) // the node's cordon has taken it for a limit
		if err := j.Site.Append(w.ID, ledger.RateLimited, ledger.RateLimit{Text: text}); err != nil {
			return err
		}
		if _, err := j.Site.BackOffs().Note(w.Agent.Provider(), text, after, j.Site.Now()); err != nil {
			return err
		}
	}
	return nil
}

// asked are the questions that a worker has asked from a node.
func asked(w *ledger.Worker, fence uint64) (list []ledger.Inquiry) {
	for _, q := range w.Questions {
		if q.Seq > fence {
			list = append(list, q)
		}
	}
	return list
}

func question(q protocol.Question) ledger.Question {
	clean := ledger.Question{Text: legible.Plain(q.Text)}
	for _, o := range q.Options {
		clean.Options = append(clean.Options, legible.PlainLine(o))
	}
	return clean
}

// print appends a piece to the transcript of a worker. A home that was started anew goes on where the node is.
func (j *Journal) print(w *ledger.Worker, r protocol.Report) (next int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.screenOf(w) // for what is printed now
	if j.printed == nil {
		j.printed = map[string]printed{}
	}
	at, known := j.printed[r.Lease]
	if !known || at.fence != r.Fence {
		at = printed{r.Fence, r.Offset}
	}
	if at.next != r.Offset || len(r.Piece) == 0 {
		j.printed[r.Lease] = at
		return at.next, nil
	}
	f, err := j.Site.AppendTranscript(w.ID)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if room := worksite.TranscriptRoom - size; room > 0 {
		if _, err := f.Write(r.Piece[:min(int64(len(r.Piece)), room)]); err != nil {
			return 0, err
		}
	}
	if s := j.screens[r.Lease]; s != nil {
		_, _ = s.shows.Write(r.Piece) // it never fails
	}
	at.next += int64(len(r.Piece))
	j.printed[r.Lease] = at
	return at.next, nil
}
