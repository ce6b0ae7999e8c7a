package code

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// SedScript returns what a script of sed reads, writes and runs besides what it
// edits.
func SedScript(script string) commands.Use {
	p := &sedParser{src: script}
	p.use.Known = true
	for p.pos < len(p.src) {
		at := p.pos
		p.command()
		if p.pos <= at {
			p.pos = at + 1
		}
	}
	p.use.Out = mark.Any
	return p.use
}

// sedParser reads a script of sed command by command: a slash inside of a
// pattern is no path, and a w inside of one no command.
type sedParser struct {
	src  string
	pos  int
	use  commands.Use
	text []string // what is put into the output
}

func (p *sedParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *sedParser) skip(set string) {
	for p.pos < len(p.src) && strings.IndexByte(set, p.src[p.pos]) >= 0 {
		p.pos++
	}
}

// address moves over the addresses of a command: numbers, $, /re/, \cREc, first~step.
func (p *sedParser) address() {
	for {
		p.skip(" \t\n;0123456789$,~+!")
		switch c := p.peek(); {
		case c == '/':
			p.pos++
			p.until('/')
			p.skip("IM")
		case c == '\\' && p.pos+1 < len(p.src):
			d := p.src[p.pos+1]
			p.pos += 2
			p.until(d)
			p.skip("IM")
		default:
			return
		}
	}
}

// until moves behind a delimiter and returns what is before it. In a class of
// characters a delimiter is an ordinary one for GNU sed only where it is
// escaped, so classes are not looked at.
func (p *sedParser) until(d byte) string {
	at := p.pos
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '\\':
			p.pos++
		case d:
			p.pos++
			return p.src[at : p.pos-1]
		}
		p.pos++
	}
	p.pos = len(p.src)
	return p.src[min(at, len(p.src)):]
}

// line moves to the end of the line and returns it.
func (p *sedParser) line() string {
	at := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '\n' {
		p.pos++
	}
	return strings.TrimLeft(p.src[at:p.pos], " \t")
}

func (p *sedParser) command() {
	p.address()
	c := p.peek()
	p.pos++
	switch c {
	case '#':
		p.line()
	case 's':
		p.substitute()
	case 'y':
		d := p.peek()
		p.pos++
		p.until(d)
		p.until(d)
	case 'r', 'R':
		p.file(commands.Read, c)
	case 'w', 'W':
		p.file(commands.Write, c)
	case 'e':
		p.execute(p.line())
	case 'a', 'i', 'c':
		p.appended()
	case ':', 'b', 't', 'T':
		for p.pos < len(p.src) && strings.IndexByte(";\n}", p.src[p.pos]) < 0 {
			p.pos++
		}
	}
}

// substitute reads s/pattern/replacement/flags; w takes the rest as a file, e
// runs what is left in the pattern space.
func (p *sedParser) substitute() {
	d := p.peek()
	p.pos++
	if d == 0 || d == '\n' {
		return
	}
	p.until(d)
	p.text = append(p.text, p.until(d))
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case 'g', 'p', 'i', 'I', 'm', 'M', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			p.pos++
		case 'e':
			p.pos++
			p.unknown("sed runs the text that it makes from its input (s///e)")
		case 'w':
			p.pos++
			p.file(commands.Write, c)
			return
		default:
			return
		}
	}
}

func (p *sedParser) unknown(reason string) { addAsk(&p.use, reason, "run the command itself") }

func (p *sedParser) file(role commands.Role, c byte) {
	name := p.line()
	switch name {
	case "", "/dev/stdout", "/dev/stderr", "/dev/stdin":
		return
	}
	p.use.Access = append(p.use.Access, commands.Access{Role: role, Path: name, Why: "command " + string(c)})
}

func (p *sedParser) execute(command string) {
	if command == "" || command == "}" || strings.HasPrefix(command, ";") {
		p.unknown("sed runs its input (e)")
		return
	}
	p.use.Runs = append(p.use.Runs, commands.Run{Code: command, Why: "command e"})
}

// appended reads the text of a, i and c, which goes on after a backslash.
func (p *sedParser) appended() {
	for {
		l := p.line()
		p.text = append(p.text, l)
		p.pos++
		if !strings.HasSuffix(l, "\\") || p.pos >= len(p.src) {
			return
		}
	}
}
