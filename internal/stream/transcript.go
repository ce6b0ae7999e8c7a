package stream

import (
	"fmt"
	"strings"

	"cordon/internal/legible"
)

// transcriptLine is how much of a call or of an error is shown.
const transcriptLine = 120

// transcript tells a person what a stream says: the agent's words as they are, a
// line for each call, a line for each that failed. Nothing in it can act on a
// terminal.
type transcript struct{ to sink }

func (t *transcript) add(i Item) {
	switch i.Kind {
	case Said:
		t.paragraph(i.Under, i.Text)
	case Called:
		t.say(i.Under, "→ %s", named(i.Call.Tool, i.Call.Input))
	case Told:
		if i.Failed {
			t.say(i.Under, "✗ %s", named(i.Call.Tool, firstLine(refusal(i.Text), transcriptLine)))
		}
	case Noted:
		t.say(i.Under, "! %s", firstLine(i.Text, transcriptLine))
	case Over:
		if i.Failed {
			t.say("", "! it ended: %s", firstLine(i.Reason, transcriptLine))
		}
	case Unknown:
		if text := strings.TrimSpace(i.Text); !strings.HasPrefix(text, "{") {
			t.paragraph("", text)
		}
	}
}

// refusal leaves out what a client says before the guard's own words.
func refusal(text string) string {
	for _, word := range []string{"BLOCKED: ", "ANSWERED: ", "ASKED: "} {
		if _, words, ok := strings.Cut(text, word); ok {
			return word + words
		}
	}
	return text
}

// end says what was used.
func (t *transcript) end(s Summary) {
	if line := s.Line(); line != "" {
		t.say("", "%s", line)
	}
}

// say writes a line; one of a sub-agent is set in.
func (t *transcript) say(under, format string, args ...any) {
	t.to.write([]byte(indent(under) + fmt.Sprintf(format, args...) + "\n"))
}

// paragraph writes words.
func (t *transcript) paragraph(under, text string) {
	text = strings.TrimRight(legible.Plain(text), "\n\t ")
	if text == "" {
		return
	}
	in := indent(under)
	t.to.write([]byte(in + strings.ReplaceAll(text, "\n", "\n"+in) + "\n"))
}

func indent(under string) string {
	if under == "" {
		return ""
	}
	return "  "
}

func named(tool, text string) string {
	return strings.TrimRight(OneLine(tool, 60)+"  "+OneLine(text, transcriptLine), " ")
}

// Line is the numbers of a summary in a line: those that are known.
func (s Summary) Line() string {
	var parts []string
	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	u := s.Usage
	add(len(s.Calls) > 0, "%s", several(len(s.Calls)+s.More, "call"))
	add(u.Input > 0 || u.Output > 0, "%s tokens in, %s out", thousands(u.Input), thousands(u.Output))
	add(u.Cost >= 0.005, "$%.2f", u.Cost)
	add(u.Cost > 0 && u.Cost < 0.005, "$%.4f", u.Cost)
	add(u.Turns > 0, "%s", several(u.Turns, "turn"))
	return strings.Join(parts, ", ")
}

func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(n) + " " + thing + "s"
}
