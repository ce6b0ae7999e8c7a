package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"cordon/internal/legible"
)

// patch shows a patch on a terminal. Its lines are a worker's: they are made legible, and
// the colours are cordon's own.
type patch struct {
	w        io.Writer
	coloured bool
	line     []byte
	old, new int // lines of the hunk that are still to come
}

func newPatch(w io.Writer) *patch { return &patch{w: w, coloured: colours()} }

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
func (p *patch) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.line = append(p.line, b...)
			return n, nil
		}
		p.line = append(p.line, b[:i]...)
		b = b[i+1:]
		if err := p.flush("\n"); err != nil {
			return 0, err
		}
	}
}

// end writes a last line that has no end.
func (p *patch) end() error {
	if len(p.line) == 0 {
		return nil
	}
	return p.flush("")
}

func (p *patch) flush(end string) error {
	line := string(p.line)
	p.line = p.line[:0]
	colour := p.colourOf(line)
	text := legible.Text(line)
	if p.coloured {
		text = legible.Marked(line)
	}
	if p.coloured && colour != "" {
		text = colour + text + plainColour
	}
	_, err := io.WriteString(p.w, text+end)
	return err
}

// colourOf says what a line is. Inside of a hunk every line is the file's, also one that
// looks like a head.
func (p *patch) colourOf(line string) string {
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

func (p *patch) inHunk(line string) string {
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
