// Package query answers questions about a repository with the objects of package view: the
// same ones that ls, show, inbox and plan print with --json. The HTTP server and the MCP
// server ask it.
//
// It refuses to change anything. What is asked of cordon beyond reading is in package order.
package query

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"cordon/internal/conduct"
	"cordon/internal/egress/record"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/queue/line"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Desk is a repository that is asked about. Each question opens it anew, so that several
// may be asked at once.
type Desk struct {
	Open func(context.Context) (*session.Session, error)
}

// MissingError says that there is no such thing, at least now.
type MissingError struct{ Err error }

func (e *MissingError) Error() string { return e.Err.Error() }

func (e *MissingError) Unwrap() error { return e.Err }

// Workers lists the workers, as cordon ls --json does.
func (d Desk) Workers(ctx context.Context) (*view.Workers, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := present.Workers(ctx, s, present.Listing{Sizes: true})
	return &view.Workers{Workers: list}, err
}

// find opens the repository and finds a worker by its whole name: whoever asks from a
// program has it, and a beginning may soon mean another worker.
func (d Desk) find(ctx context.Context, id string) (*session.Session, *ledger.Worker, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := Find(s, id)
	return s, w, err
}

// Find finds a worker by its whole name.
func Find(s *session.Session, id string) (*ledger.Worker, error) {
	w, err := s.Find(id)
	if err == nil && string(w.ID) != id {
		err = ledger.NameError(fmt.Sprintf("no worker is called %q", id))
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Worker is one worker, as cordon show --json prints it.
func (d Desk) Worker(ctx context.Context, id string) (*view.OneWorker, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	standings, err := s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return nil, err
	}
	return &view.OneWorker{Worker: present.WorkerView(s, w, standings[w.ID])}, nil
}

// Audit is the recorded audit of a worker.
func (d Desk) Audit(ctx context.Context, id string) (*view.Audit, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if w.Audit == nil {
		return nil, &MissingError{fmt.Errorf("%s was not audited yet", w.ID)}
	}
	r, err := s.Report(w)
	if err != nil {
		return nil, err
	}
	return present.ReportView(r), nil
}

// Guard are decisions of a worker's guard, with the totals of all of them.
func (d Desk) Guard(ctx context.Context, id string, part Part) (*view.Decisions, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	shown := &view.Decisions{Worker: string(w.ID), Decisions: []view.Decision{}}
	at := 0
	t, err := s.Decisions(w, func(r guard.Record) {
		if part.holds(at) {
			shown.Decisions = append(shown.Decisions, present.DecisionView(r))
		}
		at++
	})
	if err != nil {
		return nil, err
	}
	shown.Tally = *present.GuardView(&t)
	return shown, nil
}

// Net are the connections that a worker tried, with the totals of all of them.
func (d Desk) Net(ctx context.Context, id string, part Part) (*view.Network, error) {
	s, w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	shown := &view.Network{Worker: string(w.ID), Decisions: []view.Attempt{}}
	at := 0
	t, err := s.Reached(w, func(r record.Record) {
		if part.holds(at) {
			shown.Decisions = append(shown.Decisions, present.AttemptView(r))
		}
		at++
	})
	if err != nil {
		return nil, err
	}
	shown.Tally = *present.TallyView(&t)
	return shown, nil
}

// Inbox is what waits for a person.
func (d Desk) Inbox(ctx context.Context) (*view.Inbox, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := mailbox.Inbox(ctx, s.Site)
	if err != nil {
		return nil, err
	}
	stages, err := conduct.Attention(ctx, s.Site)
	return &view.Inbox{Questions: present.Each(list, page.InquiryView), Stages: present.Each(stages, present.AttentionView)}, err
}

// Queue are the results that wait for their landing.
func (d Desk) Queue(ctx context.Context) (*view.Queue, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := line.All(s.State)
	return present.QueueView(lines), err
}

// Plans lists the plans that were run, the newest first.
func (d Desk) Plans(ctx context.Context) (*view.Plans, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	all, err := conduct.Reports(ctx, s.Site, func(*ledger.PlanRun) bool { return true })
	if err != nil {
		return nil, err
	}
	shown := &view.Plans{Plans: []view.PlanSummary{}}
	for _, report := range slices.Backward(all) {
		shown.Plans = append(shown.Plans, present.PlanSummaryView(report, s.State.Held(conduct.LockName(report.Run.Plan))))
	}
	return shown, nil
}

// Plan is one plan.
func (d Desk) Plan(ctx context.Context, name string) (*view.Plan, error) {
	s, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	now, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	if now.Plan(name) == nil {
		return nil, &MissingError{fmt.Errorf("there is no plan %q", name)}
	}
	report, err := conduct.Look(ctx, s.Site, name)
	if err != nil {
		return nil, err
	}
	return present.PlanView(report, s.State.Held(conduct.LockName(name))), nil
}

// transcript is the text of what a worker printed, as cordon logs shows it.
func transcript(s *session.Session, w *ledger.Worker) ([]byte, error) {
	shown := &view.Transcript{}
	kept := page.Printed{Open: s.Transcript, Marks: s.Marks, Object: shown}
	err := page.Page{Out: io.Discard, Err: io.Discard, JSON: true}.Whole(w, kept, "")
	if os.IsNotExist(err) {
		err = nil
	}
	if shown.Base64 != nil {
		return shown.Base64, err
	}
	return []byte(shown.Text), err
}
