package main

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"cordon/internal/cell"
	"cordon/internal/egress"
	"cordon/internal/ledger"
	"cordon/internal/session"
)

// reached prints what a worker tried to reach.
func (a *app) reached(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	list := []egress.Record{}
	t, err := s.Reached(w, func(r egress.Record) { list = append(list, r) })
	if err != nil {
		return err
	}
	if a.json {
		return a.object("cordon.network/1", map[string]any{"worker": w.ID, "tally": t, "decisions": list})
	}
	altered, err := s.Altered(ctx, w, t)
	if err != nil {
		return err
	}
	if altered {
		a.say("%s: the record is not what the journal says it was when the worker ended", w.ID)
	}
	if len(list) == 0 {
		a.say("%s has tried to reach nothing that was recorded", w.ID)
		return nil
	}
	for _, r := range list {
		a.print("%s", reachedLine(r))
		switch {
		case r.Reason != "" && r.Various:
			a.print("          %s", clip("at first: "+oneLine(r.Reason), 110))
		case r.Reason != "":
			a.print("          %s", clip(oneLine(r.Reason), 110))
		}
	}
	a.sayLines(t)
	return nil
}

// sayLines tells what was tried in a few lines.
func (a *app) sayLines(t egress.Tally) {
	for _, line := range t.Lines() {
		a.say("  %s", oneLine(line))
	}
}

// reachedLine is one decision in columns. Names are the worker's words.
func reachedLine(r egress.Record) string {
	verdict, what := string(r.Verdict), ""
	switch r.Kind {
	case egress.End:
		verdict = "end"
		what = fmt.Sprintf("%s sent, %s received, %s", size(r.Sent), size(r.Received), time.Duration(r.Millis)*time.Millisecond)
	case egress.Resolve:
		what = "name"
		if r.Verdict == egress.Allowed {
			what = "name looked up"
		}
	case egress.Packet:
		what = "packet"
	}
	if r.Count > 1 {
		what = strings.TrimSpace(fmt.Sprintf("%s ×%d", what, r.Count))
	}
	line := fmt.Sprintf("%s  %-6s  %-40s  %-14s  %s", r.Time.Local().Format("2006-01-02 15:04:05"), verdict,
		clip(oneLine(destination(r)), 40), clip(oneLine(r.Process), 14), what)
	return strings.TrimRight(line, " ")
}

// destination is what was tried, with the real address where there is a name too.
func destination(r egress.Record) string {
	port := ""
	if r.Port > 0 {
		port = ":" + strconv.Itoa(int(r.Port))
	}
	if r.Name == "" {
		if a, err := netip.ParseAddr(r.Address); err == nil && a.Is6() && port != "" {
			return "[" + r.Address + "]" + port
		}
		return r.Address + port
	}
	if r.Address != "" {
		return r.Name + port + " " + r.Address
	}
	return r.Name + port
}

// suggest prints what a worker was refused as lines for its policy. What was
// refused is what the worker asked for: a person has to read it.
func (a *app) suggest(s *session.Session, w *ledger.Worker) error {
	t, err := s.Reached(w, nil)
	if err != nil {
		return err
	}
	names, ports := suggested(t)
	if a.json {
		return a.object("cordon.suggestion/1", map[string]any{"worker": w.ID, "allowed_domains": names, "host_ports": ports})
	}
	if len(names)+len(ports) == 0 {
		a.say("%s was refused nothing that a policy could allow", w.ID)
		return nil
	}
	a.print("network:")
	if len(names) > 0 {
		a.print("  allowed_domains:")
	}
	for _, entry := range names {
		a.print("    - %s", egress.Quoted(entry))
	}
	if len(ports) > 0 {
		a.print("  host_ports: %s", strings.ReplaceAll(fmt.Sprint(ports), " ", ", "))
	}
	a.say("the worker chose these, and each would be a way out for what it reads: add those that you know")
	return nil
}

// suggested is never null in JSON.
func suggested(t egress.Tally) (names []string, ports []int) {
	return append([]string{}, t.Suggest()...), append([]int{}, t.SuggestPorts()...)
}

// sayReached tells at the end of a run what the worker tried to reach, and what to
// write into the policy to let the rest pass.
func (a *app) sayReached(s *session.Session, before *ledger.Worker) {
	if t := s.TriedSince(before); t != nil {
		a.sayLines(*t)
	}
}

// netWord is what a worker may reach, and what it tried, in a line.
func netWord(w *ledger.Worker) string {
	layers := append(cell.Every(), cell.Network)
	if w.Start != nil && !unstarted(w) {
		layers = w.Start.Layers
	}
	parts := session.Reachable(w.Lease.Lease().Policy, layers)
	if t := w.Net; t != nil {
		parts = append(parts, session.Summed(*t), "cordon logs --net "+string(w.ID))
	}
	return strings.Join(parts, "; ")
}
