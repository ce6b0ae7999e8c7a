// Package notify tells the operator that a worker needs them: with the bell and the
// notification sequences of their terminal, on their desktop, with a command of theirs,
// and with a signed request to a server of theirs.
//
// It refuses to send more than one short clean line, and words of the agent unless the
// operator asked for them. It refuses to decide that a notification is due, and to repeat
// one: package session does that, from the journal. That a notification did not get
// through is said and changes nothing else.
package notify

import (
	"strings"
	"unicode"

	"cordon/internal/legible"
)

// most is how many characters a message has at most.
const most = 140

// Message is one notification.
type Message struct {
	Worker     string
	State      string // the word for it
	Repository string // the name of its directory
	Says       string // in words of cordon's: why a person is needed
	Agent      string // words of the agent's; "" unless the operator wants them
}

// Text is the message as one line of at most 140 characters, none of which acts on a
// terminal or hides.
func (m Message) Text() string {
	text := m.Worker + " in " + m.Repository + ": " + m.Says
	if m.Agent != "" {
		text += ": " + m.Agent
	}
	return clean(text)
}

func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || legible.Silent(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = legible.Line(s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// sequence is what makes a terminal ring and show a notification. Terminals know one
// of two forms; one that knows neither ignores what it is sent, and the console of the
// kernel and dumb terminals are only rung.
func sequence(text string, getenv func(string) string) string {
	term := getenv("TERM")
	switch {
	case term == "" || term == "dumb" || term == "linux":
		return "\a"
	case getenv("VTE_VERSION") != "" || strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot"):
		return "\a\x1b]777;notify;cordon;" + text + "\a"
	}
	return "\a\x1b]9;cordon: " + text + "\a"
}
