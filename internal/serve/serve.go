// Package serve answers the HTTP interface of cordon on a unix socket: reading, answering
// questions, starting agents whose results wait for a person, and decisions. The routes are
// those of view.Routes, and every object is one that a command prints with --json.
//
// Each request shows a token with the scope of its route. The package refuses requests that
// come from pages in a browser and decisions that do not name what was seen, and it has no
// route that changes a policy. It decides nothing itself: package decide runs the command. It
// listens on no network.
package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cordon/internal/fault"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/order"
	"cordon/internal/policy"
	"cordon/internal/query"
	"cordon/internal/token"
	"cordon/internal/view"
)

// description is docs/openapi.json.
//
//go:embed openapi.json
var description []byte

// Server answers for one repository.
type Server struct {
	Desk    query.Desk
	Orders  order.Counter
	Tokens  token.Store
	Journal func() (*journal.Journal, error)
	Ended   <-chan struct{} // closed when streams are to end

	keys keyed
}

// Bounds of a request.
const (
	mostBody  = 1 << 20
	mostHead  = 64 << 10
	readTime  = 30 * time.Second
	idleTime  = 2 * time.Minute
	keepAlive = time.Second      // and how long a stream outlives its token
	patience  = 10 * time.Second // with answers that have begun, at the end
)

// Serve answers until ctx ends, and returns when the last answer has ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.Ended = ctx.Done()
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: readTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHead,
	}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		done <- errors.Join(server.Shutdown(end), server.Close()) // nobody who reads slowly holds it up
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}

// answer makes the object of a request.
type answer func(r *http.Request, who token.Token) (view.Object, error)

// Handler answers every route.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range view.Routes() {
		mux.HandleFunc(route.Method+" "+route.Path, s.handle(route))
	}
	return guarded(mux)
}

// guarded sets the headers of every answer, and refuses what comes from a page.
func guarded(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
			fail(w, &httpError{http.StatusForbidden, errors.New("this interface is not for pages in a browser")})
			return
		}
		if _, pattern := mux.Handler(r); pattern == "" {
			fail(w, unknownRoute(r))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// unknownRoute says whether the address or the method is wrong.
func unknownRoute(r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, route := range view.Routes() {
			if route.Method == method && matches(route.Path, r.URL.Path) {
				return &httpError{http.StatusMethodNotAllowed, fmt.Errorf("%s does not take %s", r.URL.Path, r.Method)}
			}
		}
	}
	return &httpError{http.StatusNotFound, fmt.Errorf("there is no %s: %s describes what there is", r.URL.Path, view.OpenAPI)}
}

func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// handle answers one route.
func (s *Server) handle(route view.Route) http.HandlerFunc {
	act := s.answers()[route.Method+" "+route.Path]
	return func(w http.ResponseWriter, r *http.Request) {
		if route.Path == view.OpenAPI {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(description) // whoever asked is gone
			return
		}
		who, err := s.authorised(r, route.Scope)
		switch {
		case err != nil:
			fail(w, err)
			return
		case route.Stream:
			s.events(w, r, route.Scope)
			return
		}
		o, err := act(r, who)
		if err != nil {
			fail(w, err)
			return
		}
		status := route.Status
		if d, ok := o.(*view.Decided); ok && !d.Ended {
			status = http.StatusAccepted
		}
		write(w, status, o)
	}
}

// answers are those of each route that has an object.
func (s *Server) answers() map[string]answer {
	return map[string]answer{
		"GET /v1/workers": func(r *http.Request, _ token.Token) (view.Object, error) { return s.Desk.Workers(r.Context()) },
		"GET /v1/workers/{id}": func(r *http.Request, _ token.Token) (view.Object, error) {
			return s.Desk.Worker(r.Context(), r.PathValue("id"))
		},
		"GET /v1/workers/{id}/audit": func(r *http.Request, _ token.Token) (view.Object, error) {
			return s.Desk.Audit(r.Context(), r.PathValue("id"))
		},
		"GET /v1/workers/{id}/review": func(r *http.Request, _ token.Token) (view.Object, error) {
			return s.Desk.Review(r.Context(), r.PathValue("id"))
		},
		"GET /v1/workers/{id}/comments": func(r *http.Request, _ token.Token) (view.Object, error) {
			return s.Desk.Comments(r.Context(), r.PathValue("id"))
		},
		"POST /v1/workers/{id}/comments":  s.comment,
		"POST /v1/workers/{id}/merge":     s.decides(merging),
		"POST /v1/workers/{id}/release":   s.decides(chosen(view.ChooseRelease)),
		"POST /v1/workers/{id}/discard":   s.decides(chosen(view.ChooseDiscard)),
		"POST /v1/workers/{id}/resume":    s.decides(chosen(view.ChooseResume)),
		"POST /v1/workers/{id}/retry":     s.decides(chosen(view.ChooseRetry)),
		"POST /v1/workers/{id}/stop":      s.decides(chosen(view.ChooseStop)),
		"GET /v1/workers/{id}/diff":       paged(s.Desk.Diff),
		"GET /v1/workers/{id}/transcript": paged(s.Desk.Transcript),
		"GET /v1/workers/{id}/guard":      paged(s.Desk.Guard),
		"GET /v1/workers/{id}/net":        paged(s.Desk.Net),
		"GET /v1/inbox":                   func(r *http.Request, _ token.Token) (view.Object, error) { return s.Desk.Inbox(r.Context()) },
		"GET /v1/queue":                   func(r *http.Request, _ token.Token) (view.Object, error) { return s.Desk.Queue(r.Context()) },
		"GET /v1/plans":                   func(r *http.Request, _ token.Token) (view.Object, error) { return s.Desk.Plans(r.Context()) },
		"GET /v1/plans/{name}": func(r *http.Request, _ token.Token) (view.Object, error) {
			return s.Desk.Plan(r.Context(), r.PathValue("name"))
		},
		"POST /v1/workers": func(r *http.Request, _ token.Token) (view.Object, error) {
			var body view.DispatchRequest
			if err := read(r, &body); err != nil {
				return nil, err
			}
			return s.Orders.Dispatch(r.Context(), body)
		},
		"POST /v1/workers/{id}/answer": func(r *http.Request, who token.Token) (view.Object, error) {
			var body view.AnswerRequest
			if err := read(r, &body); err != nil {
				return nil, err
			}
			return s.Orders.Answer(r.Context(), r.PathValue("id"), body, "api:"+who.Name)
		},
	}
}

// paged answers with a part of something long.
func paged[T view.Object](ask func(context.Context, string, query.Part) (T, error)) answer {
	return func(r *http.Request, _ token.Token) (view.Object, error) {
		from, err := number(r.URL.Query().Get("from"), "from", 0, 1<<40)
		if err != nil {
			return nil, err
		}
		most, err := number(r.URL.Query().Get("n"), "n", query.PartLines, query.MostLines)
		if err != nil {
			return nil, err
		}
		if most == 0 {
			return nil, bad("n is at least 1")
		}
		return ask(r.Context(), r.PathValue("id"), query.Part{From: int(from), Most: int(most)})
	}
}

// number reads a number of the query.
func number(text, name string, otherwise, most uint64) (uint64, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		return 0, bad("%s is a number from 0 to %d, and not %q", name, most, text)
	}
	return n, nil
}

// authorised finds the token of a request, and wants it to have a scope.
func (s *Server) authorised(r *http.Request, scope string) (token.Token, error) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return token.Token{}, &httpError{http.StatusUnauthorized, errors.New("a request needs a token (Authorization: Bearer …): cordon token new makes one")}
	}
	t, known, err := s.Tokens.Find(secret)
	switch {
	case err != nil:
		return t, err
	case !known:
		return t, &httpError{http.StatusUnauthorized, errors.New("the token is not known: cordon token ls lists those that are")}
	case !t.May(scope):
		return t, &httpError{http.StatusForbidden, fmt.Errorf("the token %s has the scopes %s, and this needs %s", t.Name, strings.Join(t.Scopes, ", "), scope)}
	}
	return t, nil
}

// read reads the body of a request strictly.
func read(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &httpError{http.StatusUnsupportedMediaType, errors.New("the body is to be application/json")}
	}
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, mostBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if long := (*http.MaxBytesError)(nil); errors.As(err, &long) {
		return &httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("a body has at most %d bytes", long.Limit)}
	}
	if err != nil {
		return bad("the body is not what is asked for: %v", err)
	}
	if dec.More() {
		return bad("the body is more than one object")
	}
	return nil
}

// httpError is an error with its status.
type httpError struct {
	status int
	error
}

func (e *httpError) Unwrap() error { return e.error }

func bad(format string, args ...any) error {
	return &httpError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// The exit codes of the commands, for the field exit.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
	exitPerson  = 5
)

// meaning is the status of an error, and the exit code that a command would have.
func meaning(err error) (status, exit int) {
	var own *httpError
	var name ledger.NameError
	var stale *order.StaleError
	var moved *fault.StaleError
	var mistake *fault.MistakeError
	var missing *query.MissingError
	var refused *fault.RefusedError
	var person *fault.PersonError
	var rule *policy.Error
	switch {
	case errors.As(err, &own) && own.status >= http.StatusInternalServerError:
		return own.status, exitFailed
	case errors.As(err, &own):
		return own.status, exitUsage
	case errors.As(err, &name), errors.As(err, &missing):
		return http.StatusNotFound, exitUsage
	case errors.As(err, &stale), errors.As(err, &moved), errors.As(err, &person):
		return http.StatusConflict, exitPerson
	case errors.As(err, &refused), errors.As(err, &rule):
		return http.StatusUnprocessableEntity, exitRefused
	case errors.As(err, &mistake):
		return http.StatusBadRequest, exitUsage
	case errors.Is(err, journal.ErrReplaced):
		return http.StatusGone, exitFailed
	}
	return http.StatusInternalServerError, exitFailed
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	status, exit := meaning(err)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	o := &view.Error{Error: err.Error(), Exit: exit}
	if moved, ok := errors.AsType[*fault.StaleError](err); ok {
		o.Stale = moved.Moved
	}
	write(w, status, o)
}

// write answers with an object.
func write(w http.ResponseWriter, status int, o view.Object) {
	text, err := view.Encode(o)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(legible.JSON(text)) // whoever asked is gone
}
