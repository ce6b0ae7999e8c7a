package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/terminal"
)

// clientProof is the last launch in which the hook of a client was seen alive.
type clientProof struct {
	Worker  string
	Version string
	At      time.Time
	Event   string
	Calls   int // of the worker's, that its guard judged
	Denied  int // of those
}

func (p clientProof) what() string {
	return fmt.Sprintf("%s; %s judged, %d denied", p.Event, terminal.Plural(p.Calls, "call"), p.Denied)
}

// hooksProven reads from the journal of the repository around when the hook of each
// client was last proven. Without a repository, or with a journal that cannot be
// read, nothing was: other lines say what is wrong there.
func hooksProven(ctx context.Context, dir string) map[string]*clientProof {
	s, err := session.Open(ctx, dir)
	if err != nil {
		return nil
	}
	l, err := s.History()
	if err != nil {
		return nil
	}
	return lastProofs(l)
}

func lastProofs(l *ledger.Ledger) map[string]*clientProof {
	wired, proofs := map[string]ledger.Wiring{}, map[string]*clientProof{}
	for _, e := range l.Events {
		switch e.Type {
		case ledger.Wired:
			var w ledger.Wiring
			if decoded(e, &w) {
				wired[e.Worker] = w
			}
		case ledger.Proven:
			var p ledger.Proof
			if w, ok := wired[e.Worker]; ok && decoded(e, &p) {
				proofs[w.Client] = &clientProof{Worker: e.Worker, Version: w.Version, At: e.Time, Event: p.Event}
			}
		}
	}
	for _, p := range proofs {
		for _, w := range l.Workers {
			if string(w.ID) == p.Worker && w.Guard != nil {
				p.Calls, p.Denied = w.Guard.Calls, w.Guard.Denied
			}
		}
	}
	return proofs
}

func decoded(e journal.Event, into any) bool { return json.Unmarshal(e.Data, into) == nil }
