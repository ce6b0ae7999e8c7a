package main

import (
	"bytes"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// patch shows a patch on a terminal. Its lines are a worker's: what would steer the
// terminal is shown as what it is, and the colours are ours.
type patch struct {
	w    io.Writer
	line []byte
}

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
	text := visible(p.line)
	if c := colourOf(p.line); c != "" {
		text = c + text + plainColour
	}
	p.line = p.line[:0]
	_, err := io.WriteString(p.w, text+end)
	return err
}

func colourOf(line []byte) string {
	for _, head := range []string{"diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode"} {
		if bytes.HasPrefix(line, []byte(head)) {
			return headColour
		}
	}
	switch {
	case len(line) == 0:
		return ""
	case line[0] == '@':
		return hunkColour
	case line[0] == '+':
		return addColour
	case line[0] == '-':
		return cutColour
	}
	return ""
}

// visible is a line in which everything can be seen. A tab is one.
func visible(line []byte) string {
	var out []byte
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\x`+strconv.FormatUint(uint64(line[0])|0x100, 16)[1:]...)
		case r == '\t' || unicode.IsPrint(r):
			out = append(out, line[:size]...)
		case r < 0x20:
			out = append(out, '^', byte(r)+'@')
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		line = line[size:]
	}
	return string(out)
}
