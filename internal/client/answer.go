package client

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Decision is what became of a call.
type Decision string

// The decisions. Ask is a denial wherever nobody can be asked.
const (
	Deny  Decision = "deny"
	Ask   Decision = "ask"
	Warn  Decision = "warn" // allowed, and told
	Allow Decision = "allow"
)

// Verdict is a decision and what to say about it.
type Verdict struct {
	Decision    Decision
	Message     string
	Interactive bool // somebody sits before the client: it may ask
}

// Answer is what a hook has to print and how it has to end.
type Answer struct {
	Stdout, Stderr []byte
	Exit           int
}

// denied is the code that every client takes for a refusal, if something is
// written to stderr and nothing to stdout.
const denied = 2

const maxMessage = 8 << 10

// Encode is the answer to an event in a client's dialect. Allow says nothing at
// all: there is no word for it that no client misunderstands.
func Encode(n Name, v Verdict, event Event) Answer {
	switch {
	case v.Decision == Allow:
		return Answer{}
	case v.Decision == Warn && n == Claude && event == PreTool && v.Message != "":
		return said(output{Event: "PreToolUse", Context: clean(v.Message)}, v.Message)
	case v.Decision == Warn:
		return Answer{} // only Claude is known to pass a word on without taking it for something else
	case v.Decision == Ask && v.Interactive && n == Claude && event == PreTool:
		return said(output{Event: "PreToolUse", Decision: "ask", Reason: clean(v.Message)}, v.Message)
	}
	return Denial(string(n), v.Message)
}

// output is what Claude reads on stdout.
type output struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

func said(o output, otherwise string) Answer {
	b, err := json.Marshal(struct {
		Output output `json:"hookSpecificOutput"`
	}{o})
	if err != nil {
		return Denial(string(Claude), otherwise)
	}
	return Answer{Stdout: append(b, '\n')}
}

// Denial is the refusal that every client obeys: code 2, a text on stderr and
// nothing on stdout, but for Copilot, which reads the text there. It is also the answer to a client that is not known and to
// everything that goes wrong; client is only named in it if there is no text.
func Denial(client, text string) Answer {
	text = strings.TrimSpace(clean(text))
	if text == "" {
		text = "BLOCKED: cordon refuses this call"
		if client != "" {
			text += " of " + strings.TrimSpace(clean(client))
		}
		text += " and cannot say why."
	}
	a := Answer{Stderr: []byte(text + "\n"), Exit: denied}
	if Name(client) == Copilot {
		a.Stdout = copilotDenial(text)
	}
	return a
}

// Refuses reports whether a client obeys an answer as a refusal and passes its text on.
func (a Answer) Refuses(n Name) bool {
	told := len(a.Stdout) == 0
	if n == Copilot {
		told = bytes.HasPrefix(a.Stdout, []byte(`{"permissionDecision":"deny",`))
	}
	return a.Exit == denied && told && len(bytes.TrimSpace(a.Stderr)) > 0
}

// copilotDenial is what Copilot shows its model of a refusal: to it the code alone
// refuses, and what is on stderr is not passed on.
func copilotDenial(text string) []byte {
	b, err := compact(object{{"permissionDecision", "deny"}, {"permissionDecisionReason", text}})
	if err != nil {
		return nil // it refuses all the same
	}
	return append(b, '\n')
}

// clean is text that a terminal and a model can be shown: what is not printed, a
// control sequence above all, is left out.
func clean(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + " …"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.IsGraphic(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "?"))
}
