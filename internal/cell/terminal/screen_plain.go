package terminal

import (
	"bytes"
	"io"
	"strings"
	"time"
)

// A worker may leave a terminal in any state: another screen, hidden text, keys and a
// mouse that type what no shell understands, questions whose answers come when it has
// ended and are typed into whatever reads next. Whoever gives a terminal back gives it
// back plain.

// plainScreen takes back what a program may have asked of a terminal. A terminal passes
// over what it does not know. The place of the cursor is kept where there was no other
// screen: leaving that takes the cursor to the place that was noted last.
var plainScreen = strings.Join([]string{
	"\x18\x1b\\",                  // a sequence or a text that has not ended
	"\x1b7\x1b[?1049l",            // another screen
	"\x1b[!p",                     // margins, origin, keypad: where a soft reset is known
	"\x1b[?69l\x1b7\x1b[r\x1b8",   // margins
	"\x1b[?1l\x1b>",               // keys of the cursor, keypad
	"\x1b[<99u\x1b[=0u\x1b[>4;0m", // keys told apart
	"\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l", // the mouse
	"\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2048l",                                                     // word of the focus, of pasting, of colours, of the size
	"\x1b[?2026l\x1b[4i\x1b[?4i",                                                                       // output that is kept back, or goes to a printer
	"\x1b[4l\x1b[20l\x1b[?5l\x1b[?7h",                                                                  // inserting, line breaks, reverse, no wrapping
	"\x1b[?25h\x1b[0 q",                                                                                // no cursor, or another
	"\x0f\x1b%G\x1b(B\x1b)B",                                                                           // character sets
	"\x1b]8;;\x1b\\\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",                           // links, colours by another name
	"\x1b[23;0t",       // its title
	"\x1b[0\"q\x1b[0m", // protected, concealed, coloured
}, "")

// keepTitle has a terminal note its title, which plainScreen gives back.
const keepTitle = "\x1b[22;0t"

// answerRoom is how long a terminal may take to answer the worker's last question, over a
// slow line perhaps. The shell reads an answer that comes later.
const answerRoom = 500 * time.Millisecond

// recentRoom is how much of what was shown last may be a question.
const recentRoom = 4 << 10

// glimpse remembers of what is shown what matters when the terminal is given back.
type glimpse struct {
	to     io.Writer
	tty    io.Writer // whose title is noted before the first that acts on it; nil: it is noted
	acted  bool      // there was more than plain letters
	recent []byte
}

func (g *glimpse) Write(p []byte) (int, error) {
	if !g.acted && bytes.ContainsFunc(p, stirs) {
		if g.acted = true; g.tty != nil {
			_, _ = io.WriteString(g.tty, keepTitle) // one that is gone has none
		}
	}
	if g.recent = append(g.recent, p...); len(g.recent) > recentRoom {
		g.recent = append([]byte(nil), g.recent[len(g.recent)-recentRoom:]...)
	}
	return g.to.Write(p)
}

// stirs knows what is no plain letter. One that is not in ASCII may be a control
// sequence to a terminal that reads bytes.
func stirs(r rune) bool {
	switch r {
	case '\a', '\b', '\t', '\n', '\r':
		return false
	}
	return r < ' ' || r > '~'
}

// asked reports whether the terminal may be about to answer.
func (g *glimpse) asked() bool { return asking().Match(g.recent) }
