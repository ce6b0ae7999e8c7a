package lex

import (
	"regexp"
	"strings"
	"sync"

	"cordon/internal/commands"
)

// heredoc is a body that begins on the next line and belongs to a token.
type heredoc struct {
	tok int
	end string
	st  style
}

// pythonText reads a string with its prefix and one or three quotes.
func (l *lexer) pythonText() bool {
	n := 0
	for n < 3 && strings.IndexByte("rRbBuUfF", l.peek(n)) >= 0 && l.peek(n) != 0 {
		n++
	}
	q := l.peek(n)
	if q != '"' && q != '\'' {
		return false
	}
	prefix := strings.ToLower(l.src[l.pos : l.pos+n])
	st := style{raw: strings.Contains(prefix, "r")}
	if strings.Contains(prefix, "f") {
		st.interp = '{'
	}
	end := string(q)
	if l.peek(n+1) == q && l.peek(n+2) == q {
		end = strings.Repeat(end, 3)
	}
	return l.readDelimited(Text, n+len(end), end, st)
}

func (l *lexer) javaScriptText(c byte) bool {
	switch {
	case c == '"' || c == '\'':
		return l.readDelimited(Text, 1, string(c), style{})
	case c == '`':
		return l.readDelimited(Text, 1, "`", style{interp: '$'})
	}
	return c == '/' && !l.endsOperand() && l.readRegex()
}

// readRegex reads a regular expression between slashes and its flags; a class may hold
// a slash.
func (l *lexer) readRegex() bool {
	at := l.pos
	if l.failed > 8 {
		return false
	}
	l.pos++
	class := false
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		switch {
		case c == '\\':
			l.pos++
		case c == '[' && l.lang == commands.JavaScript:
			class = true
		case c == ']':
			class = false
		case c == '\n' && l.lang != commands.Perl && l.lang != commands.Ruby:
			l.pos = at
			return false
		case c == '/' && !class:
			l.skipFlags()
			l.emit(Token{Kind: Regex, Text: l.src[at:min(l.pos, len(l.src))]})
			return true
		}
	}
	l.pos = at
	l.failed++
	return false
}

func (l *lexer) skipFlags() {
	for l.pos < len(l.src) && IsLetter(l.src[l.pos]) && l.src[l.pos] < 0x80 {
		l.pos++
	}
}

func (l *lexer) rubyText(c byte) bool {
	switch {
	case c == '\'':
		return l.readDelimited(Text, 1, "'", style{raw: true})
	case c == '"':
		return l.readDelimited(Text, 1, `"`, style{interp: '#'})
	case c == '`':
		return l.readDelimited(Command, 1, "`", style{interp: '#'})
	case c == ':' && l.peek(1) == '"':
		return l.readDelimited(Text, 2, `"`, style{})
	case c == ':' && IsLetter(l.peek(1)) && (l.pos == 0 || l.src[l.pos-1] != ':'):
		return l.readSymbol()
	case c == '/' && l.beginsRegex():
		return l.readRegex()
	case c == '%' && (!l.endsOperand() || l.sp && l.peek(1) != ' ' && l.last().Kind == Word):
		return l.rubyPercent()
	case c == '<' && l.has("<<"):
		return l.readHeredoc()
	}
	return false
}

// beginsRegex decides about a slash, where a call can be without parentheses.
func (l *lexer) beginsRegex() bool {
	return !l.endsOperand() || l.last().Kind == Word && l.sp && l.peek(1) != ' ' && l.peek(1) != '=' && !strings.HasPrefix(l.last().Text, "$")
}

func (l *lexer) readSymbol() bool {
	at := l.pos + 1
	for l.pos++; l.pos < len(l.src) && IsWord(l.src[l.pos]); l.pos++ {
	}
	l.emit(Token{Kind: Text, Text: l.src[at:l.pos]})
	return true
}

// rubyPercent reads %q(…), %w[…], %x{…}, %r/…/ and %(…).
func (l *lexer) rubyPercent() bool {
	n, t := 1, byte('Q')
	if IsLetter(l.peek(1)) {
		n, t = 2, l.peek(1)
	}
	d := l.peek(n)
	if d == 0 || IsWord(d) || d == ' ' || d == '=' || d == '\n' || strings.IndexByte("qQwWiIxrs", t) < 0 {
		return false
	}
	return l.percentLiteral(n, t)
}

// percentLiteral reads a string whose kind is a letter and whose delimiter follows.
func (l *lexer) percentLiteral(n int, t byte) bool {
	d := l.peek(n)
	st := style{}
	if closing(d) != d {
		st.nest = d
	}
	end := string(closing(d))
	if l.lang == commands.Ruby && strings.IndexByte("QWxI", t) >= 0 {
		st.interp = '#'
	}
	if l.lang == commands.Perl && (t == 'Q' || t == 'x') && d != '\'' {
		st.interp = '$'
	}
	st.raw = t == 'q' || t == 'w'
	switch t {
	case 'x':
		return l.readDelimited(Command, n+1, end, st)
	case 'r':
		l.readDelimited(Text, n+1, end, style{nest: st.nest, raw: true})
		l.skipFlags()
		l.toks[len(l.toks)-1].Kind = Regex
		return true
	case 'w', 'W', 'i', 'I':
		l.readWords(n+1, end, st)
		return true
	}
	return l.readDelimited(Text, n+1, end, st)
}

// readWords reads a list of words as a bracketed list of strings.
func (l *lexer) readWords(n int, end string, st style) {
	l.pos += n
	parts := l.readUntil(end, st)
	l.emit(Token{Kind: Op, Text: "["})
	at := len(l.toks) - 1
	for _, p := range parts {
		for i, w := range strings.Fields(p.Text) {
			if i > 0 {
				l.emit(Token{Kind: Op, Text: ","})
			}
			l.emit(Token{Kind: Text, Text: w})
		}
	}
	l.emit(Token{Kind: Op, Text: "]"})
	l.toks[at].N = len(l.toks) - 1
}

// heredocStart matches <<EOF, <<~EOF, <<"EOF" and <<'EOF'.
var heredocStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^<<[~-]?(?:([\"'`])(\\w+)[\"'`]|([A-Z_]\\w*))")
})

// readHeredoc reads the beginning of a here-document, whose body follows the line.
func (l *lexer) readHeredoc() bool {
	line, _, _ := strings.Cut(l.rest(), "\n")
	match := heredocStart().FindStringSubmatch(line[:min(len(line), 64)])
	if match == nil || l.lang == commands.Ruby && l.endsOperand() && l.last().Kind != Word && l.peek(2) >= 'A' && l.peek(2) <= 'Z' {
		return false
	}
	h := heredoc{tok: len(l.toks), end: match[2] + match[3], st: style{pure: true}}
	switch {
	case match[1] == "'":
	case l.lang == commands.Ruby:
		h.st.interp = '#'
	default:
		h.st.interp = '$'
	}
	l.pos += len(match[0])
	l.emit(Token{Kind: Text})
	if match[1] == "`" {
		l.toks[h.tok].Kind = Command
	}
	l.heres = append(l.heres, h)
	return true
}

// heredocBody reads the lines of a here-document into its token.
func (l *lexer) heredocBody(h heredoc) {
	at := l.pos
	for l.pos < len(l.src) {
		from := l.pos
		l.skipLine()
		line := l.src[from:l.pos]
		l.pos = min(l.pos+1, len(l.src))
		if strings.TrimSpace(line) == h.end {
			l.toks[h.tok].Parts = (&lexer{src: strings.TrimLeft(l.src[at:from], " \t"), lang: l.lang}).readUntil("\x00", h.st)
			return
		}
	}
	l.toks[h.tok].Parts = []Part{{Text: l.src[min(at, len(l.src)):]}}
}

func (l *lexer) perlText(c byte) bool {
	switch {
	case c == '\'':
		return l.readDelimited(Text, 1, "'", style{raw: true})
	case c == '"':
		return l.readDelimited(Text, 1, `"`, style{interp: '$'})
	case c == '`':
		return l.readDelimited(Command, 1, "`", style{interp: '$'})
	case c == '/' && l.beginsRegex():
		return l.readRegex()
	case c == '<' && l.has("<<") && (l.peek(2) == '"' || l.peek(2) == '\'' || l.peek(2) == '~' || IsLetter(l.peek(2))):
		return l.readHeredoc()
	case IsLetter(c) && (l.pos == 0 || !IsWord(l.src[l.pos-1]) && strings.IndexByte("$@%&>{", l.src[l.pos-1]) < 0):
		return l.perlOperator()
	}
	return false
}

// perlQuotes are the operators of Perl that quote, with the letter of Ruby's
// percent literals that does the same.
var perlQuotes = map[string]byte{"q": 'q', "qq": 'Q', "qw": 'w', "qx": 'x', "m": 'r', "qr": 'r'}

// perlOperator reads q, qq, qw, qx, m, qr, s, tr and y with their delimiters.
func (l *lexer) perlOperator() bool {
	n := 1
	for IsWord(l.peek(n)) {
		n++
	}
	op := l.src[l.pos : l.pos+n]
	if n > 2 || !strings.Contains(" q qq qw qx m qr s tr y ", " "+op+" ") {
		return false
	}
	d := l.peek(n)
	if d == 0 || d == ' ' || d == '\n' || d == ',' || d == ';' || d == ')' || d == '=' && (l.peek(n+1) == '>' || l.sp && l.peek(n+1) == ' ') {
		return false
	}
	if kind := perlQuotes[op]; kind != 0 {
		return l.percentLiteral(n, kind)
	}
	l.readSubstitution(n)
	return true
}

// readSubstitution reads s/…/…/flags; with the flag e its second half is code.
func (l *lexer) readSubstitution(n int) {
	op, d := l.src[l.pos], l.peek(n)
	st := style{raw: true}
	if closing(d) != d {
		st.nest = d
	}
	l.pos += n + 1
	l.readUntil(string(closing(d)), st)
	if st.nest != 0 {
		for l.pos < len(l.src) && strings.IndexByte(" \t\n", l.src[l.pos]) >= 0 {
			l.pos++
		}
		st.nest, d = l.peek(0), l.peek(0)
		l.pos++
	}
	at := l.pos
	l.readUntil(string(closing(d)), st)
	code := l.src[min(at, len(l.src)):min(max(at, l.pos), len(l.src))]
	from := l.pos
	l.skipFlags()
	code = strings.TrimSuffix(code, string(closing(d)))
	t := Token{Kind: Regex, Parts: []Part{{Text: code}}}
	if op == 's' && strings.Contains(l.src[min(from, len(l.src)):min(l.pos, len(l.src))], "e") {
		t.Parts[0].Code = true
	}
	l.emit(t)
}
