package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cordon/internal/config"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/notify"
	"cordon/internal/state"
)

// bell tells the operator that a worker needs them, once for each state.
type bell struct {
	s      *Session
	ctx    context.Context
	own    config.Loaded
	screen io.Writer
	under  sync.WaitGroup // what is being sent
}

func newBell(ctx context.Context, s *Session, screen io.Writer) *bell {
	own, err := s.Operator()
	if err != nil {
		own = config.Loaded{Config: config.Default()} // the drive fails with the error
	}
	return &bell{s: s, ctx: ctx, own: own, screen: screen}
}

// silent reports whether there is no way to the operator.
func (b *bell) silent() bool {
	n := b.own.Notify
	return !(n.Terminal && b.screen != nil) && !n.Desktop && len(n.Command) == 0 && n.Webhook.URL == ""
}

// asked tells of a question while the worker waits for the answer.
func (b *bell) asked(id lease.ID, _ int) {
	if b.silent() {
		return
	}
	b.under.Go(func() {
		w, err := b.s.Find(string(id))
		if err == nil {
			b.ring(w, asking(w), "asks", "asks a question")
		}
	})
}

// waits tells that a result waits for uncommitted changes, and lands when they are gone.
func (b *bell) waits(w *ledger.Worker) {
	if b.silent() {
		return
	}
	b.under.Go(func() {
		b.ring(w, string(ledger.WaitingFor), string(ledger.WaitingFor), "waits for your uncommitted changes to go")
	})
}

// ended tells what became of a worker, if that needs a person. A failure to find out, or
// to tell, is said and changes nothing.
func (b *bell) ended(id lease.ID, failed error) {
	b.under.Wait()
	if b.silent() || b.ctx.Err() != nil { // whoever interrupts this knows
		return
	}
	w, err := b.s.Find(string(id))
	if err != nil {
		return
	}
	status, err := b.s.Status(b.ctx, w)
	if err != nil {
		return
	}
	about, says := b.need(w, status, failed)
	if says != "" {
		b.ring(w, about, string(status), says)
	}
}

// asking names the state of a worker that asks, by its first question without an answer: further
// questions change nothing for the operator, who has to look anyway.
func asking(w *ledger.Worker) string {
	number := len(w.Questions)
	if open := w.Open(); len(open) > 0 {
		number = open[0].Number
	}
	return fmt.Sprintf("asks q%d", number)
}

// need is what the operator is to be told, in words of cordon's own; nothing: no person
// is needed.
func (b *bell) need(w *ledger.Worker, status ledger.Status, failed error) (about, says string) {
	branch := strings.TrimPrefix(w.Lease.Lease().Target, "refs/heads/")
	switch about = string(status); status {
	case ledger.Asking:
		return asking(w), "asks a question"
	case ledger.Failed:
		return about, "failed"
	case ledger.Conflicted:
		return about, "conflicts with " + branch
	case ledger.WaitingFor:
		return about, "waits for your checkout"
	case ledger.InQuarantine:
		return about, "is quarantined"
	case ledger.MergedIn:
		if w.Then != nil && (w.Then.End == nil || w.Then.End.Code != 0) {
			return "then", "landed on " + branch + ", but land.then failed"
		}
		if b.own.Notify.Merged {
			return about, "landed on " + branch
		}
	case ledger.InReview:
		return about, "waits for your review"
	}
	var person *fault.PersonError
	if errors.As(failed, &person) {
		return "stopped", "needs you"
	}
	return "", ""
}

// errTold ends an append: the operator was told already.
var errTold = errors.New("the operator was told already")

// ring sends a notification that was not sent before. It is recorded first: after a kill
// it is not repeated.
func (b *bell) ring(w *ledger.Worker, about, word, says string) {
	err := b.s.AppendIf(w.ID, ledger.Notified, ledger.Notice{About: about}, func(now *ledger.Ledger) error {
		current, err := now.Find(string(w.ID))
		if err == nil && slices.Contains(current.Notices, about) {
			err = errTold
		}
		return err
	})
	if err != nil {
		return
	}
	at := cmp.Or(b.s.Host.Top, b.s.Host.Dir)
	m := notify.Message{
		Worker: string(w.ID), State: word, Repository: filepath.Base(at),
		Says: says + "; cordon show " + string(w.ID),
	}
	if b.own.Notify.Text {
		m.Agent = agentWords(w, word)
	}
	sender := notify.Sender{Own: b.own, Screen: b.screen, Dir: at, Written: append(state.Written(), at, w.Lease.Lease().Worktree), Now: b.s.Now}
	if err := sender.Send(b.ctx, m); err != nil {
		b.s.Voice.Step(w.ID, "notify", fault.OneLine(err))
	}
}

// agentWords are words of the agent's about a state: its last question, the first reason
// of a quarantine (which names files), or its claim.
func agentWords(w *ledger.Worker, word string) string {
	switch {
	case word == "asks" && len(w.Questions) > 0:
		return w.Questions[len(w.Questions)-1].Text
	case word == string(ledger.InQuarantine) && w.Quarantine != nil && len(w.Quarantine.Reasons) > 0:
		return w.Quarantine.Reasons[0]
	case w.Claim != nil:
		return w.Claim.Text
	}
	return ""
}
