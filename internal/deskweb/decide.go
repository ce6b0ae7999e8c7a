package deskweb

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"cordon/internal/legible"
)

// Decision is what the page sends when its reader has decided: about one worker, as it was shown.
type Decision struct {
	Worker   string   `json:"worker"`
	Choice   string   `json:"choice"`
	Seen     string   `json:"seen"`
	Question string   `json:"question,omitempty"`
	Text     string   `json:"text,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Roots    []string `json:"roots,omitempty"`
	Repeated []string `json:"repeated,omitempty"`
	Accepts  []string `json:"accepts,omitempty"`
	Comments bool     `json:"comments,omitempty"` // send the collected comments
}

// Decider carries out decisions. A source that is none only shows.
type Decider interface {
	// Preview is the command line that decides the same.
	Preview(Decision) (string, error)
	// Decide carries a decision out, and says what came of it in a sentence.
	Decide(context.Context, Decision) (string, error)
}

// RefusalError is why a decision was not carried out, with the status of the answer.
type RefusalError struct {
	Code  int
	Text  string
	Moved []string // what has changed since the reader looked
}

func (e *RefusalError) Error() string { return e.Text }

// reply is what the page is told about a decision.
type reply struct {
	Command string   `json:"command,omitempty"`
	Done    string   `json:"done,omitempty"`
	Error   string   `json:"error,omitempty"`
	Moved   []string `json:"moved,omitempty"`
}

// decide takes a decision of the page, or says which command it is.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	by, can := s.source.(Decider)
	if !can {
		refuse(w, http.StatusNotFound)
		return
	}
	var d Decision
	if !readBody(w, r, &d) {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a landing takes its time
	var to reply
	var err error
	if r.URL.Path == "/preview" {
		to.Command, err = by.Preview(d)
	} else {
		to.Done, err = by.Decide(r.Context(), d)
	}
	tell(w, to, err)
}

// readBody reads the object that a request carries, and refuses everything else.
func readBody(w http.ResponseWriter, r *http.Request, to any) bool {
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	if err := body.Decode(to); err != nil || body.More() {
		refuse(w, http.StatusBadRequest)
		return false
	}
	return true
}

// tell answers the page.
func tell(w http.ResponseWriter, to reply, err error) {
	code := http.StatusOK
	if err != nil {
		code, to = refused(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(to) // the page may be gone; what it asked for is kept
}

// refused is what the page is told of an error.
func refused(err error) (int, reply) {
	to := reply{Error: legible.Line(err.Error())}
	if r, ok := errors.AsType[*RefusalError](err); ok {
		for _, m := range r.Moved {
			to.Moved = append(to.Moved, legible.Line(m))
		}
		return r.Code, to
	}
	return http.StatusInternalServerError, to
}
