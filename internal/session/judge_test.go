package session_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/workspace"
)

// shop is a repository with one commit, and a place for cordon's state.
type shop struct {
	t   *testing.T
	top string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(place, "state"))
	t.Setenv("HOME", place)
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Operator", "GIT_AUTHOR_EMAIL": "operator@example.com",
		"GIT_COMMITTER_NAME": "Operator", "GIT_COMMITTER_EMAIL": "operator@example.com",
	} {
		t.Setenv(name, value)
	}
	s := &shop{t: t, top: filepath.Join(place, "repo")}
	if err := os.Mkdir(s.top, 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("init", "-q", "-b", "main")
	s.write("src/a.txt", "a\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "base")
	return s
}

func (s *shop) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.top
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *shop) write(name, content string) {
	s.t.Helper()
	full := filepath.Join(s.top, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.top, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// open is cordon started anew, as every command does.
func (s *shop) open() *session.Session {
	s.t.Helper()
	opened, err := session.Open(context.Background(), s.top)
	if err != nil {
		s.t.Fatal(err)
	}
	return opened
}

func (s *shop) dispatch(line string) dispatch.Request {
	p := policy.Default()
	tree := workspace.TreeKind(os.Getenv("CORDON_TREE"))
	return dispatch.Request{Command: []string{"sh", "-c", line}, Policy: &p, Source: "test", Named: true, Tree: tree, Options: ledger.Options{Merge: true}}
}

// runAll leases a worker and takes it through the whole pipeline.
func runAll(ctx context.Context, s *session.Session, d dispatch.Request, how session.Drive) (*ledger.Worker, error) {
	w, err := dispatch.Lease(ctx, s.Site, d)
	if err != nil {
		return nil, err
	}
	return s.Continue(ctx, w.ID, how)
}

func (s *shop) run(line string) *ledger.Worker {
	s.t.Helper()
	w, err := runAll(context.Background(), s.open(), s.dispatch(line), session.Drive{})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

func (s *shop) status(w *ledger.Worker) ledger.Status {
	s.t.Helper()
	at := s.open()
	now, err := at.Find(string(w.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	status, err := at.Status(context.Background(), now)
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

func (s *shop) want(w *ledger.Worker, want ledger.Status) {
	s.t.Helper()
	if got := s.status(w); got != want {
		s.t.Errorf("%s is %q, want %q", w.ID, got, want)
	}
}

func (s *shop) clean() {
	s.t.Helper()
	if got := s.git("status", "--porcelain"); got != "" {
		s.t.Errorf("the checkout is not clean:\n%s", got)
	}
}

// dies runs an act of a session in which cordon is killed at one event of the
// journal, after doing something that the dead process had still got to do.
func (s *shop) dies(typ string, moment journal.Moment, last func(), act func(*session.Session)) {
	s.t.Helper()
	type killed struct{}
	at := s.open()
	at.Watch = func(m journal.Moment, e journal.Event) {
		if m == moment && e.Type == typ {
			if last != nil {
				last()
			}
			panic(killed{})
		}
	}
	defer func() {
		s.t.Helper()
		if _, ok := recover().(killed); !ok {
			s.t.Fatalf("cordon was not killed at %s", typ)
		}
	}()
	act(at)
}

// Killed between the branch and the checkout: the branch is at the result, git
// status shows it in reverse. The next command on the worker finishes it.
func TestKilledBetweenBranchAndCheckout(t *testing.T) {
	for name, next := range map[string]func(*session.Session, *ledger.Worker) (*ledger.Worker, error){
		"merge": func(at *session.Session, w *ledger.Worker) (*ledger.Worker, error) {
			return at.Merge(context.Background(), w, session.Drive{})
		},
		"resume": func(at *session.Session, w *ledger.Worker) (*ledger.Worker, error) {
			return at.Resume(context.Background(), w, session.Drive{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			var w *ledger.Worker
			s.dies(ledger.Intended, journal.After, func() {
				now, err := s.open().Ledger()
				if err != nil {
					t.Fatal(err)
				}
				w = now.Workers[0]
				s.git("update-ref", w.Intent.Ref, string(w.Intent.New), string(w.Intent.Old))
			}, func(at *session.Session) {
				_, _ = runAll(context.Background(), at, s.dispatch("echo x >src/x.txt; echo more >>src/a.txt"), session.Drive{})
			})
			if got := s.git("status", "--porcelain"); !strings.Contains(got, "D  src/x.txt") {
				t.Fatalf("the checkout does not show the result in reverse: %q", got)
			}
			tip := s.git("rev-parse", "main")
			at := s.open()
			got, err := next(at, w)
			if err != nil {
				t.Fatal(err)
			}
			if got.Gate == nil || got.Gate.Outcome != gate.Merged || string(got.Gate.Commit) != tip {
				t.Errorf("recorded %+v, landed %s", got.Gate, tip)
			}
			s.want(w, ledger.MergedIn)
			s.clean()
			if s.git("rev-parse", "main") != tip {
				t.Error("it landed twice")
			}
			if s.read("src/x.txt") != "x\n" {
				t.Error("the checkout did not follow")
			}
		})
	}
}

// The same, but the operator has edited a file of it meanwhile: their edit stays,
// the merge is recorded, and a person is asked.
func TestKilledAndEditedMeanwhile(t *testing.T) {
	s := newShop(t)
	var w *ledger.Worker
	s.dies(ledger.Intended, journal.After, func() {
		now, err := s.open().Ledger()
		if err != nil {
			t.Fatal(err)
		}
		w = now.Workers[0]
		s.git("update-ref", w.Intent.Ref, string(w.Intent.New), string(w.Intent.Old))
	}, func(at *session.Session) {
		_, _ = runAll(context.Background(), at, s.dispatch("echo more >>src/a.txt"), session.Drive{})
	})
	s.write("src/a.txt", "mine\n")
	at := s.open()
	_, err := at.Merge(context.Background(), w, session.Drive{})
	var person *fault.PersonError
	if !errors.As(err, &person) || !strings.Contains(err.Error(), "git stash keeps your versions and restores the landed ones") {
		t.Errorf("got %v", err)
	}
	if s.read("src/a.txt") != "mine\n" {
		t.Errorf("the operator's edit is %q now", s.read("src/a.txt"))
	}
	s.want(w, ledger.MergedIn)
}

// Killed before the branch moved: it did not land, and is judged again.
func TestKilledBeforeTheBranch(t *testing.T) {
	s := newShop(t)
	s.dies(ledger.Intended, journal.After, nil, func(at *session.Session) {
		_, _ = runAll(context.Background(), at, s.dispatch("echo x >src/x.txt"), session.Drive{})
	})
	at := s.open()
	now, err := at.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	s.want(now.Workers[0], ledger.Finished)
	s.clean()
	if _, err := at.Merge(context.Background(), now.Workers[0], session.Drive{}); err != nil {
		t.Fatal(err)
	}
	s.want(now.Workers[0], ledger.MergedIn)
	s.clean()
}

// A lease that has run out lands nothing, however clean the result is.
func TestExpiredLease(t *testing.T) {
	s := newShop(t)
	base := s.git("rev-parse", "main")
	d := s.dispatch("echo x >src/x.txt")
	d.Options.NoMerge = true
	w, err := runAll(context.Background(), s.open(), d, session.Drive{})
	if err != nil {
		t.Fatal(err)
	}
	end := w.Lease.Lease().Expires
	late := s.open()
	late.Now = func() time.Time { return end }
	if w, err = late.Merge(context.Background(), w, session.Drive{}); err != nil {
		t.Fatal(err)
	}
	s.want(w, ledger.InQuarantine)
	if w.Quarantine == nil || !strings.Contains(w.Quarantine.Reasons[0], "the lease expired at") || w.Quarantine.Result == "" {
		t.Errorf("quarantined as %+v", w.Quarantine)
	}
	if s.git("rev-parse", "main") != base {
		t.Error("it landed")
	}
	// Nor does one run again.
	unfinished := s.run("exit 1")
	late.Now = func() time.Time { return unfinished.Lease.Lease().Expires }
	var refused *fault.RefusedError
	if _, err := late.Resume(context.Background(), unfinished, session.Drive{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "expired") {
		t.Errorf("resumed: %v", err)
	}
	// A moment earlier it lands; a release gives it a new term.
	d = s.dispatch("echo y >src/y.txt")
	d.Options.NoMerge = true
	fresh, err := runAll(context.Background(), s.open(), d, session.Drive{})
	if err != nil {
		t.Fatal(err)
	}
	early := s.open()
	early.Now = func() time.Time { return fresh.Lease.Lease().Expires.Add(-time.Nanosecond) }
	if fresh, err = early.Merge(context.Background(), fresh, session.Drive{}); err != nil {
		t.Fatal(err)
	}
	s.want(fresh, ledger.MergedIn)
	if w, err = late.Release(context.Background(), w, session.Amendment{Policy: policy.Default(), Source: "test", Who: "op", Why: "late", Accept: []ledger.Cause{ledger.NotJudged}},
		session.Drive{}); err != nil {
		t.Fatal(err)
	}
	s.want(w, ledger.MergedIn)
	s.clean()
}

// An operator who switches to a new branch at the last moment, for which git needs no
// lock of the index, has it clean: the result lands on the other branch alone.
func TestSwitchedAtTheLastMoment(t *testing.T) {
	s := newShop(t)
	at := s.open()
	base, switched := s.git("rev-parse", "main"), false
	at.Watch = func(m journal.Moment, e journal.Event) {
		if m == journal.After && e.Type == ledger.Intended && !switched {
			switched = true
			s.git("branch", "feature")
			s.git("symbolic-ref", "HEAD", "refs/heads/feature")
		}
	}
	w, err := runAll(context.Background(), at, s.dispatch("echo x >src/x.txt"), session.Drive{})
	if err != nil || !switched {
		t.Fatalf("switched: %v; %v", switched, err)
	}
	s.want(w, ledger.MergedIn)
	s.clean()
	if s.git("rev-parse", "feature") != base || s.git("symbolic-ref", "HEAD") != "refs/heads/feature" {
		t.Error("the new branch moved")
	}
	if s.git("show", "main:src/x.txt") != "x" {
		t.Error("it did not land")
	}
}
