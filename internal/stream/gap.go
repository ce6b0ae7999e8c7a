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
}

// habits are what was measured of how a client's stream and its hooks go together.
type habits struct {
	ids    bool     // hooks are told the IDs of the stream
	tells  bool     // the stream says which of the failed calls were refused
	hidden []string // tools that start sub-agents, whose calls are not in the stream
	// unhooked are tools that no hook is asked about, and that do nothing here.
	unhooked []string
	// also are further names that hooks may have for a tool.
	also func(tool string) []string
}

var habitsOf = map[client.Name]habits{
	client.Claude:   {ids: true, tells: true},
	client.Codex:    {tells: true, hidden: []string{"spawn_agent"}, unhooked: []string{"web_search"}, also: codexAlso},
	client.Gemini:   {tells: true, hidden: []string{"invoke_agent"}},
	client.OpenCode: {ids: true, hidden: []string{"task"}},
	client.Copilot:  {tells: true, unhooked: []string{"read_bash"}}, // it looks by itself what a command has printed since
}

// codexAlso knows that a patch may be the text of a shell command, which Codex takes
// out of it after the hook was asked; and that most of the tools that go with
// sub-agents have their namespace before their name. Its web_search, above, is run
// by the provider of the model.
func codexAlso(tool string) []string {
	switch tool {
	case "apply_patch":
		return []string{"Bash"}
	case "spawn_agent", "send_input", "resume_agent", "close_agent", "wait", "wait_agent":
		name := strings.TrimSuffix(tool, "_agent")
		return []string{"multi_agent_v1" + tool, "multi_agent_v1" + name + "_agent", name + "_agent"}
	}
	return nil
}

// Gap names the calls that ran according to a client's stream and that no hook has
// allowed: nobody was asked, or the answer was no. why says what could not be
// compared, or not as well as one would like.
//
// It says nothing about calls that the stream does not tell of.
func Gap(n client.Name, s Summary, decided []Decision) (gap []string, why string) {
	h, known := habitsOf[n]
	if !known {
		return nil, fmt.Sprintf("the stream of %s is not understood", n)
	}
	if h.ids {
		gap = byID(h, s.Calls, decided)
	} else {
		gap = byTool(h, s.Calls, decided)
	}
	if s.More > 0 {
		gap = append([]string{fmt.Sprintf("more than %s: not all could be compared", several(len(s.Calls), "call"))}, gap...)
	}
	if s.Unread > 0 {
		gap = append(gap, several(s.Unread, "line")+" of the stream too large to be read")
	}
	return gap, strings.Join(h.doubts(n, s), "; ")
}

// byID holds each call against the decisions with its ID. Each decision counts once.
func byID(h habits, calls []Call, decided []Decision) (gap []string) {
	allowed, refused := map[string]int{}, map[string]int{}
	for _, d := range decided {
		if id := cut(d.Call, maxName); d.Allowed {
			allowed[id]++
		} else {
			refused[id]++
		}
	}
	for _, c := range calls {
		switch {
		case !c.Ran || slices.Contains(h.unhooked, c.Tool):
		case allowed[c.ID] > 0:
			allowed[c.ID]--
		case refused[c.ID] > 0 && c.Failed && !h.tells: // it failed because it was refused
			refused[c.ID]--
		case refused[c.ID] > 0:
			refused[c.ID]--
			gap = append(gap, c.line()+": it ran although it was refused")
		default:
			gap = append(gap, c.line()+": no hook was asked")
		}
	}
	return gap
}

func (c Call) line() string { return named(c.Tool, c.Input) }

// byTool counts the calls of each tool, and what was allowed of it. Tools whose hooks
// have more than one name come last, and take what the others have left.
func byTool(h habits, calls []Call, decided []Decision) (gap []string) {
	allowed := map[string]int{}
	for _, d := range decided {
		if d.Allowed {
			allowed[cut(d.Tool, maxName)]++
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
			gap = append(gap, fmt.Sprintf("%s: %d ran and %d were allowed", oneLine(tool, 60), ran[tool], ran[tool]-n))
		}
	}
	return gap
}

// counted counts what ran, and lists the tools in the order in which they ran first.
func counted(h habits, calls []Call) (ran map[string]int, tools []string) {
	ran = map[string]int{}
	for _, c := range calls {
		if !c.Ran || slices.Contains(h.unhooked, c.Tool) {
			continue
		}
		if ran[c.Tool]++; ran[c.Tool] == 1 {
			tools = append(tools, c.Tool)
		}
	}
	return ran, tools
}

func (h habits) names(tool string) []string {
	if h.also == nil {
		return nil
	}
	return h.also(tool)
}

// doubts are what makes the comparison weaker than it looks.
func (h habits) doubts(n client.Name, s Summary) (list []string) {
	if !h.ids && len(s.Calls) > 0 {
		list = append(list, fmt.Sprintf("%s does not tell its hooks which call of the stream they are asked about: calls were counted by tool", n))
	}
	if slices.ContainsFunc(s.Calls, func(c Call) bool { return slices.Contains(h.hidden, c.Tool) }) {
		list = append(list, fmt.Sprintf("%s does not tell the calls of sub-agents in its stream", n))
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
