package client

import (
	"bytes"
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
func (d *Dialect) Encode(v Verdict, event Event) Answer {
	if v.Decision == Allow {
		return Answer{}
	}
	if said := d.said(v, event); len(said) > 0 {
		return Answer{Stdout: said}
	}
	if v.Decision == Warn {
		return Answer{} // a client without a word for it would take one for something else
	}
	return d.refused(v.Message, event)
}

// refused is the refusal of a call that was judged.
func (d *Dialect) refused(text string, event Event) Answer {
	a := d.Denial(text)
	if d.RefusesWithZero && event == PreTool {
		if said := d.Refusal(strings.TrimSuffix(string(a.Stderr), "\n")); len(said) > 0 {
			return Answer{Stdout: said}
		}
	}
	return a
}

// said is what the client is told of a warning, or of a question that it can ask.
func (d *Dialect) said(v Verdict, event Event) []byte {
	asks := v.Decision == Ask && v.Interactive
	warns := v.Decision == Warn && v.Message != ""
	if d.Say == nil || event != PreTool || !asks && !warns {
		return nil
	}
	v.Message = clean(v.Message)
	return d.Say(v)
}

// Denial is the refusal that every client obeys: code 2, a text on stderr and
// nothing on stdout, but for a client that reads the text there.
func (d *Dialect) Denial(text string) Answer {
	a := Denial(string(d.Name), text)
	if d.Refusal != nil && !d.RefusesWithZero {
		a.Stdout = d.Refusal(strings.TrimSuffix(string(a.Stderr), "\n"))
	}
	return a
}

// Denial is the refusal of a client that is not known, and of everything that goes
// wrong; client is only named in it if there is no text.
func Denial(client, text string) Answer {
	text = strings.TrimSpace(clean(text))
	if text == "" {
		text = "BLOCKED: cordon refuses this call"
		if client != "" {
			text += " of " + strings.TrimSpace(clean(client))
		}
		text += " and cannot say why."
	}
	return Answer{Stderr: []byte(text + "\n"), Exit: denied}
}

// Refuses reports whether the client obeys an answer as a refusal and passes its text on.
func (d *Dialect) Refuses(a Answer) bool {
	if d.RefusesWithZero && a.Exit == 0 {
		return d.IsRefusal(a.Stdout)
	}
	told := len(a.Stdout) == 0
	if d.IsRefusal != nil && !d.RefusesWithZero {
		told = d.IsRefusal(a.Stdout)
	}
	return a.Exit == denied && told && len(bytes.TrimSpace(a.Stderr)) > 0
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
