// Package order does the two things that others than the operator's terminal may ask of
// cordon beside reading: answer a question, and start an agent whose result waits for a
// person.
//
// It refuses everything else. It takes no flag and no policy, and nothing here merges,
// releases, discards or widens: a dispatch begins with the policy of the repository and
// ends in review, whatever that policy says about landing.
package order

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/agent/clients"
	"cordon/internal/background"
	"cordon/internal/client"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/query"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Counter takes orders for one repository.
type Counter struct {
	Open func(context.Context) (*session.Session, error)
	Dir  string // of the repository
	Who  string // the operator, for the journal
	// MaxWrite are the most that workers may write; nothing: what their policy says.
	MaxWrite []string
}

// mostPrompt is how long a prompt may be: an argument of a program has at most 128 KiB.
const mostPrompt = 100 << 10

// StaleError says that there is no such open question any more.
type StaleError struct{ Err error }

func (e *StaleError) Error() string { return e.Err.Error() }

func (e *StaleError) Unwrap() error { return e.Err }

// Answer records an answer to an open question. via says through what it came.
func (c Counter) Answer(ctx context.Context, id string, r view.AnswerRequest, via string) (*view.Answer, error) {
	if strings.TrimSpace(r.Text) == "" {
		return nil, mistake("an answer needs a text")
	}
	s, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	w, err := query.Find(s, id)
	if err != nil {
		return nil, err
	}
	q, err := asked(w, r.Question)
	if err != nil {
		return nil, err
	}
	waits := mailbox.WaitsFor(s.Site, w, q.Number)
	if err := mailbox.Answer(ctx, s.Site, w, q.Number, r.Text, c.Who+" via "+via); err != nil {
		return nil, err
	}
	return &view.Answer{Worker: string(w.ID), Question: q.ID(), Answer: r.Text, Waits: string(waits)}, nil
}

// asked finds the open question that is meant.
func asked(w *ledger.Worker, name string) (ledger.Inquiry, error) {
	if name != "" {
		if _, ok := mailbox.ParseQuestion(name); !ok {
			return ledger.Inquiry{}, mistake("%q is no name of a question", name)
		}
		q, _, err := mailbox.Named(w, []string{name})
		if err == nil && q.Answer != nil {
			err = fmt.Errorf("question %s of %s has already been answered by %s", q.ID(), w.ID, q.Answer.Who)
		}
		return q, stale(err)
	}
	q, _, err := mailbox.Named(w, nil)
	return q, stale(err)
}

func stale(err error) error {
	if err == nil {
		return nil
	}
	return &StaleError{err}
}

func mistake(format string, args ...any) error {
	return &fault.MistakeError{Err: fmt.Errorf(format, args...)}
}

// Dispatch starts an agent client in the background. The name of the client is one that
// cordon knows, so that it cannot be a flag, and the prompt stands behind --.
func (c Counter) Dispatch(ctx context.Context, r view.DispatchRequest) (*view.Detached, error) {
	switch _, err := clients.Of(client.Name(r.Client)); {
	case err != nil:
		return nil, mistake("%v", err)
	case strings.TrimSpace(r.Prompt) == "":
		return nil, mistake("a dispatch needs a prompt")
	case strings.ContainsRune(r.Prompt, 0):
		return nil, mistake("a prompt has no zero bytes")
	case len(r.Prompt) > mostPrompt:
		return nil, mistake("a prompt has at most %d bytes", mostPrompt)
	}
	started, err := background.Run(ctx, c.arguments(r))
	if err != nil {
		return nil, err
	}
	if started.Name == "" {
		return nil, fault.Refuse("%s", strings.TrimSpace(strings.TrimPrefix(started.Said, "cordon: ")))
	}
	return &view.Detached{Worker: started.Name, Process: started.PID}, nil
}

// arguments are those of the cordon that runs the worker.
func (c Counter) arguments(r view.DispatchRequest) []string {
	words := []string{"-C", c.Dir, "run", "--review", "--detach"}
	for _, root := range c.MaxWrite {
		words = append(words, "--max-write="+root)
	}
	return append(words, r.Client, "--", r.Prompt)
}
