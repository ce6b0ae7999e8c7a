package deskweb

import (
	"io"
	"net/http"
	"time"
)

// beat is how often a stream says that it lives; ages on the screens are brought up to date with it.
const beat = 15 * time.Second

// events tells a page when to look again. The page asks for the screen that it shows: what has
// changed is said in one place only.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		refuse(w, http.StatusTooManyRequests)
		return
	}
	changes, err := s.source.Changes(r.Context())
	if err != nil {
		refuse(w, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	out.SetReadDeadline(time.Time{}) // nothing more is read, and the stream stays
	say := func(text string) bool {
		_, err := io.WriteString(w, text)
		return err == nil && out.Flush() == nil
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for live := say("event: open\ndata: {}\n\n"); live; {
		select {
		case <-s.ctx.Done():
			return
		case <-r.Context().Done():
			return
		case _, more := <-changes:
			if !more {
				return
			}
			live = say("event: change\ndata: {}\n\n")
		case <-ticker.C:
			live = say("event: beat\ndata: {}\n\n")
		}
	}
}
