package screens

import "strings"

// Step is a step of a worker as its transcript tells it: words of the agent, a tool call, a call
// that failed, or a remark.
type Step struct {
	Kind string // said, call, failed or note
	Tool string // of a call
	Text string
}

// stepMarks are how a transcript begins a line that is not the agent's words.
var stepMarks = map[string]string{"→ ": "call", "✗ ": "failed", "! ": "note"}

// Steps reads the transcript of an agent as a timeline. Whatever has no mark is words.
func Steps(transcript string) (list []Step) {
	for line := range strings.Lines(transcript) {
		line = strings.TrimRight(line, "\n")
		s := stepOf(line)
		if n := len(list); s.Kind == "said" && n > 0 && list[n-1].Kind == "said" {
			list[n-1].Text += "\n" + line
			continue
		}
		if s.Kind != "said" || strings.TrimSpace(line) != "" {
			list = append(list, s)
		}
	}
	return list
}

func stepOf(line string) Step {
	text := strings.TrimPrefix(line, "  ") // of a sub-agent
	for mark, kind := range stepMarks {
		rest, ok := strings.CutPrefix(text, mark)
		if !ok {
			continue
		}
		if kind == "note" {
			return Step{Kind: kind, Text: rest}
		}
		tool, input, _ := strings.Cut(rest, "  ")
		return Step{Kind: kind, Tool: tool, Text: input}
	}
	return Step{Kind: "said", Text: line}
}

// Sign and Class are how a step is shown; its kind is also said in words.
func (s Step) Sign() string {
	return map[string]string{"call": "→", "failed": "✗", "note": "!"}[s.Kind]
}

// Class is the class of its colour.
func (s Step) Class() string {
	return map[string]string{"call": "run", "failed": "bad", "note": "hold"}[s.Kind]
}
