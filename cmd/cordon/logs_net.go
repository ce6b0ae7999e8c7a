package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/launch"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// reached prints what a worker tried to reach.
func (a *app) reached(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	shown := view.Network{Worker: string(w.ID), Decisions: []view.Attempt{}}
	t, err := s.Reached(w, func(r record.Record) { shown.Decisions = append(shown.Decisions, attemptView(r)) })
	if err != nil {
		return err
	}
	if a.json {
		shown.Tally = *tallyView(&t)
		return a.object(&shown)
	}
	altered, err := s.Altered(ctx, w, t)
	if err != nil {
		return err
	}
	if altered {
		a.say("%s: the record is not what the journal says it was when the worker ended", w.ID)
	}
	if len(shown.Decisions) == 0 {
		a.say("%s", nothingReached(w))
		return nil
	}
	room := terminal.Width(a.out)
	for _, r := range shown.Decisions {
		for _, line := range reachedLines(r, room) {
			a.print("%s", line)
		}
	}
	a.sayLines(t)
	return nil
}

// nothingReached says why there is nothing to show.
func nothingReached(w *ledger.Worker) string {
	switch p := w.Lease.Lease().Policy; {
	case p.Isolation == policy.None:
		return fmt.Sprintf("%s had no cell, so nothing of what it reached is recorded", w.ID)
	case !cellnet.Recorded(p):
		return fmt.Sprintf("%s had no network, and nothing is recorded without network.observe", w.ID)
	}
	return fmt.Sprintf("%s has tried to reach nothing that was recorded", w.ID)
}

// sayLines tells what was tried in a few lines.
func (a *app) sayLines(t record.Tally) {
	for _, line := range t.Lines() {
		a.say("  %s", oneLine(line))
	}
}

// wideColumns is what the columns of a decision take where there is room for all.
const wideColumns = 130

// reachedLines are one decision in columns, and its reason. Names are the worker's
// words.
func reachedLines(r view.Attempt, room int) []string {
	when, name, process := "2006-01-02 15:04:05", 40, 14
	narrow := room < wideColumns
	if narrow {
		when, name, process = "15:04:05", min(max(28, room-52), 40), 9
	}
	line := fmt.Sprintf("%s  %-6s  %-*s  %-*s  %s", r.Time.Local().Format(when), verdictWord(r), name,
		terminal.Clip(oneLine(destination(r)), name), process, terminal.Clip(oneLine(r.Process), process), detail(r, narrow))
	lines := []string{terminal.Clip(strings.TrimRight(line, " "), room)}
	reason := oneLine(r.Reason)
	if r.Various && reason != "" {
		reason = "at first: " + reason
	}
	if narrow { // in two lines, as much as a wide terminal has in one
		for _, part := range wrapped(terminal.Clip(reason, 110), max(room-10, 20)) {
			lines = append(lines, terminal.Clip("          "+part, room))
		}
	} else if reason != "" {
		lines = append(lines, "          "+terminal.Clip(reason, 110))
	}
	return lines
}

func verdictWord(r view.Attempt) string {
	if r.Kind == string(record.End) {
		return "end"
	}
	return r.Verdict
}

// detail is the last column of a decision.
func detail(r view.Attempt, narrow bool) string {
	what := ""
	switch kind := record.Kind(r.Kind); {
	case kind == record.End && narrow:
		what = fmt.Sprintf("%s out, %s in", terminal.Size(r.Sent), terminal.Size(r.Received))
	case kind == record.End:
		what = fmt.Sprintf("%s sent, %s received, %s", terminal.Size(r.Sent), terminal.Size(r.Received), time.Duration(r.Millis)*time.Millisecond)
	case kind == record.Resolve && r.Verdict == string(record.Allowed):
		what = "name looked up"
	case kind == record.Resolve:
		what = "name"
	case kind == record.Packet:
		what = "packet"
	}
	if r.Count > 1 {
		what = strings.TrimSpace(fmt.Sprintf("%s ×%d", what, r.Count))
	}
	return what
}

// destination is what was tried, with the real address where there is a name too.
func destination(r view.Attempt) string {
	port := ""
	if r.Port > 0 {
		port = ":" + strconv.Itoa(r.Port)
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
		return a.object(&view.Suggestion{Worker: string(w.ID), Domains: names, Ports: ports})
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
		note := ""
		if preset := target.PresetOf(entry); preset != "" {
			note = " # part of " + preset
		}
		a.print("    - %s%s", record.Quoted(entry), note)
	}
	if len(ports) > 0 {
		a.print("  host_ports: %s", strings.ReplaceAll(fmt.Sprint(ports), " ", ", "))
	}
	a.say("the worker chose these, and each would be a way out for what it reads: add those that you know")
	return nil
}

// suggested is never null in JSON.
func suggested(t record.Tally) (names []string, ports []int) {
	return append([]string{}, t.Suggest()...), append([]int{}, t.SuggestPorts()...)
}

// sayReached tells at the end of a run what the worker tried to reach, and what to
// write into the policy to let the rest pass.
func (a *app) sayReached(s *session.Session, before, after *ledger.Worker) {
	t := launch.TriedSince(s.Site, before)
	if t == nil {
		return
	}
	a.sayLines(*t)
	names, ports := suggested(*t)
	if after != nil && after.Quarantine != nil && len(names)+len(ports) > 0 {
		a.say("  (the worker chose these, and it is in quarantine: allow only what you know)")
	}
}

// sayUnreached tells of a command that failed what it may have missed: a worker's, or
// the one of setup that err is about.
func (a *app) sayUnreached(before, w *ledger.Worker, err error) {
	hint, p := "", before.Lease.Lease().Policy
	var setup *launch.SetupError
	switch {
	case errors.As(err, &setup):
		hint = cellnet.Unreached(p, setup.Layers, setup.Exit)
	case err == nil && w.Start != nil && w.Exit != nil:
		hint = cellnet.Unreached(p, w.Start.Layers, *w.Exit)
	}
	if hint != "" {
		a.say("  %s", hint)
	}
}

// netRows are the rows of show about what a worker may reach, all of it, and what it
// tried.
func netRows(w *ledger.Worker) (rows [][]string) {
	layers := append(cell.Every(), cell.Network)
	if w.Start != nil && !unstarted(w) {
		layers = w.Start.Layers
	}
	lines := cellnet.AllReachable(w.Lease.Lease().Policy, layers)
	if t := w.Net; t != nil {
		lines = append(lines, worksite.Summed(*t)+"; cordon logs --net "+string(w.ID))
	}
	for _, line := range lines {
		for _, part := range wrapped(line, showColumns) {
			rows = append(rows, []string{"", part})
		}
	}
	if len(rows) > 0 {
		rows[0][0] = "network"
	}
	return rows
}

// showColumns is what show has for a list beside its first column.
const showColumns = 68

// wrapped is a text in lines of so many columns, or a word.
func wrapped(text string, columns int) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last < 0 || utf8.RuneCountInString(lines[last]+" "+word) > columns {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return lines
}
