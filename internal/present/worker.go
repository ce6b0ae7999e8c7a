package present

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/keep"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// WorkerView is everything that is known of one worker.
func WorkerView(s *session.Session, w *ledger.Worker, now worksite.Standing) view.Worker {
	v := workerRow(s, w, now)
	v.Disk = keep.Disk(s.Site, w)
	return v
}

// workerRow is a worker without what it takes on disk: nobody looks at every file for a line
// in a list.
func workerRow(s *session.Session, w *ledger.Worker, now worksite.Standing) view.Worker {
	l := w.Lease.Lease()
	v := view.Worker{
		ID: string(w.ID), Status: string(now.Status), Reason: Reason(w, now), Title: titleOf(w), Says: saysOf(w), LastSign: s.LastSign(w),
		Behind: now.Behind, Attempts: w.Attempts, Created: w.Created, Changed: w.Changed, Expires: l.Expires,
		Base: string(l.Base), BaseShort: l.Base.Short(), Target: l.Target, Branch: l.Branch,
		Worktree: s.TreeOf(w), Inside: l.Worktree, Tree: string(treeKind(l)), Adopted: l.Adopted,
		Lease: w.Lease.Hash(), Source: l.Source, WriteRoots: w.Lease.Rules().Roots(),
		Command: w.Ran(), Line: worksite.Shorten(w.Ran()), Layers: []string{},
		Publish: l.Policy.Network.Publish, Visits: w.Visits, Questions: QuestionViews(w.Open()),
		Client: clientView(w), Guard: GuardView(w.Guard), Net: TallyView(w.Net), Exit: exitView(w.Exit), Gate: gateView(w.Gate),
	}
	fillGroup(s.Site, w, now, &v)
	if now.Held {
		v.PID = s.Process(w)
	}
	if w.Start != nil && w.Start.Layers != nil {
		v.Layers = Texts[string](w.Start.Layers)
	}
	if w.Audit != nil {
		v.Audit = &view.Audited{
			Verdict: w.Audit.Verdict, Summary: countsView(w.Audit.Summary),
			Digest: w.Audit.Digest, Report: w.Audit.Report, Others: w.Audit.Others, Checks: Texts[string](w.Audit.Checks),
		}
		v.Summary = changes(v.Audit.Summary)
	}
	v.Then = thenView(w.Then, now.Held)
	if w.Quarantine != nil && now.Status == ledger.InQuarantine {
		v.Reasons = w.Quarantine.Reasons
	}
	return v
}

// titleOf is the first line of what a worker was asked, or of its command.
func titleOf(w *ledger.Worker) string {
	if w.Agent != nil && strings.TrimSpace(w.Agent.Prompt) != "" {
		return firstLine(w.Agent.Prompt)
	}
	return firstLine(strings.Join(w.Ran(), " "))
}

// saysOf is the first line of what a worker says of its result. It never stands where its task stands.
func saysOf(w *ledger.Worker) string {
	if w.Claim == nil {
		return ""
	}
	return firstLine(w.Claim.Text)
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return terminal.Clip(legible.Line(first), titleColumns)
}

// titleColumns is how long a title may be.
const titleColumns = 200

func changes(n view.Counts) string {
	if n.Violations > 0 {
		return fmt.Sprintf("%d (%d out)", n.Landing, n.Violations)
	}
	return fmt.Sprint(n.Landing)
}

func clientView(w *ledger.Worker) *view.Client {
	if w.Agent == nil {
		return nil
	}
	v := &view.Client{Name: w.Agent.Client, Limits: w.RateLimitsSince(0), Limited: w.Limited}
	if r := w.Wiring; r != nil {
		v.Wiring = &view.Wiring{Client: r.Client, Version: r.Version, Program: r.Program, Guard: r.Guard, Files: r.Files, Managed: r.Managed, Stream: r.Stream}
		for _, p := range r.Parts {
			v.Wiring.Parts = append(v.Wiring.Parts, view.Part(p))
		}
	}
	if p := w.Proof; p != nil {
		v.Proof = &view.Proof{Canary: p.Canary, Event: p.Event, After: int64(p.After)}
	}
	if t := w.Stream; t != nil {
		v.Stream = &view.Summary{
			Calls: t.Calls, Tools: t.Tools, Input: t.Input, Output: t.Output, Cached: t.Cached, Cost: t.Cost, Turns: t.Turns, Model: t.Model,
			Session: t.Session, Reason: t.Reason, Unknown: t.Unknown, Gap: t.Gap, Interactive: t.Interactive, Why: t.Why,
		}
	}
	return v
}

func exitView(e *cell.Exit) *view.Exit {
	if e == nil {
		return nil
	}
	return &view.Exit{Code: e.Code, Reason: string(e.Reason), Left: e.Left, Error: e.Error, Refused: e.Refused}
}

func QuestionViews(list []ledger.Inquiry) []view.Question {
	return Each(list, func(q ledger.Inquiry) view.Question {
		return view.Question{ID: q.ID(), Text: q.Text, Options: append([]string{}, q.Options...), By: q.By, Asked: q.At}
	})
}

// each converts a list. The result is never null in JSON.
func Each[T, V any](list []T, convert func(T) V) []V {
	views := make([]V, 0, len(list))
	for _, t := range list {
		views = append(views, convert(t))
	}
	return views
}

// texts converts a list of strings of another type, and keeps nil.
func Texts[V, T ~string](list []T) []V {
	if list == nil {
		return nil
	}
	return Each(list, func(t T) V { return V(t) })
}

// Listing says which workers a list has, and how much of each.
type Listing struct {
	All    bool                     // also those that gc has removed
	Wanted func(ledger.Status) bool // nil: in every state
	Sizes  bool                     // with what each takes on disk, which no line of a list shows
}

// Workers are the workers of a repository.
func Workers(ctx context.Context, s *session.Session, o Listing) ([]view.Worker, error) {
	read := s.Ledger
	if o.All {
		read = s.History
	}
	l, err := read()
	if err != nil {
		return nil, err
	}
	shown := slices.DeleteFunc(slices.Clone(l.Workers), func(w *ledger.Worker) bool { return w.Removal != nil && !o.All })
	standings, err := s.Standings(ctx, shown)
	if err != nil {
		return nil, err
	}
	list := []view.Worker{}
	for _, w := range shown {
		now := standings[w.ID]
		if o.Wanted != nil && !o.Wanted(now.Status) {
			continue
		}
		v := workerRow(s, w, now)
		if o.Sizes {
			v.Disk = keep.DiskAtRest(s.Site, w, now.Held)
		}
		list = append(list, v)
	}
	return list, nil
}

// OfAnother is a notice if workers that did not land are of another repository, which was at this path before: a
// repository keeps their base commits.
func OfAnother(ctx context.Context, s *session.Session, list []view.Worker) string {
	if !slices.ContainsFunc(list, func(v view.Worker) bool { return v.Group == view.NeedsYou }) {
		return ""
	}
	if refs, err := s.Host.Refs(ctx, "refs/cordon/pins"); err != nil || len(refs) > 0 {
		return ""
	}
	return "this repository has none of cordon's refs for these workers. If it replaced another repository at this path, cordon gc --purge " +
		"removes what is left of that one. Otherwise do not purge: their work has not landed"
}
