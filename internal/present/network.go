package present

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/agent/facts"
	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/egress/record"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/policy"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// nothingReached says why there is nothing to show.
func NothingReached(w *ledger.Worker) string {
	switch p := w.Lease.Lease().Policy; {
	case p.Isolation == policy.None:
		return fmt.Sprintf("%s had no cell, so nothing of what it reached is recorded", w.ID)
	case !cellnet.Recorded(p):
		return fmt.Sprintf("%s had no network, and nothing is recorded without network.observe", w.ID)
	}
	return fmt.Sprintf("%s has tried to reach nothing that was recorded", w.ID)
}

// reachedLines are one decision in columns, and its reason. Names are the worker's
// words.
func ReachedLines(r view.Attempt, room int) []string {
	when, name, process := "2006-01-02 15:04:05", 40, 14
	narrow := room < wideColumns
	if narrow {
		when, name, process = "15:04:05", min(max(28, room-52), 40), 9
	}
	line := fmt.Sprintf("%s  %-6s  %-*s  %-*s  %s", r.Time.Local().Format(when), verdictWord(r), name,
		terminal.Clip(legible.Line(destination(r)), name), process, terminal.Clip(legible.Line(r.Process), process), detail(r, narrow))
	lines := []string{terminal.Clip(strings.TrimRight(line, " "), room)}
	reason := legible.Line(r.Reason)
	if r.Various && reason != "" {
		reason = "at first: " + reason
	}
	if narrow { // in two lines, as much as a wide terminal has in one
		for _, part := range Wrapped(terminal.Clip(reason, 110), max(room-10, 20)) {
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

// suggested is never null in JSON.
func Suggestion(t record.Tally) (names []string, ports []int) {
	return append([]string{}, t.Suggest()...), append([]int{}, t.SuggestPorts()...)
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
		for _, part := range Wrapped(line, showColumns) {
			rows = append(rows, []string{"", part})
		}
	}
	if len(rows) > 0 {
		rows[0][0] = "network"
	}
	return rows
}

// wrapped is a text in lines of so many columns, or a word.
func Wrapped(text string, columns int) (lines []string) {
	var line []byte
	wide := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if len(line) > 0 && wide+1+n > columns {
			lines, line = append(lines, string(line)), line[:0]
		}
		if len(line) == 0 {
			line, wide = append(line, word...), n
			continue
		}
		line, wide = append(append(line, ' '), word...), wide+1+n
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}

// OwnNames say which of the names that a worker was refused its client asks for by itself, so that nobody allows
// them for the agent's sake.
func OwnNames(w *ledger.Worker, t record.Tally) []string {
	if w == nil || w.Agent == nil {
		return nil
	}
	c := facts.Named(w.Agent.Client)
	if c == nil {
		return nil
	}
	var lines []string
	for _, asks := range c.Asks {
		if slices.ContainsFunc(t.Tried, func(one record.Tried) bool { return one.Verdict == record.Refused && one.Name == asks.Name }) {
			lines = append(lines, fmt.Sprintf("(%s asks for %s itself, for %s; it works without)", c.Name, asks.Name, asks.Why))
		}
	}
	return lines
}
