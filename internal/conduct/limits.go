package conduct

import (
	"fmt"
	"time"

	"cordon/internal/ledger"
	"cordon/internal/plan"
)

// backOff leaves out the stages whose provider is asked too often, because one of its workers met the limit: all of them
// share one back-off. Waits gets the reason, and wake is when the first of them may start.
func (r *running) backOff(report Report, next []plan.Standing, waits map[string]string) (start []plan.Standing, wake time.Time) {
	store, now := r.session.BackOffs(), r.session.Now()
	for _, st := range next {
		id := st.Stage.ID
		who := doer(report.Run, st)
		if r.active[id] || r.stuck[id] != "" || who == nil || who.client == "" {
			start = append(start, st)
			continue
		}
		agent := ledger.Agent{Client: who.client, Args: who.args}
		w, limited := store.Until(agent.Provider(), now)
		if !limited {
			delete(r.waiting, id)
			start = append(start, st)
			continue
		}
		waits[id] = fmt.Sprintf("waits until %s: the provider of %s is asked too often", w.Until.Local().Format("15:04:05"), who.client)
		if r.waiting[id] != waits[id] {
			r.waiting[id] = waits[id]
			r.conductor.say(id, "waits", "%s (%s)", waits[id], w.Why)
		}
		if wake.IsZero() || w.Until.Before(wake) {
			wake = w.Until
		}
	}
	return start, wake
}

// doer is who would do the job of a stage; nil: nobody has to.
func doer(run *ledger.PlanRun, st plan.Standing) *performer {
	switch st.Job {
	case plan.Confirm, plan.Settle:
		return verifier(run, st.Stage)
	case plan.Examine:
		return reviewer(run, st.Stage)
	case plan.Admit:
		return nil
	}
	return author(run, st.Stage)
}
