package serve

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"cordon/internal/journal"
	"cordon/internal/legible"
	"cordon/internal/view"
)

// events sends the events of the journal as they come, each with its number and hash as its id: after a repair, another
// event may have that number. It ends when the token does, when the server does, and when the journal is replaced.
func (s *Server) events(w http.ResponseWriter, r *http.Request, scope string) {
	after, err := afterOf(r)
	if err != nil {
		fail(w, err)
		return
	}
	log, err := s.Journal()
	if err != nil {
		fail(w, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	follower := log.Follow(ctx, after)
	first, err := follower.More() // before the answer begins, so that an error has a status
	if err != nil {
		fail(w, err)
		return
	}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if err := errors.Join(out.SetReadDeadline(time.Time{}), soon(out), send(w, first), out.Flush()); err != nil {
		return
	}
	more := make(chan batch)
	go follow(ctx, follower, more)
	beat := time.NewTicker(keepAlive)
	defer beat.Stop()
	for {
		var b batch
		select {
		case <-s.Ended:
			return
		case <-ctx.Done():
			return
		case <-beat.C:
		case b = <-more:
		}
		if _, denied := s.authorised(r, scope); denied != nil {
			b = batch{err: denied}
		}
		if err := errors.Join(soon(out), b.write(w), out.Flush(), b.err); err != nil {
			return
		}
	}
}

// soon gives up on a reader who does not read.
func soon(out *http.ResponseController) error { return out.SetWriteDeadline(time.Now().Add(readTime)) }

// afterOf names the event after which a stream begins, by its id or by its number alone. A browser that connects
// again names the last one in a header.
func afterOf(r *http.Request) (journal.Mark, error) {
	name, id := "after", r.URL.Query().Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		name, id = "Last-Event-ID", last
	}
	seq, hash, both := strings.Cut(id, ".")
	n, err := number(seq, name, 0, math.MaxInt64)
	if _, herr := hex.DecodeString(hash); err == nil && both && (herr != nil || len(hash) != 64) {
		err = bad("%s is the id of an event, and not %q", name, id)
	}
	return journal.Mark{Seq: n, Hash: hash}, err
}

// batch is what came at once.
type batch struct {
	events []journal.Event
	err    error
}

// write writes it: a comment where there is nothing else, so that a connection that is gone
// is noticed.
func (b batch) write(w io.Writer) error {
	switch {
	case b.err != nil:
		return sendError(w, b.err)
	case len(b.events) == 0:
		_, err := io.WriteString(w, ": the connection lives\n\n")
		return err
	}
	return send(w, b.events)
}

// follow hands over what comes, until an error or the end.
func follow(ctx context.Context, f *journal.Follower, to chan<- batch) {
	for {
		events, err := f.Next()
		select {
		case to <- batch{events, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// send writes events. None of them holds a line end: JSON has them as escapes.
func send(w io.Writer, events []journal.Event) error {
	for _, e := range events {
		text, err := oneLine(&view.OneEvent{Event: view.Event(e)})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "id: %d.%s\ndata: %s\n\n", e.Seq, e.Hash, text); err != nil {
			return err
		}
	}
	return nil
}

// sendError says why a stream ends.
func sendError(w io.Writer, cause error) error {
	_, exit := meaning(cause)
	text, err := oneLine(&view.Error{Error: cause.Error(), Exit: exit})
	if err == nil {
		_, err = fmt.Fprintf(w, "event: error\ndata: %s\n\n", text)
	}
	return err
}

// oneLine is an object without line ends.
func oneLine(o view.Object) ([]byte, error) {
	text, err := view.Encode(o)
	if err != nil {
		return nil, err
	}
	var one bytes.Buffer
	err = json.Compact(&one, legible.JSON(text))
	return one.Bytes(), err
}
