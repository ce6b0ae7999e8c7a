// Package session takes one worker through the pipeline, and is the only package
// that knows its order:
//
//	lease → worktree → command → audit → gate → merged or quarantined
//
// The order is not a sequence of calls but a question asked again and again:
// given what the journal says of this worker, what is next? Each step acts and
// appends one event, so that a run that was killed anywhere is continued by
// asking the same question.
package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// Voice is told what happens while it happens.
type Voice interface {
	Step(id lease.ID, word, text string)
	Files(id lease.ID, done, total int)
}

// Silent says nothing.
type Silent struct{}

// Step implements Voice.
func (Silent) Step(lease.ID, string, string) {}

// Files implements Voice.
func (Silent) Files(lease.ID, int, int) {}

// Session takes workers of one host repository through the pipeline.
type Session struct{ *Site }

// Open finds the repository around a directory. It creates nothing.
func Open(ctx context.Context, dir string) (*Session, error) {
	at, err := openSite(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Session{at}, nil
}

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
	// EmptyTrash has gc delete at once what was discarded or released.
	EmptyTrash bool
	// Watch observes every append to the journal.
	Watch func(journal.Moment, journal.Event)

	log       *journal.Journal
	view      *journal.View // of fold, of the log
	fold      *ledger.Ledger
	repairing bool
	gate      *gate.Gate
	verified  map[git.OID]*verified
	listed    struct { // the last commit whose files were asked for
		commit git.OID
		files  []git.File
	}
}

// ErrInside says that the caller stands in a worker's tree.
var ErrInside = errors.New("this is inside cordon's state, where workers write: run cordon from your own repository")

// openSite finds the repository around a directory. It creates nothing.
func openSite(ctx context.Context, dir string) (*Site, error) {
	inside, err := state.Inside(dir)
	if err != nil {
		return nil, err
	}
	if inside {
		return nil, ErrInside
	}
	bin, err := git.Find(ctx, append(state.Written(), git.CheckoutsAround(dir)...)...)
	if err != nil {
		return nil, err
	}
	host, err := git.Discover(ctx, bin, dir)
	if err != nil {
		return nil, err
	}
	place, err := state.For(host)
	if err != nil {
		return nil, err
	}
	return &Site{Bin: bin, Host: host, State: place, Voice: Silent{}, Now: time.Now}, nil
}

// begin makes ready to write.
func (s *Session) begin(ctx context.Context) error {
	if s.gate != nil {
		return nil
	}
	if err := s.State.Make(s.Host); err != nil {
		return err
	}
	s.State.KeepReserve()
	log, err := journal.Open(s.State.Path())
	if err != nil {
		return err
	}
	if s.Watch != nil {
		log.Watch(s.Watch)
	}
	// A journal that cannot be believed stops everything before anything is
	// touched. What decides verifies all of it (verifyAll).
	fold := ledger.Current()
	view := log.View(ledger.FoldName, fold)
	if err := view.Refresh(nil); err != nil {
		return err
	}
	if err := s.refuseAbandoned(int(fold.Seq)); err != nil {
		return err
	}
	s.log, s.view, s.fold = log, view, fold
	if s.gate, err = gate.Open(ctx, s.Bin, s.Host, s.State); err != nil {
		return err
	}
	for _, line := range s.gate.Settled {
		s.Voice.Step("", "gate", line)
	}
	return nil
}

// Ledger is what the journal says of all workers that gc has not removed. It changes
// nothing, and verifies what came after the last checkpoint.
func (s *Session) Ledger() (now *ledger.Ledger, err error) {
	view, fold := s.view, s.fold
	switch {
	case !s.State.Exists():
		return ledger.Fold(nil)
	case view == nil:
		log, err := journal.Open(s.State.Path())
		if err != nil {
			return nil, err
		}
		fold = ledger.Current()
		view = log.View(ledger.FoldName, fold)
	}
	if err := view.Refresh(func() { now = fold.Snapshot() }); err != nil {
		return nil, err
	}
	return now, s.refuseAbandoned(int(now.Seq))
}

// verifyAll reads and verifies the whole journal again. What moves a branch or deletes
// something asks for this first.
func (s *Session) verifyAll() error { return s.view.Verify(nil) }

// History is what the whole journal says, verified from its first byte to its last, with
// the workers that gc has removed.
func (s *Session) History() (*ledger.Ledger, error) {
	events, err := s.Events()
	if err != nil {
		return nil, err
	}
	return ledger.Fold(events)
}

// Events reads the whole journal, verified, whatever its events mean.
func (s *Session) Events() ([]journal.Event, error) {
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
	events, err := log.Events()
	if err != nil {
		return nil, err
	}
	return events, s.refuseAbandoned(len(events))
}

// Find returns the worker whose name begins like this.
func (s *Session) Find(prefix string) (*ledger.Worker, error) {
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

// ancestor answers from the host alone. A commit that the host does not have
// is in no branch of it.
func (s *Session) ancestor(ctx context.Context, commit git.OID, target string) (bool, error) {
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

// PolicyName is the file at the top of the base commit that holds the policy.
const PolicyName = "cordon.yaml"

// PolicyAt reads the policy of a base commit, or the default where it has none.
func (s *Session) PolicyAt(ctx context.Context, base git.OID) (policy.Policy, string, error) {
	text, ok, err := s.Host.FileAt(ctx, base, PolicyName)
	if err != nil {
		return policy.Policy{}, "", err
	}
	if !ok {
		return policy.Default(), "default", nil
	}
	p, err := policy.Parse(PolicyName, text)
	return p, PolicyName + " at " + base.Short(), err
}

// PolicyFile reads a policy that the operator named.
func (s *Session) PolicyFile(path string) (policy.Policy, string, error) {
	p, err := ReadPolicy(path, s.outside)
	return p, path, err
}

// ReadPolicy reads a policy from a file that a check accepts, by its absolute
// path.
func ReadPolicy(path string, check func(string) error) (policy.Policy, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return policy.Policy{}, err
	}
	if _, err := os.Stat(abs); err != nil {
		return policy.Policy{}, &MistakeError{fmt.Errorf("--policy: %w", err)}
	}
	if err := check(abs); err != nil {
		return policy.Policy{}, err
	}
	text, err := plainfile.ReadLinked(abs, plainfile.Text)
	if err != nil {
		return policy.Policy{}, &MistakeError{fmt.Errorf("--policy: %w", err)}
	}
	return policy.Parse(path, text)
}

// outside refuses a file that a worker could have written: in cordon's state, or
// in a worktree that was adopted.
func (s *Session) outside(path string) error {
	inside, err := state.Inside(path)
	if err != nil {
		return err
	}
	now, err := s.Ledger()
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, worktree := range now.Adopted() {
		inside = inside || strings.HasPrefix(real, worktree+string(filepath.Separator))
	}
	if inside {
		return refuse("%s lies where workers write: a policy is never read from there", path)
	}
	return nil
}

// filesOf lists a commit of the host. A dispatch asks more than once.
func (s *Session) filesOf(ctx context.Context, commit git.OID) ([]git.File, error) {
	if s.listed.commit == commit {
		return s.listed.files, nil
	}
	files, err := s.Host.Tree(ctx, commit)
	if err == nil {
		s.listed.commit, s.listed.files = commit, files
	}
	return files, err
}

// append writes one event of a worker.
func (s *Session) append(id lease.ID, typ string, data any) error {
	return s.appendIf(id, typ, data, nil)
}

// appendIf writes one if check allows it, with nobody appending in between.
func (s *Session) appendIf(id lease.ID, typ string, data any, check func(*ledger.Ledger) error) error {
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

// workerFile is a file that cordon keeps about a worker.
func (s *Session) workerFile(id lease.ID, name string) string {
	return filepath.Join(s.State.Worker(string(id)), name)
}
