package lex

import (
	"strconv"
	"strings"

	"cordon/internal/commands"
)

// style says how a string is read.
type style struct {
	raw    bool // a backslash is itself, but still hides a delimiter
	interp byte // what interpolation begins with: '{' of Python, '$' of JavaScript and Perl, '#' of Ruby
	nest   byte // the opening delimiter when they nest: q( ) of Perl, %w[ ] of Ruby
	pure   bool // a backslash does not even hide a delimiter
}

// readQuoted reads a string, a command or a regular expression, if one begins here.
func (l *lexer) readQuoted() bool {
	c := l.src[l.pos]
	switch l.lang {
	case commands.Python:
		return l.pythonText()
	case commands.JavaScript:
		return l.javaScriptText(c)
	case commands.Ruby:
		return l.rubyText(c)
	case commands.Perl:
		return l.perlText(c)
	}
	return c == '"' && l.readDelimited(Text, 1, `"`, style{}) || c == '/' && !l.endsOperand() && l.readRegex()
}

// readDelimited reads from behind an opening delimiter of n bytes to the closing one.
func (l *lexer) readDelimited(k Kind, n int, end string, st style) bool {
	l.pos += n
	parts := l.readUntil(end, st)
	t := Token{Kind: k}
	if len(parts) == 1 && !parts[0].Code {
		t.Text = parts[0].Text
	} else {
		t.Parts = parts
	}
	l.emit(t)
	return true
}

// readUntil reads text up to a delimiter and behind it.
func (l *lexer) readUntil(end string, st style) []Part {
	var parts []Part
	var b strings.Builder
	deep := 0
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\\' && !st.pure:
			l.readEscape(&b, st)
		case st.nest != 0 && c == st.nest:
			deep++
			b.WriteByte(c)
			l.pos++
		case deep > 0 && l.has(end):
			deep--
			b.WriteByte(c)
			l.pos++
		case l.has(end):
			l.pos += len(end)
			return append(parts, Part{Text: b.String()})
		default:
			code, ok := l.readInterpolated(st.interp)
			if !ok {
				b.WriteByte(c)
				l.pos++
				continue
			}
			parts = append(parts, Part{Text: b.String()}, Part{Text: code, Code: true})
			b.Reset()
		}
	}
	return append(parts, Part{Text: b.String()})
}

// readInterpolated reads the code inside of a string, if some begins here.
func (l *lexer) readInterpolated(by byte) (string, bool) {
	if by == 0 || l.src[l.pos] != by && !(l.lang == commands.Perl && l.src[l.pos] == '@') {
		return "", false
	}
	switch l.lang {
	case commands.Python:
		return l.pythonField()
	case commands.JavaScript, commands.Ruby:
		if l.peek(1) != '{' {
			return "", false
		}
		l.pos++
		return l.readBraced(), true
	}
	return l.perlVariable()
}

// pythonField reads {expression!r:format} of Python.
func (l *lexer) pythonField() (string, bool) {
	if l.has("{{") {
		l.pos++
		return "", false
	}
	code := l.readBraced()
	for i := 0; i < len(code); i++ {
		if code[i] == ':' && !strings.ContainsAny(code[:i], "([{'\"") || code[i] == '!' && i+1 < len(code) && code[i+1] != '=' {
			return code[:i], true
		}
	}
	return strings.TrimSuffix(code, "="), true
}

// readBraced reads from an opening bracket to its closing one, minding quotes, and
// returns what is between.
func (l *lexer) readBraced() string {
	open := l.src[l.pos]
	l.pos++
	at, deep := l.pos, 1
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; c {
		case open:
			deep++
		case closing(open):
			if deep--; deep == 0 {
				l.pos++
				return l.src[at : l.pos-1]
			}
		case '\\':
			l.pos++
		}
		l.pos++
	}
	return l.src[min(at, len(l.src)):]
}

func closing(c byte) byte {
	if i := strings.IndexByte("([{<", c); i >= 0 {
		return ")]}>"[i]
	}
	return c
}

// perlVariable reads $name, ${name}, $(code), @{[code]}, and subscripts behind them.
func (l *lexer) perlVariable() (string, bool) {
	at := l.pos
	l.pos++
	switch c := l.peek(0); {
	case c == '{':
		code := l.readBraced()
		if l.lang == commands.Perl && len(code) > 0 && IsLetter(code[0]) {
			code = l.src[at:at+1] + code
		}
		return code, true
	case IsLetter(c) || l.lang == commands.Perl && isDigit(c) && l.src[at] == '$':
		for l.pos < len(l.src) && IsWord(l.src[l.pos]) {
			l.pos++
		}
	default:
		l.pos = at
		return "", false
	}
	l.skipSubscripts()
	return l.src[at:l.pos], true
}

// skipSubscripts moves behind [..], {..}, ->[..] and ->{..}.
func (l *lexer) skipSubscripts() {
	for l.pos < len(l.src) {
		switch {
		case l.peek(0) == '[' && l.peek(1) != ' ' && l.peek(1) != '^', l.peek(0) == '{' && l.lang == commands.Perl:
			l.readBraced()
		case l.has("->[") || l.has("->{"):
			l.pos += 2
		default:
			return
		}
	}
}

// readEscape reads one escape sequence.
func (l *lexer) readEscape(b *strings.Builder, st style) {
	c := l.peek(1)
	if st.raw {
		// Only the delimiter and the backslash itself can be hidden.
		if c != '\'' && c != '\\' || l.lang == commands.Python {
			b.WriteByte('\\')
		}
		if c != 0 {
			b.WriteByte(c)
		}
		l.pos += 2
		return
	}
	if r, _, tail, err := strconv.UnquoteChar(l.rest(), 0); err == nil {
		l.pos = len(l.src) - len(tail)
		writeRune(b, uint64(r))
		return
	}
	l.pos += 2
	switch {
	case (c == 'x' || c == 'u') && l.peek(0) == '{':
		if r, err := strconv.ParseUint(l.readBraced(), 16, 32); err == nil {
			writeRune(b, r)
		}
	case isDigit(c):
		l.pos--
		l.readOctal(b)
	case c != 'e' && c != '\n' && c != 0:
		b.WriteByte(c)
	}
}

// writeRune adds a character; those that marks are made of are left out.
func writeRune(b *strings.Builder, r uint64) {
	if r < 0x10FF00 {
		b.WriteRune(rune(r))
	}
}

// readOctal reads up to three octal digits.
func (l *lexer) readOctal(b *strings.Builder) {
	at := l.pos
	for l.pos < len(l.src) && l.pos < at+3 && isDigit(l.src[l.pos]) {
		l.pos++
	}
	if r, err := strconv.ParseUint(l.src[at:l.pos], 8, 16); err == nil {
		writeRune(b, r)
	}
}
