// Package worksite opens the operator's repository together with everything that cordon
// keeps for it: the state directory, the journal and its fold, the gate, and the records
// about each worker. Every package that acts on a worker is given a *Site.
//
// It answers where things are and what was recorded, appends to the journal, makes the
// bases that trees share, and ends what a killed cordon left running. It refuses to start
// a worker and to audit, land or remove its work: that is up to launch, inspect, session
// and keep.
package worksite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/cache"
	"cordon/internal/config"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// Site is the operator's repository with everything that cordon keeps for it: the
// state directory, the journal and the gate.
type Site struct {
	Bin   git.Binary
	Host  git.Host
	State state.Dir
	Voice Voice
	Now   func() time.Time
	// OperatorActive says that the operator worked in the host since the worker
	// began, as a dispatch may say of itself.
	OperatorActive bool
	// Watch observes every append to the journal.
	Watch func(journal.Moment, journal.Event)
	// OnAsk is told of each new question of a running worker; nil: nobody is.
	OnAsk func(w lease.ID, number int)
	// Repairing says that the journal is being repaired: an empty one is no reason to stop.
	Repairing bool
	// Seen refuses a decision about a worker that is not as the operator saw it; nil: what they
	// saw is not known. held says that another process is at work on the worker. See Decide.
	Seen func(ctx context.Context, w *ledger.Worker, held bool) error
	// Gate is nil before Begin.
	Gate *gate.Gate

	decided  lease.ID       // see Decide
	operator *config.Loaded // see Operator
	opened   time.Time
	log      *journal.Journal
	view     *journal.View // of fold, of the log
	followed *followed     // nil: events are read anew
	fold     *ledger.Ledger
	readings readings
	kin      kinship
	verified map[git.OID]*verifiedBase
	cached   map[cache.Name]string // held generations of caches, by their directories
	listed   listing               // the last commit whose files were asked for
	special  listing               // and whose special files were
}

// ErrInside says that the caller stands in a worker's tree.
var ErrInside = errors.New("this is inside cordon's state, where workers write: run cordon from your own repository")

// Open finds the repository around a directory. It creates nothing.
func Open(ctx context.Context, dir string) (*Site, error) {
	inside, err := state.Inside(dir)
	if err != nil {
		return nil, err
	}
	if inside {
		return nil, ErrInside
	}
	bin, err := git.FindKnown(ctx, state.Said, append(state.Written(), gitfile.CheckoutsAround(dir)...)...)
	if err != nil {
		return nil, err
	}
	bin = bin.Remembering(state.Recalled)
	host, err := git.Discover(ctx, bin, dir)
	if err != nil {
		return nil, err
	}
	place, err := state.For(host)
	if err != nil {
		return nil, err
	}
	return &Site{Bin: bin, Host: host, State: place, Voice: Silent{}, Now: time.Now, opened: time.Now()}, nil
}

// Trees are the directories in which workers and commands write, and the checkouts of the
// repository: no program that lies in one runs outside a cell.
func (s *Site) Trees() []string {
	return append(state.Written(), gitfile.CheckoutsAround(cmp.Or(s.Host.Top, s.Host.Dir))...)
}

// Begin makes ready to write.
func (s *Site) Begin(ctx context.Context) error {
	if s.Gate != nil {
		return nil
	}
	if err := s.State.Make(s.Host); err != nil {
		return err
	}
	s.State.KeepReserve()
	r, err := s.reading()
	if err != nil {
		return err
	}
	if s.Watch != nil {
		r.log.Watch(s.Watch)
	}
	// A journal that cannot be believed stops everything before anything is
	// touched. What decides verifies all of it (VerifyAll).
	if err := r.view.Refresh(nil); err != nil {
		return err
	}
	if err := s.refuseAbandoned(int(r.fold.Seq)); err != nil {
		return err
	}
	s.log, s.view, s.fold = r.log, r.view, r.fold
	announce := func(id lease.ID, refs []gate.Naming) error {
		return s.Append(id, ledger.Named, ledger.Refs{Refs: refs})
	}
	if s.Gate, err = gate.Open(ctx, s.Bin, s.Host, s.State, announce); err != nil {
		return err
	}
	s.Gate.Fetching = s.SayFetching
	for _, line := range s.Gate.Settled {
		s.Voice.Step("", "gate", line)
	}
	return nil
}

// Ledger is what the journal says of all workers that gc has not removed. It changes
// nothing, and verifies what came after the last checkpoint.
func (s *Site) Ledger() (now *ledger.Ledger, err error) {
	if !s.State.Exists() {
		return ledger.Fold(nil)
	}
	r, err := s.reading()
	if err != nil {
		return nil, err
	}
	if err := r.view.Refresh(func() { now = r.fold.Snapshot() }); err != nil {
		return nil, err
	}
	return now, s.refuseAbandoned(int(now.Seq))
}

// VerifyAll reads and verifies the whole journal again. What moves a branch or deletes
// something asks for this first.
func (s *Site) VerifyAll() error { return s.view.Verify(nil) }

// History is what the whole journal says, verified from its first byte to its last, with
// the workers that gc has removed.
func (s *Site) History() (*ledger.Ledger, error) {
	events, err := s.Events()
	if err != nil {
		return nil, err
	}
	return ledger.Fold(events)
}

// Events reads the whole journal, verified, whatever its events mean.
func (s *Site) Events() ([]journal.Event, error) {
	if !s.State.Exists() {
		return nil, nil
	}
	log := s.log
	if log == nil {
		var err error
		if log, err = journal.Open(s.State.Path()); err != nil {
			return nil, err
		}
	}
	read := log.Events
	if s.followed != nil {
		read = s.followed.all
	}
	events, err := read()
	if err != nil {
		return nil, err
	}
	return events, s.refuseAbandoned(len(events))
}

// Find returns the worker whose name begins like this.
func (s *Site) Find(prefix string) (*ledger.Worker, error) {
	l, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	w, err := l.Find(prefix)
	if !errors.Is(err, ledger.ErrCollected) {
		return w, err
	}
	if l, err = s.History(); err != nil {
		return nil, err
	}
	return l.Find(prefix)
}

// Ancestor answers from the host alone. A commit that the host does not have
// is in no branch of it.
func (s *Site) Ancestor(ctx context.Context, commit git.OID, target string) (bool, error) {
	tip, err := s.Host.Ref(ctx, target)
	if errors.Is(err, git.ErrNoRef) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	is, err := s.Host.IsAncestor(ctx, commit, tip)
	if err == nil {
		return is, nil
	}
	kinds, kerr := s.Host.Kinds(ctx, []git.OID{commit})
	if kerr == nil && kinds[commit] != "commit" {
		return false, nil
	}
	return false, err
}

// FilesOf lists a commit of the host. A dispatch asks more than once.
func (s *Site) FilesOf(ctx context.Context, commit git.OID) ([]git.File, error) {
	if s.listed.commit == commit {
		return s.listed.files, nil
	}
	files, err := s.Host.Tree(ctx, commit)
	if err == nil {
		s.listed = listing{commit, files}
	}
	return files, err
}

// Special lists the files of a commit of the host that are more than content. What only needs
// those does not grow with the repository.
func (s *Site) Special(ctx context.Context, commit git.OID) ([]git.File, error) {
	if s.special.commit == commit {
		return s.special.files, nil
	}
	files, err := s.Host.Special(ctx, commit)
	if err == nil {
		s.special = listing{commit, files}
	}
	return files, err
}

// listing is files of a commit.
type listing struct {
	commit git.OID
	files  []git.File
}

// Append writes one event of a worker.
func (s *Site) Append(id lease.ID, typ string, data any) error {
	return s.AppendIf(id, typ, data, nil)
}

// AppendIf writes one if check allows it, with nobody appending in between.
func (s *Site) AppendIf(id lease.ID, typ string, data any, check func(*ledger.Ledger) error) error {
	raw, err := ledger.Encode(typ, data)
	if err != nil {
		return err
	}
	var may func() error
	if check != nil {
		may = func() error { return check(s.fold.Snapshot()) }
	}
	_, err = s.log.AppendIf(string(id), typ, raw, s.view, may)
	return err
}

// WorkerFile is a file that cordon keeps about a worker.
func (s *Site) WorkerFile(id lease.ID, name string) string {
	return filepath.Join(s.State.Worker(string(id)), name)
}

// HoldGate does something while nothing lands.
func (s *Site) HoldGate(ctx context.Context, act func() error) error {
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return err
	}
	defer release()
	return act()
}

// refuseAbandoned finds out that a journal without events is one that was removed.
func (s *Site) refuseAbandoned(events int) error {
	if events > 0 || s.Repairing {
		return nil
	}
	for _, part := range []string{"trees", "frozen", "layers"} {
		entries, _ := os.ReadDir(filepath.Join(s.State.Path(), part)) // not there: nobody left anything
		for _, e := range entries {
			if lease.ID(e.Name()).Valid() {
				return fmt.Errorf("the journal in %s is missing, but %s and perhaps others left files there: cordon journal repair finds them", s.State.Path(), e.Name())
			}
		}
	}
	return nil
}
