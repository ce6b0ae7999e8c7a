// Package stages finds the stages of a repository that are to run on nodes, commands and tests of results: a fold of its
// journal. Between the session that waits for a stage and the home that offers it there is nothing
// but the journal.
//
// It refuses to offer, grant or take anything: package home does.
package stages

import (
	"fmt"
	"sync"
	"time"

	"cordon/internal/assignment"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Journal are the stages of a repository, by what its journal says.
type Journal struct {
	Site *worksite.Site

	heeding sync.Mutex // taken before the journal's lock

	mu    sync.Mutex            // taken after the journal's lock: whoever holds it appends nothing
	known map[string]home.Stage // by name, as of the last look
	open  map[string]bool       // those that wait for a result
	back  []protocol.Pack       // of results that no session has unpacked
	err   error                 // of the last look

	printed map[string]printed // by worker
	screens map[string]*screen // by worker: of those that are interactive
	closing sync.WaitGroup     // of screens
}

// Stages reads what is new, and returns the stages that have no result.
func (j *Journal) Stages() (list []home.Stage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.look()
	for stage, waits := range j.open {
		if waits {
			list = append(list, j.known[stage])
		}
	}
	return list
}

// Stage is the stage of a worker. One that the last look did not find may be new.
func (j *Journal) Stage(worker string) (home.Stage, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, ok := j.known[worker]
	if !ok {
		j.look()
		s, ok = j.known[worker]
	}
	return s, ok
}

// Returned are the packs of results that no session has unpacked yet.
func (j *Journal) Returned() ([]protocol.Pack, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.look()
	return j.back, j.err
}

// BackOffs are until when nothing of a provider is to start, by its name.
func (j *Journal) BackOffs() map[string]time.Time { return j.Site.BackOffs().All(j.Site.Now()) }

// Backlog counts the results of nodes that sessions have and have not finished with: they unpack, audit, test or land them.
func (j *Journal) Backlog() (count int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now, err := j.Site.Ledger()
	if err != nil {
		return 0
	}
	for _, w := range now.Workers {
		back := w.Exit != nil || w.Away != nil && w.Away.Return != nil
		over := w.Discard != nil || w.Quarantine != nil || w.Gate != nil && w.Wait == nil
		if w.Options.On != "" && back && !over && j.Site.State.Held(state.WorkerLock(string(w.ID))) {
			count++
		}
	}
	return count
}

// look reads what is new. A journal that cannot be read has no stages: the home that uses them ends
// when it cannot read it either.
func (j *Journal) look() {
	now, err := j.Site.Ledger()
	if j.err = err; err != nil {
		j.known, j.open, j.back = nil, nil, nil
		return
	}
	var back []protocol.Pack
	known, open := map[string]home.Stage{}, map[string]bool{}
	for _, w := range now.Workers {
		if w.Options.On == "" {
			continue
		}
		gone := w.Discard != nil || w.Removal != nil
		if !gone && w.Away != nil && w.Away.Return != nil {
			back = append(back, w.Away.Return.Pack)
		}
		s, seen := j.known[string(w.ID)]
		if place := placeOf(w, s); !seen || s.Place != place {
			if s, err = stage(w); err != nil {
				continue // it cannot leave this machine
			}
			s.Place = place
		}
		s.Withdrawn = gone || w.Away == nil && w.Exit == nil
		known[s.Lease] = s
		if !gone && w.Away != nil && w.Away.Return == nil {
			open[s.Lease] = true
		}
		if t, err := j.trial(w); err == nil && !gone && t.Trial != nil {
			known[t.Lease] = t
			open[t.Lease] = w.Trial.Return == nil && !t.Withdrawn
		}
	}
	j.known, j.open, j.back = known, open, back
	j.closeScreens()
}

// placeOf names what a stage was made from: a lease, and an offer of it. One that was withdrawn or is over stays what it
// was.
func placeOf(w *ledger.Worker, before home.Stage) string {
	if w.Away == nil && before.Place != "" {
		return before.Place
	}
	place := w.Lease.Hash()
	if w.Away != nil {
		place = fmt.Sprintf("%s %d", place, w.Away.Seq)
	}
	return place
}

// trial is the test of a worker's result on a node; the zero value: there is none.
func (j *Journal) trial(w *ledger.Worker) (home.Stage, error) {
	if w.Trial == nil {
		return home.Stage{}, nil
	}
	place := fmt.Sprintf("trial %d", w.Trial.Seq)
	s := j.known[trial.Name(string(w.ID))]
	if s.Place != place {
		text, hash, err := assignment.OfTrial(w, w.Trial.Offer.Commit)
		if err != nil {
			return s, err
		}
		s = home.Stage{
			Lease: trial.Name(string(w.ID)), Terms: text, Hash: hash, Base: string(w.Trial.Offer.Commit), Until: w.Lease.Lease().Expires, Place: place,
			Needs: protocol.Needs{Memory: w.Memory}, Trial: &w.Trial.Offer.Order,
		}
	}
	s.Withdrawn = w.Trial.Withdrawn != nil
	return s, nil
}

// stage is what the lease of a worker says.
func stage(w *ledger.Worker) (home.Stage, error) {
	text, hash, err := assignment.Of(w)
	l := w.Lease.Lease()
	s := home.Stage{Lease: string(w.ID), Terms: text, Hash: hash, Base: string(l.Base), On: w.Options.On, Until: l.Expires}
	if s.On == ledger.AnyNode {
		s.On = ""
	}
	s.Needs.Memory = w.Memory
	if w.Agent != nil {
		s.Needs.Client, s.Needs.Provider, s.Needs.Model = w.Agent.Client, w.Agent.Provider(), w.Agent.Model()
	}
	return s, err
}
