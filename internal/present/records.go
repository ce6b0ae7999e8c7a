package present

import (
	"cordon/internal/egress/record"
	"cordon/internal/guard"
	"cordon/internal/view"
)

func GuardView(t *guard.Tally) *view.Guard {
	if t == nil {
		return nil
	}
	v := view.Guard(*t)
	return &v
}

func DecisionView(r guard.Record) view.Decision {
	return view.Decision{
		Time: r.Time, Client: r.Client, Session: r.Session, Call: r.Call, Event: r.Event, Tool: r.Tool, Input: r.Input,
		Verdict: string(r.Verdict), Warned: r.Warned, Reason: r.Reason,
	}
}

func StepView(s guard.Step) view.Step {
	return view.Step{
		Line: s.Line, Dir: s.Dir, Does: s.Does, Path: s.Path, Leads: s.Leads, Place: string(s.Place), Verdict: string(s.Verdict), Why: s.Why,
	}
}

func TallyView(t *record.Tally) *view.Tally {
	if t == nil {
		return nil
	}
	v := &view.Tally{
		Allowed: t.Allowed, Refused: t.Refused, Failed: t.Failed, Sent: t.Sent, Received: t.Received, Resolved: t.Resolved,
		More: t.More, Left: t.Left, Crowded: t.Crowded, Damaged: t.Damaged, Digest: t.Digest,
	}
	for _, one := range t.Tried {
		v.Tried = append(v.Tried, view.Tried{
			Kind: string(one.Kind), Name: one.Name, Port: int(one.Port), Verdict: string(one.Verdict), Reason: one.Reason,
			Various: one.Various, Allow: one.Allow, Count: one.Count, Sent: one.Sent, Received: one.Received,
		})
	}
	return v
}

func AttemptView(r record.Record) view.Attempt {
	return view.Attempt{
		Time: r.Time, Kind: string(r.Kind), ID: r.ID, Name: r.Name, Address: r.Address, Port: int(r.Port), Verdict: string(r.Verdict),
		Reason: r.Reason, Various: r.Various, Allow: r.Allow, Process: r.Process,
		Sent: r.Sent, Received: r.Received, Millis: r.Millis, Count: r.Count,
	}
}
