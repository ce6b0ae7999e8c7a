package serve

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"cordon/internal/fault"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/order"
	"cordon/internal/query"
	"cordon/internal/view"
)

// Every route has an answer, and every answer a route.
func TestEveryRouteIsAnswered(t *testing.T) {
	answers := (&Server{}).answers()
	for _, r := range view.Routes() {
		key := r.Method + " " + r.Path
		if answers[key] == nil && !r.Stream && r.Path != view.OpenAPI {
			t.Errorf("nothing answers %s", key)
		}
		if r.Scope == "" && r.Path != view.OpenAPI {
			t.Errorf("%s needs no token", key)
		}
		if r.Method != http.MethodGet && r.Scope == view.MayRead {
			t.Errorf("a token that may only read is enough for %s", key)
		}
		delete(answers, key)
	}
	for key := range answers {
		t.Errorf("%s is no route", key)
	}
}

// Each kind of error has its status.
func TestMeaning(t *testing.T) {
	plain := errors.New("x")
	for _, c := range []struct {
		err          error
		status, exit int
	}{
		{plain, 500, 1},
		{fmt.Errorf("x: %w", ledger.NameError("y")), 404, 2},
		{&query.MissingError{Err: plain}, 404, 2},
		{&order.StaleError{Err: plain}, 409, 5},
		{&fault.PersonError{Err: plain}, 409, 5},
		{&fault.RefusedError{Err: plain}, 422, 3},
		{&fault.MistakeError{Err: plain}, 400, 2},
		{journal.ErrReplaced, 410, 1},
		{bad("x"), 400, 2},
	} {
		if status, exit := meaning(c.err); status != c.status || exit != c.exit {
			t.Errorf("%T is %d with exit %d", c.err, status, exit)
		}
	}
}
