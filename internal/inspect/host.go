package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// RecordHost stores the host's state as the tripwire's baseline and returns its
// hash, which goes into the journal.
func RecordHost(ctx context.Context, s *worksite.Site, l lease.Lease) (string, error) {
	now, err := audit.CaptureHost(ctx, s.Host, hostDepth(l))
	if err != nil {
		return "", fmt.Errorf("record the host's state: %w", err)
	}
	return s.Store(l.ID, "host.json", now)
}

// hostDepth is how much of the host is looked at for a worker's sake.
func hostDepth(l lease.Lease) audit.Depth {
	if confined(l) {
		return audit.Brief
	}
	return audit.Deep
}

// confined reports whether a worker cannot write the host at all: it starts only in a
// whole cell that was proven, and its tree is its own.
func confined(l lease.Lease) bool { return l.Policy.Isolation == policy.Strict && !l.Adopted }

// CouldNotWrite reports whether a worker that has run could not write the host: its cell
// was whole and proven.
func CouldNotWrite(w *ledger.Worker) bool {
	return confined(w.Lease.Lease()) && w.Start != nil && len(w.Start.Proven) > 0 && len(w.Start.Missing) == 0
}

// compareWithGateHeld is tripwire while nothing lands. The rest of an audit needs no
// such quiet: how long it takes is up to the worker, and others have to go on.
func compareWithGateHeld(ctx context.Context, s *worksite.Site, w *ledger.Worker) ([]audit.Finding, string, error) {
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return nil, "", err
	}
	defer release()
	return CompareHost(ctx, s, w)
}

// CompareHost compares the host with the baseline of the worker's last launch. That
// is done once, by the first audit after the run: what an operator does to their
// repository before they merge is not the worker's doing.
func CompareHost(ctx context.Context, s *worksite.Site, w *ledger.Worker) ([]audit.Finding, string, error) {
	if w.Start == nil {
		return nil, "the worker has not run", nil
	}
	if w.Audit != nil {
		return comparedAlready(s, w)
	}
	var before audit.HostState
	if err := s.Load(w.ID, "host.json", w.Start.Baseline, &before); err != nil {
		return nil, "", err
	}
	after, err := audit.CaptureHost(ctx, s.Host, before.Depth())
	if err != nil {
		return nil, "", err
	}
	x := expectedOf(s, w)
	if !before.Brief || !sameHost(&before, after) { // what changed has to be explained by the whole journal
		if err := explainChanges(s, w, &x); err != nil {
			return nil, "", err
		}
	}
	found := audit.CompareHost(ctx, s.Host.Repo, &before, after, x)
	return found, hostWord(w, found, x), nil
}

// comparedAlready is what the recorded audit found in the host.
func comparedAlready(s *worksite.Site, w *ledger.Worker) ([]audit.Finding, string, error) {
	r, err := s.Report(w)
	if err != nil {
		return nil, "", err
	}
	var found []audit.Finding
	for _, f := range r.Findings {
		if f.Source == "host" {
			found = append(found, f)
		}
	}
	const when = "; compared after the run, not again"
	return found, strings.TrimSuffix(r.Host, when) + when, nil
}

func hostWord(w *ledger.Worker, found []audit.Finding, x audit.Expected) string {
	word := "refs, HEAD, config, hooks, index, status and linked worktrees are as before the run, or as cordon left them"
	if x.Confined {
		word = "refs, HEAD, config and hooks are as before the run, or as cordon left them"
	}
	if len(found) > 0 {
		word = fmt.Sprintf("%d changes that cordon did not make", len(found))
	}
	word += "; " + outsideWord(w)
	if x.OperatorWorks && !x.Confined {
		word += "; --operator-active: changes that cannot be attributed are notes"
	}
	return word
}

// sameHost reports whether two states are equal in everything that is recorded of them.
func sameHost(a, b *audit.HostState) bool {
	was, err := json.Marshal(a)
	is, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(was, is)
}

// expectedOf is what is expected of a worker, whatever changed.
func expectedOf(s *worksite.Site, w *ledger.Worker) audit.Expected {
	return audit.Expected{
		Committer: enclosure.CommitterEmail(w.ID),
		Confined:  CouldNotWrite(w), Ports: len(w.Lease.Lease().Policy.Network.HostPorts) > 0,
		OperatorWorks: w.Options.OperatorWorks || s.OperatorActive,
	}
}

// explainChanges adds what cordon itself changed since the worker began, as the journal says.
func explainChanges(s *worksite.Site, w *ledger.Worker, x *audit.Expected) error {
	now, err := s.History()
	if err != nil {
		return err
	}
	given, active := now.Given(w.StartSeq)
	x.Given = given
	for _, other := range now.Workers {
		id := string(other.ID)
		if l := other.Lease.Lease(); l.Adopted && (active[id] || s.State.Held(state.WorkerLock(id))) {
			x.Adopted = append(x.Adopted, l.Worktree)
		}
	}
	return nil
}

// WatchHost runs commands that run a worker's code where no audit follows: setup in
// a tree that a worker has had, and acceptance. Changes of the host that may be
// the operator's are said. What decides what git runs, or carries the worker's
// name, is an error, whatever the commands themselves say.
func WatchHost(ctx context.Context, s *worksite.Site, w *ledger.Worker, act func() error) error {
	if l := w.Lease.Lease(); confined(l) && len(l.Policy.Network.HostPorts) == 0 {
		return act() // the commands cannot reach the host
	}
	var before *audit.HostState
	since := *w
	record := func() (err error) {
		if before, err = audit.CaptureHost(ctx, s.Host, hostDepth(w.Lease.Lease())); err != nil {
			return err
		}
		now, err := s.Ledger()
		if err == nil {
			since.StartSeq = now.Seq + 1
		}
		return err
	}
	if err := s.HoldGate(ctx, record); err != nil {
		return err
	}
	err := act()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	compare := func() error { return refuseChanged(ctx, s, &since, before) }
	return errors.Join(s.HoldGate(ctx, compare), err)
}

// SayChanged says what changed in the host, and only counts what a worker in a proven cell could
// not do and the operator's git does not obey.
func SayChanged(s *worksite.Site, w *ledger.Worker, when string, found []audit.Finding) {
	refs, files := 0, 0
	for _, f := range found {
		switch {
		case f.Class == audit.Violation || f.Steers() || !CouldNotWrite(w):
			s.Voice.Step(w.ID, "host", when+": "+worksite.Line(f))
		case strings.HasPrefix(string(f.Path), "refs/"):
			refs++
		default:
			files++
		}
	}
	var counted []string
	if refs > 0 {
		counted = append(counted, worksite.Count(refs, "ref"))
	}
	if files > 0 {
		counted = append(counted, worksite.Count(files, "file"))
	}
	if len(counted) > 0 {
		s.Voice.Step(w.ID, "host", "your repository changed meanwhile ("+strings.Join(counted, ", ")+"); not by the worker")
	}
}

// HostChangedError says that acceptance or setup commands changed the operator's repository.
type HostChangedError struct{ Finding audit.Finding }

func (e *HostChangedError) Error() string {
	return "the commands changed the host: " + worksite.Line(e.Finding)
}

// refuseChanged compares the host with what it was when w began.
func refuseChanged(ctx context.Context, s *worksite.Site, w *ledger.Worker, before *audit.HostState) error {
	lenient := *w
	lenient.Options.OperatorWorks = true
	after, err := audit.CaptureHost(ctx, s.Host, before.Depth())
	if err != nil {
		return err
	}
	x := expectedOf(s, &lenient)
	if err := explainChanges(s, &lenient, &x); err != nil {
		return err
	}
	var grave []error
	found := audit.CompareHost(ctx, s.Host.Repo, before, after, x)
	SayChanged(s, w, "changed meanwhile", found)
	for _, f := range found {
		if f.Class == audit.Violation {
			grave = append(grave, &HostChangedError{f})
		}
	}
	return errors.Join(grave...)
}
