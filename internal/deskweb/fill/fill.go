// Package fill makes the screens of the desk from a repository: it asks the functions that the
// commands ask, and gives the same objects to package screens. It refuses to change anything: it
// has no way to a decision.
package fill

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/conduct"
	"cordon/internal/deskweb"
	"cordon/internal/deskweb/screens"
	"cordon/internal/guard"
	"cordon/internal/inspect"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Source is a repository as the desk shows it.
type Source struct {
	mu sync.Mutex // one screen at a time: they share what was read of the journal
	s  *session.Session
}

// New is the source of a repository.
func New(s *session.Session) (*Source, error) { return &Source{s: s}, s.Follow() }

// Changes tells when something was appended to the journal.
func (f *Source) Changes(ctx context.Context) (<-chan struct{}, error) {
	if !f.s.State.Exists() {
		return make(chan struct{}), nil // there is nothing yet; pages look again now and then
	}
	return journal.Changes(ctx, f.s.State.Path())
}

// Screen writes the screen of a path.
func (f *Source) Screen(ctx context.Context, w io.Writer, path string, query url.Values) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	frame, err := f.frame(ctx)
	if err != nil {
		return err
	}
	kind, name, _ := strings.Cut(strings.Trim(path, "/"), "/")
	var shown any
	switch {
	case kind == "" && name == "":
		frame.Screen = "desk"
		shown = screens.Desk{Frame: frame}
	case kind == "worker":
		frame.Screen = "worker"
		shown, err = f.review(ctx, frame, name)
	case kind == "plan" && name == "":
		frame.Screen = "plan"
		shown, err = f.plans(ctx, frame)
	case kind == "plan":
		frame.Screen = "plan"
		shown, err = f.plan(ctx, frame, name)
	case kind == "journal" && name == "":
		frame.Screen = "journal"
		shown, err = f.journal(frame, query)
	default:
		return deskweb.ErrNoScreen
	}
	if err != nil {
		return err
	}
	return screens.Write(w, shown)
}

// frame is what all screens have.
func (f *Source) frame(ctx context.Context) (screens.Frame, error) {
	fr := screens.Frame{Repository: filepath.Base(f.s.Host.Top), Now: time.Now()}
	var err error
	if fr.Workers, err = present.Workers(ctx, f.s, present.Listing{}); err != nil {
		return fr, err
	}
	if ref, err := f.s.Host.HeadBranch(ctx); err == nil && ref != "" {
		fr.Branch = present.Branch(ref)
		if tip, err := f.s.Host.Ref(ctx, ref); err == nil {
			fr.Tip = tip.Short()
		}
	}
	stages, err := conduct.Attention(ctx, f.s.Site)
	if err != nil {
		return fr, err
	}
	fr.Stages = present.Each(stages, present.AttentionView)
	if fr.Unconfined, err = Unconfined(f.s); err != nil {
		return fr, err
	}
	fr.Journal, err = f.verify()
	return fr, err
}

// verify checks the whole journal.
func (f *Source) verify() (view.Verify, error) {
	if !f.s.State.Exists() {
		return view.Verify{Sound: true}, nil
	}
	r, err := journal.Verify(f.s.State.Path())
	v := view.Verify{Events: r.Events, Last: r.Head, Torn: r.Torn, Sound: r.Problem == nil}
	if r.Problem != nil {
		damage := view.Damage(*r.Problem)
		v.Problem = &damage
	}
	return v, err
}

// Unconfined are the workers of a repository that run now and have no cell: they can do what the operator can.
func Unconfined(s *session.Session) ([]string, error) {
	l, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, w := range l.Workers {
		if w.Removal == nil && w.Lease.Lease().Policy.Isolation == policy.None && s.RunningElsewhere(w) {
			list = append(list, string(w.ID))
		}
	}
	return list, nil
}

// mostDecisions is how many decisions of a guard a screen has.
const mostDecisions = 200

func (f *Source) review(ctx context.Context, fr screens.Frame, name string) (r screens.Review, err error) {
	w, err := f.s.Find(name)
	if _, unknown := errors.AsType[ledger.NameError](err); unknown || err == nil && string(w.ID) != name {
		return r, deskweb.ErrNoScreen
	}
	if err != nil {
		return r, err
	}
	standings, err := f.s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return r, err
	}
	r = screens.Review{Frame: fr, Worker: present.WorkerView(f.s, w, standings[w.ID])}
	if w.Audit != nil {
		if report, err := f.s.Report(w); err == nil {
			r.Audit = present.ReportView(report)
		}
	}
	f.patch(ctx, w, &r)
	if _, err := f.s.Decisions(w, func(d guard.Record) {
		if (d.Verdict != guard.Allow || d.Warned) && len(r.Guard) < mostDecisions {
			r.Guard = append(r.Guard, present.DecisionView(d))
		}
	}); err != nil && !errors.Is(err, os.ErrNotExist) {
		return r, err
	}
	if r.Transcript, r.Earlier, err = f.transcript(w); err != nil {
		return r, err
	}
	events, err := f.s.Events()
	for _, e := range events {
		if e.Worker == name {
			r.Events = append(r.Events, view.Event(e))
		}
	}
	return r, err
}

// maxPatch is how much of a patch is read.
const maxPatch = 20 << 20

// errEnough ends a patch that is too long for a screen.
var errEnough = errors.New("the patch is longer than a screen shows")

// bounded keeps the beginning.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxPatch {
		return 0, errEnough
	}
	return b.Buffer.Write(p)
}

// patch fills what a worker changed.
func (f *Source) patch(ctx context.Context, w *ledger.Worker, r *screens.Review) {
	if w.Tree == nil {
		r.NoPatch = "There is no worktree yet."
		return
	}
	var text bounded
	err := inspect.Diff(ctx, f.s.Site, w, &text, false)
	switch {
	case text.Len() > 0 && err != nil:
		r.NoPatch = "Only the beginning is here; cordon diff " + string(w.ID) + " prints everything."
	case err != nil:
		r.NoPatch = err.Error()
	}
	var found []view.Finding
	if r.Audit != nil {
		found = r.Audit.Findings
	}
	r.Files, r.Left = screens.Files(text.String(), found)
	if len(r.Files) == 0 && r.NoPatch == "" {
		r.NoPatch = "It changed nothing in its tree."
	}
}

// maxTranscript is how much of the end of a transcript a screen has.
const maxTranscript = 64 << 10

func (f *Source) transcript(w *ledger.Worker) (text string, earlier bool, err error) {
	file, err := f.s.Transcript(w)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return "", false, err
	}
	from := max(0, fi.Size()-maxTranscript)
	b, err := io.ReadAll(io.NewSectionReader(file, from, maxTranscript))
	if from > 0 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return uncoloured(string(b)), from > 0, err
}

// uncoloured leaves out the sequences that only choose colours. Every other one is shown.
func uncoloured(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.TrimLeft(after, "0123456789;")
		if strings.HasPrefix(end, "m") {
			s = end[1:]
			continue
		}
		b.WriteString("\x1b[")
		s = after
	}
}

func (f *Source) plans(ctx context.Context, fr screens.Frame) (screens.Plans, error) {
	all, err := conduct.Reports(ctx, f.s.Site, func(*ledger.PlanRun) bool { return true })
	shown := screens.Plans{Frame: fr}
	for _, report := range slices.Backward(all) {
		shown.Plans = append(shown.Plans, present.PlanSummaryView(report, f.s.State.Held(conduct.LockName(report.Run.Plan))))
	}
	return shown, err
}

func (f *Source) plan(ctx context.Context, fr screens.Frame, name string) (screens.Plan, error) {
	all, err := conduct.Reports(ctx, f.s.Site, func(r *ledger.PlanRun) bool { return r.Plan == name })
	if err != nil {
		return screens.Plan{}, err
	}
	if len(all) == 0 {
		return screens.Plan{}, deskweb.ErrNoScreen
	}
	v := present.PlanView(all[len(all)-1], f.s.State.Held(conduct.LockName(name)))
	return screens.Plan{Frame: fr, Plan: *v, Graph: screens.Draw(*v)}, nil
}

// mostEvents is how many events a screen of the journal has.
const mostEvents = 200

func (f *Source) journal(fr screens.Frame, q url.Values) (screens.Journal, error) {
	j := screens.Journal{Frame: fr, Worker: q.Get("worker"), Type: q.Get("type"), Since: q.Get("since")}
	since, err := time.ParseInLocation(time.DateOnly, j.Since, time.Local)
	if err != nil {
		j.Since, since = "", time.Time{}
	}
	before, _ := strconv.ParseUint(q.Get("before"), 10, 64)
	events, err := f.s.Events()
	if err != nil && fr.Journal.Sound {
		return j, err
	}
	for _, e := range slices.Backward(events) {
		if !strings.HasPrefix(e.Worker, j.Worker) || !strings.Contains(e.Type, j.Type) || e.Time.Before(since) {
			continue
		}
		j.Total++
		switch {
		case before > 0 && e.Seq >= before:
		case len(j.Events) < mostEvents:
			j.Events = append(j.Events, view.Event(e))
		case j.Before == 0:
			j.Before = j.Events[len(j.Events)-1].Seq
		}
	}
	return j, nil
}
