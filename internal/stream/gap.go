package stream

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/client"
)

// Decision is what a hook has said to a call. Call is the client's name for it, if
// the client tells its hooks one.
type Decision struct {
	Call, Tool string
	Allowed    bool
	Votes      bool // the call is an answer of a verifier or a reviewer
}

// Form is how one client's stream is read, and what was measured of how it goes
// together with the client's hooks.
type Form struct {
	Parser   func() Parser
	Tokens   Reported // what it says about tokens
	Cost     Reported // and about US dollars
	IDs      bool     // hooks are told the IDs of the stream
	Tells    bool     // the stream says which of the failed calls were refused
	Hidden   []string // tools that start sub-agents, whose calls are not in the stream
	Unhooked []string // tools that no hook is asked about, and that do nothing here
	// Own are tools of which the client makes calls by itself, without a hook, and which
	// only read what the client has. Calls that a model made of them need a decision.
	Own []string
	// Early are tools whose calls may fail before a hook is asked. A call of one that failed has
	// done nothing, or nothing that the stream does not tell by itself.
	Early []string
	// Also are further names that hooks may have for a tool. It may be nil.
	Also func(tool string) []string
}

// Gap names the calls that ran according to a client's stream and that no hook has
// allowed: nobody was asked, or the answer was no. why says what could not be
// compared, or not as well as one would like.
//
// It says nothing about calls that the stream does not tell of.
func Gap(n client.Name, h *Form, s Summary, decided []Decision) (gap []string, why string) {
	if h == nil {
		return nil, fmt.Sprintf("the stream of %s is not understood", n)
	}
	if h.IDs {
		gap = byID(h, s.Calls, decided)
	} else {
		gap = byTool(h, s.Calls, decided)
	}
	if s.More > 0 {
		gap = append([]string{fmt.Sprintf("more than %s: not all could be compared", several(len(s.Calls), "call"))}, gap...)
	}
	if s.Unread > 0 {
		gap = append(gap, several(s.Unread, "line")+" of the stream too large to read")
	}
	return gap, strings.Join(h.doubts(n, s), "; ")
}

// byID holds each call against the decisions with its ID. Each decision counts once.
func byID(h *Form, calls []Call, decided []Decision) (gap []string) {
	allowed, refused := map[string]int{}, map[string]int{}
	for _, d := range decided {
		if id := cut(d.Call, MaxName); d.Allowed {
			allowed[id]++
		} else {
			refused[id]++
		}
	}
	votes := map[string]bool{}
	for _, c := range calls {
		if strings.HasPrefix(c.Input, "cordon review ") || strings.HasPrefix(c.Input, "cordon truth ") {
			votes[c.ID] = true
		}
		switch {
		case !c.Ran || h.spares(c):
		case allowed[c.ID] > 0:
			allowed[c.ID]--
		case refused[c.ID] > 0 && c.Failed && !h.Tells: // it failed because it was refused
			refused[c.ID]--
		case refused[c.ID] > 0:
			refused[c.ID]--
			gap = append(gap, c.line()+": it ran although it was refused")
		case c.Failed && slices.Contains(h.Early, c.Tool):
		default:
			gap = append(gap, c.line()+": no hook was asked")
		}
	}
	for _, d := range decided {
		if d.Votes && d.Allowed && !votes[cut(d.Call, MaxName)] {
			gap = append(gap, "a hook was asked about an answer (cordon review or cordon truth) that the client did not report as a call")
		}
	}
	return gap
}

// spares reports whether a call needs no decision.
func (h *Form) spares(c Call) bool {
	return slices.Contains(h.Unhooked, c.Tool) || c.Own && slices.Contains(h.Own, c.Tool)
}

func (c Call) line() string { return named(c.Tool, c.Input) }

// byTool counts the calls of each tool, and what was allowed of it. Tools whose hooks
// have more than one name come last, and take what the others have left.
func byTool(h *Form, calls []Call, decided []Decision) (gap []string) {
	allowed := map[string]int{}
	for _, d := range decided {
		if d.Allowed {
			allowed[cut(d.Tool, MaxName)]++
		}
	}
	ran, tools := counted(h, calls)
	left := map[string]int{}
	for _, tool := range tools {
		taken := min(ran[tool], allowed[tool])
		allowed[tool] -= taken
		left[tool] = ran[tool] - taken
	}
	for _, tool := range tools {
		for _, name := range h.names(tool) {
			taken := min(left[tool], allowed[name])
			allowed[name] -= taken
			left[tool] -= taken
		}
		if n := left[tool]; n > 0 {
			gap = append(gap, fmt.Sprintf("%s: %d ran and %d were allowed", OneLine(tool, 60), ran[tool], ran[tool]-n))
		}
	}
	return gap
}

// counted counts what ran, and lists the tools in the order in which they ran first.
func counted(h *Form, calls []Call) (ran map[string]int, tools []string) {
	ran = map[string]int{}
	for _, c := range calls {
		if !c.Ran || h.spares(c) {
			continue
		}
		if ran[c.Tool]++; ran[c.Tool] == 1 {
			tools = append(tools, c.Tool)
		}
	}
	return ran, tools
}

func (h *Form) names(tool string) []string {
	if h.Also == nil {
		return nil
	}
	return h.Also(tool)
}

// doubts are what makes the comparison weaker than it looks.
func (h *Form) doubts(n client.Name, s Summary) (list []string) {
	if !h.IDs && len(s.Calls) > 0 {
		list = append(list, fmt.Sprintf("%s does not tell its hooks which call of the stream they are asked about: calls were counted by tool", n))
	}
	if slices.ContainsFunc(s.Calls, func(c Call) bool { return slices.Contains(h.Hidden, c.Tool) }) {
		list = append(list, fmt.Sprintf("%s does not mark the calls of sub-agents in its stream", n))
	}
	open := 0
	for _, c := range s.Calls {
		if !c.Ended && !c.Ran {
			open++
		}
	}
	if open > 0 {
		list = append(list, fmt.Sprintf("%s had not ended", several(open, "call")))
	}
	if s.Unknown > 0 {
		list = append(list, fmt.Sprintf("%s of the stream were not understood", several(s.Unknown, "line")))
	}
	return list
}
