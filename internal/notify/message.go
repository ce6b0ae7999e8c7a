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

// Sequence is what makes a terminal ring and show a message, for one who writes to it.
func Sequence(m Message, getenv func(string) string) string { return sequence(m.Text(), getenv) }

// sequence is what makes a terminal ring and show a notification. Terminals know one
// of three forms; one that knows none ignores what it is sent. The console of the kernel and
// dumb terminals are only rung, and so are multiplexers that hand nothing on. tmux rings itself
// and hands the rest on if its option allow-passthrough is set.
func sequence(text string, getenv func(string) string) string {
	term := getenv("TERM")
	switch {
	case term == "" || term == "dumb" || term == "linux" || getenv("ZELLIJ") != "":
		return "\a"
	case getenv("TMUX") != "":
		return "\a\x1bPtmux;" + strings.ReplaceAll(shown(text, term, getenv), "\x1b", "\x1b\x1b") + "\x1b\\"
	case strings.HasPrefix(term, "screen"):
		return "\a"
	}
	return "\a" + shown(text, term, getenv)
}

// shown is the sequence with which a terminal shows a notification.
func shown(text, term string, getenv func(string) string) string {
	switch {
	case getenv("KITTY_WINDOW_ID") != "" || term == "xterm-kitty":
		return "\x1b]99;;cordon: " + text + "\x1b\\"
	case getenv("VTE_VERSION") != "" || strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot"):
		return "\x1b]777;notify;cordon;" + text + "\a"
	}
	return "\x1b]9;cordon: " + text + "\a"
}
