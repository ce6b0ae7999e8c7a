package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/fleet/pack"
	"cordon/internal/launch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
)

// launchAway has the command of a worker run on a node of the fleet. It offers the stage in the
// journal, from which the home of the fleet reads it, and waits there for what a node returns. Then it
// unpacks that into the worker's tree, and everything after it is as if the command had run here.
func (s *Session) launchAway(ctx context.Context, w *ledger.Worker, how *progress) error {
	how.Again = false
	if len(how.Command) > 0 || how.Prompt != "" {
		return s.recordRefusal(w, fault.Refuse("%s runs on a node, which can only run its stage again from the beginning: start another worker", w.ID))
	}
	if w.Away == nil {
		if err := s.Append(w.ID, ledger.Offered, ledger.Offer{On: w.Options.On}); err != nil {
			return err
		}
	}
	w, err := s.awaitNode(ctx, w.ID)
	if err != nil {
		return err
	}
	back := w.Away.Return
	content, err := s.admit(ctx, w, back)
	_, refused := errors.AsType[*pack.RefusedError](err)
	if refused || errors.Is(err, os.ErrNotExist) || errors.Is(err, pack.ErrDiffers) { // looking again would find the same
		err = errors.Join(s.recordRefusal(w, fault.Refuse("%v (from %s)", err, w.Away.Grant.Name)), s.returnedPacks().Remove(back.Pack))
		return errors.Join(err, s.Append(w.ID, ledger.Withdrawn, ledger.Withdrawal{Why: "its result was refused"}))
	}
	if err != nil {
		return err
	}
	defer content.Close()
	if err := s.noteLimit(w, back); err != nil {
		return err
	}
	s.Voice.Step(w.ID, "returned", fmt.Sprintf("by %s, which says: %s", w.Away.Grant.Name, nodesWord(back)))
	result, err := launch.Run(ctx, s.Site, w, launch.Request{
		Command: unpacking(back), Stdin: content, Output: how.Output, Unpacks: true,
	})
	how.Judge = how.Judge || result.Refused
	if err == nil {
		err = s.returnedPacks().Remove(back.Pack)
	}
	return s.recordRefusal(w, err)
}

// noteLimit keeps that a stage failed because its provider is asked too often, if the node has not reported the limit while the
// stage ran: no stage is offered again without a wait.
func (s *Session) noteLimit(w *ledger.Worker, r *ledger.Return) error {
	if !r.Limited || w.Agent == nil || len(w.RateLimitsSince(w.Away.Fence)) > 0 {
		return nil
	}
	_, err := s.BackOffs().Note(w.Agent.Provider(), "a node says that the provider is asked too often", 0, s.Now())
	return err
}

func nodesWord(r *ledger.Return) string {
	changes := "no changes"
	if r.Commit != "" {
		changes = fmt.Sprintf("%d bytes", r.Pack.Size)
	}
	if r.Limited {
		changes += ", its provider is asked too often"
	}
	return fmt.Sprintf("%s with exit code %d, %s", r.Ending, r.Exit, changes)
}

// unpacking is the command that puts the result of a node into the tree. It runs in the cell of the
// worker: a pack that attacks git gets no further than a worker does. Changes are not committed, so that
// the node's word is no commit message. It ends as the node says that its command did.
func unpacking(r *ledger.Return) []string {
	exit := r.Exit
	if exit < 0 || exit > 255 {
		exit = 1
	}
	script := "true"
	if r.Commit != "" {
		script = `git index-pack --stdin >/dev/null && { git update-index -q --refresh; git read-tree -m -u HEAD "$1" || git read-tree --reset -u "$1"; }`
	}
	return []string{"sh", "-c", script + ` || exit 125; exit "$2"`, "unpack", string(r.Commit), fmt.Sprint(exit)}
}

// lookAgain is how often the journal is read while a node works.
const lookAgain = 300 * time.Millisecond

// awaitNode waits until the result of a worker is in the journal. It starts nothing, and holds the
// worker's lock. Whoever ends it withdraws the stage; a kill does not, and the next session waits
// for the same result.
func (s *Session) awaitNode(ctx context.Context, id lease.ID) (*ledger.Worker, error) {
	said := ""
	for {
		now, err := s.Ledger()
		if err != nil {
			return nil, err
		}
		w, err := now.Find(string(id))
		switch {
		case err != nil:
			return nil, err
		case w.Away == nil || w.Discard != nil:
			return w, fault.Refuse("%s was withdrawn from the fleet", id)
		case w.Away.Return != nil:
			return w, nil
		case w.Lease.Expired(s.Now()):
			return w, s.withdraw(id, "its lease has expired", fault.Refuse("the lease of %s has expired, and no node has returned a result", id))
		}
		if err := dispatch.CheckNode(now, w.Options.On); err != nil {
			return w, s.withdraw(id, "its node was removed", err)
		}
		if where := s.WhereAway(now, w); where != said {
			said = where
			s.Voice.Step(id, "fleet", said)
		}
		select {
		case <-ctx.Done():
			return w, s.withdraw(id, "somebody stopped it", ctx.Err())
		case <-time.After(lookAgain):
		}
	}
}

// withdraw takes a stage back, for a reason.
func (s *Session) withdraw(id lease.ID, why string, because error) error {
	return errors.Join(because, s.Append(id, ledger.Withdrawn, ledger.Withdrawal{Why: why}))
}

// returnedPacks are what nodes have returned, as the home of the fleet received it.
func (s *Session) returnedPacks() pack.Store { return pack.Store{Dir: s.State.Returned()} }

const (
	maxFile    = 1 << 30 // bytes of one file of a result: a pack can blow up a few bytes
	maxObjects = 1 << 20 // of a result: git takes about 200 bytes of memory for each
)

// admit checks the pack that a node returned, in a repository of its own that is removed again: it
// brings one commit on top of the base and nothing else. What its tree may hold is up to the audit.
func (s *Session) admit(ctx context.Context, w *ledger.Worker, r *ledger.Return) (content io.ReadCloser, err error) {
	if r.Commit == "" {
		return io.NopCloser(strings.NewReader("")), nil
	}
	dir := s.WorkerFile(w.ID, "admission")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(filepath.Dir(dir), 0o700)); err != nil {
		return nil, err
	}
	_, err = pack.Admission{
		Bin: s.Bin, Host: s.Gate.Repo(), Dir: dir, Store: s.returnedPacks(), Pack: r.Pack,
		Base: w.Lease.Lease().Base, Commit: r.Commit, Rules: w.Lease.Rules(), Most: maxFile, Many: maxObjects,
	}.Admit(ctx)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	return s.returnedPacks().Open(r.Pack)
}
