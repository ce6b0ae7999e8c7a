package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"cordon/internal/legible"
)

// patch shows a patch on a terminal. Its lines are a worker's: they are made legible, and
// the colours are cordon's own.
type Patch struct {
	w        io.Writer
	coloured bool
	line     []byte
	begun    bool   // a part of the line is shown already
	colour   string // of the line
	old, new int    // lines of the hunk that are still to come
}

// longest is how much of a line is kept before it is shown. A worker's lines have any length.
const longest = 64 << 10

func NewPatch(w io.Writer) *Patch { return &Patch{w: w, coloured: colours()} }

// colours reports whether a terminal is to be shown some (no-color.org).
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

const (
	plainColour = "\x1b[m"
	headColour  = "\x1b[1m"
	hunkColour  = "\x1b[36m"
	addColour   = "\x1b[32m"
	cutColour   = "\x1b[31m"
)

// Write takes any part of a patch.
func (p *Patch) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part, rest, ended := bytes.Cut(b, []byte("\n"))
		if room := longest - len(p.line); len(part) > room {
			part, rest, ended = b[:room], b[room:], false
		}
		p.line, b = append(p.line, part...), rest
		var err error
		if ended {
			err = p.show(len(p.line), "\n")
			p.begun = false
		} else if len(p.line) == longest {
			err = p.show(wholeRunes(p.line), "")
		}
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// end writes a last line that has no end.
func (p *Patch) End() error {
	if len(p.line) == 0 {
		return nil
	}
	return p.show(len(p.line), "")
}

// show writes the first bytes of what is kept of a line. Its beginning says its colour.
func (p *Patch) show(n int, end string) error {
	line := string(p.line[:n])
	p.line = append(p.line[:0], p.line[n:]...)
	if !p.begun {
		p.begun, p.colour = true, p.colourOf(line)
	}
	text := legible.Text(line)
	if p.coloured {
		text = legible.Marked(line)
	}
	if p.coloured && p.colour != "" {
		text = p.colour + text + plainColour
	}
	_, err := io.WriteString(p.w, text+end)
	return err
}

// wholeRunes counts the bytes before a character whose end is still to come.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// colourOf says what a line is. Inside of a hunk every line is the file's, also one that
// looks like a head.
func (p *Patch) colourOf(line string) string {
	if p.old > 0 || p.new > 0 {
		return p.inHunk(line)
	}
	switch old, new, ok := hunkHead(line); {
	case ok:
		p.old, p.new = old, new
		return hunkColour
	case strings.HasPrefix(line, `\`) || strings.HasPrefix(line, " "):
		return ""
	}
	for _, head := range []string{"diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode"} {
		if strings.HasPrefix(line, head) {
			return headColour
		}
	}
	return ""
}

func (p *Patch) inHunk(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		p.new--
		return addColour
	case strings.HasPrefix(line, "-"):
		p.old--
		return cutColour
	case !strings.HasPrefix(line, `\`): // that is git's word about the line before
		p.old--
		p.new--
	}
	return ""
}

// hunkHead reads how many lines of both sides follow.
func hunkHead(line string) (old, new int, ok bool) {
	parts := strings.Fields(line)
	if len(parts) < 4 || parts[0] != "@@" || parts[3] != "@@" {
		return 0, 0, false
	}
	old, ok = span(parts[1], "-")
	new, ok2 := span(parts[2], "+")
	return old, new, ok && ok2
}

// span is the number of lines in "-12,3"; one when it is left out.
func span(s, sign string) (int, bool) {
	var at, n int
	rest, ok := strings.CutPrefix(s, sign)
	if _, err := fmt.Sscanf(rest, "%d,%d", &at, &n); ok && err == nil {
		return n, n >= 0
	}
	_, err := fmt.Sscanf(rest, "%d", &at)
	return 1, ok && err == nil
}
