// Package lex cuts code of Python, JavaScript, Perl, Ruby and awk into tokens:
// words with their sigils, numbers, strings with the code inside of them, regular
// expressions and operators, whose brackets know where they are closed.
//
// It never fails: code that does not parse gives tokens as well. It refuses to
// know what the tokens mean; package inline evaluates them.
package lex

import (
	"strings"

	"cordon/internal/commands"
)

// Kind is a kind of token.
type Kind uint8

const (
	End     Kind = iota
	Line         // the end of a line where it ends a statement; n is the next line's indent
	Word         // a name or keyword, with its sigil
	Number       // a number
	Text         // a string
	Command      // a string that is run: backticks, qx, %x
	Regex        // a regular expression, or what transliterates
	Op           // anything else
)

// Token is one token. Text that is interpolated has parts.
type Token struct {
	Kind   Kind
	Text   string
	Parts  []Part // of a string that holds code
	Spaced bool   // blanks are before it
	N      int    // the index of the closing bracket, the indent of a line
}

// Part is a piece of an interpolated string: text, or code.
type Part struct {
	Text string
	Code bool
}

// lexer cuts code into tokens.
type lexer struct {
	src    string
	pos    int
	lang   commands.Lang
	toks   []Token
	open   []int     // indices of brackets that are open
	failed int       // regular expressions that had no end
	sp     bool      // blanks since the last token
	heres  []heredoc // bodies that begin on the next line
}

// MaxTokens is how much of a code is cut: twice what a long program has.
const MaxTokens = 40_000

// maxOpen is how many open brackets a closing one is compared with.
const maxOpen = 64

// Tokens cuts code into tokens. The last token is End.
func Tokens(lang commands.Lang, src string) []Token {
	l := &lexer{src: src, lang: lang, toks: make([]Token, 0, min(len(src)/4+16, MaxTokens))}
	if lang == commands.Python {
		l.emit(Token{Kind: Line, N: l.indentHere()})
	}
	for l.pos < len(l.src) && len(l.toks) < MaxTokens {
		at := l.pos
		l.next()
		if l.pos <= at {
			l.pos = at + 1
		}
	}
	for _, i := range l.open {
		l.toks[i].N = len(l.toks)
	}
	return append(l.toks, Token{Kind: End})
}

func (l *lexer) emit(t Token) {
	t.Spaced = l.sp
	l.sp = false
	l.toks = append(l.toks, t)
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

func (l *lexer) rest() string { return l.src[min(l.pos, len(l.src)):] }

func (l *lexer) has(s string) bool { return strings.HasPrefix(l.rest(), s) }

// last is the last token, or a zero one.
func (l *lexer) last() Token {
	if len(l.toks) == 0 {
		return Token{}
	}
	return l.toks[len(l.toks)-1]
}

func (l *lexer) next() {
	c := l.src[l.pos]
	switch {
	case c == '\n':
		l.readNewline()
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		l.pos++
		l.sp = true
	case c == '\\' && l.peek(1) == '\n':
		l.pos += 2
		l.sp = true
	case l.skipComment() || l.readQuoted():
	case isDigit(c):
		l.readNumber()
	case l.readWord():
	default:
		l.readOperator()
	}
}

// readNewline ends a statement unless a bracket is open that runs over lines.
func (l *lexer) readNewline() {
	l.pos++
	l.sp = true
	for _, h := range l.heres {
		l.heredocBody(h)
	}
	l.heres = nil
	if l.lang == commands.Ruby && l.has("=begin") {
		l.skipPast("\n=end")
	} else if l.lang == commands.Perl && l.peek(0) == '=' && IsLetter(l.peek(1)) {
		l.skipPast("\n=cut")
	}
	if n := len(l.open); n > 0 {
		if b := l.toks[l.open[n-1]].Text; b != "{" || l.lang == commands.Python {
			return
		}
	}
	l.emit(Token{Kind: Line, N: l.indentHere()})
}

// indentHere is the width of the blanks that the current line begins with.
func (l *lexer) indentHere() int {
	n := 0
	for _, c := range l.rest() {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// skipPast moves behind the next occurrence of a text, or to the end.
func (l *lexer) skipPast(s string) {
	body, _, _ := strings.Cut(l.rest(), s)
	l.pos = min(l.pos+len(body)+len(s), len(l.src))
}

// skipLine moves to the end of the line.
func (l *lexer) skipLine() {
	body, _, _ := strings.Cut(l.rest(), "\n")
	l.pos += len(body)
}

func (l *lexer) skipComment() bool {
	script := l.lang == commands.JavaScript
	switch {
	case script && (l.has("//") || l.pos == 0 && l.has("#!")):
		l.skipLine()
	case script && l.has("/*"):
		l.pos += 2
		l.skipPast("*/")
	case !script && l.src[l.pos] == '#' && (l.lang != commands.Perl || l.sp || l.last().Text != "$"): // $# is a variable of Perl
		l.skipLine()
	case (l.lang == commands.Perl || l.lang == commands.Ruby) && l.has("__END__"):
		l.pos = len(l.src)
	default:
		return false
	}
	return true
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func IsLetter(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' || c == '_' || c >= 0x80 }
func IsWord(c byte) bool   { return IsLetter(c) || isDigit(c) }

func (l *lexer) readNumber() {
	at := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		dot := c == '.' && isDigit(l.peek(1))
		if !IsWord(c) && !dot {
			break
		}
		l.pos++
	}
	l.emit(Token{Kind: Number, Text: l.src[at:l.pos]})
}

// readWord reads a name with its sigil: $x, @x, %x of Perl, @x of Ruby.
func (l *lexer) readWord() bool {
	at := l.pos
	l.skipSigil()
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if !IsWord(c) && !l.inName(c) {
			break
		}
		l.pos++
	}
	if l.pos == at {
		return false
	}
	l.emit(Token{Kind: Word, Text: l.src[at:l.pos]})
	return true
}

func (l *lexer) skipSigil() {
	c, d := l.src[l.pos], l.peek(1)
	switch l.lang {
	case commands.Perl:
		l.perlSigil(c, d)
	case commands.Ruby:
		for l.pos < len(l.src) && (l.src[l.pos] == '@' || l.src[l.pos] == '$') && (IsWord(l.peek(1)) || l.peek(1) == '@') {
			l.pos++
		}
	case commands.JavaScript:
		if c == '#' && IsLetter(d) {
			l.pos++
		}
	}
}

func (l *lexer) perlSigil(c, d byte) {
	switch {
	case c == '$' && (IsWord(d) || strings.IndexByte("!@&0,;./\\", d) >= 0 && d != 0):
		l.pos++
		if !IsWord(d) {
			l.pos++
		}
	case c == '$' && d == '#' && (l.peek(2) == '{' || l.peek(2) == '$' || IsLetter(l.peek(2))):
		l.pos += 2
	case c == '@' && IsLetter(d), c == '%' && IsLetter(d) && (!l.endsOperand() || strings.Contains(beforeHash, " "+l.last().Text+" ")):
		l.pos++
	}
}

// inName reports whether a character belongs to a name though it is no letter.
func (l *lexer) inName(c byte) bool {
	switch l.lang {
	case commands.JavaScript:
		return c == '$'
	case commands.Ruby:
		if c != '?' && c != '!' || !IsWord(l.src[max(l.pos-1, 0)]) || l.pos == 0 {
			return false
		}
		return l.peek(1) != '=' && !IsWord(l.peek(1)) && l.peek(1) != ':'
	}
	return false
}

// endsOperand reports whether the last token ends an operand, so that what follows
// is an operator and not the beginning of a string or a regular expression.
func (l *lexer) endsOperand() bool {
	t := l.last()
	switch t.Kind {
	case Number, Text, Command, Regex:
		return true
	case Word:
		return !strings.Contains(beforeOperand, " "+t.Text+" ")
	case Op:
		return t.Text == ")" || t.Text == "]" || t.Text == "}"
	}
	return false
}

// beforeOperand are words that an operand follows, so that a slash behind them
// begins a regular expression.
const beforeOperand = " and await case delete do elif else elsif grep if in join map not of or " +
	"print push puts return split then throw typeof unless until void when while x yield "

// beforeHash are words of Perl that a variable follows, so that % is its sigil.
const beforeHash = " delete each exists keys local my our scalar values "

const operators = " ... === !== **= <=> ||= &&= ??= //= >>= <<= <<- ->> " +
	"=> -> :: == != <= >= && || ?? ?. += -= *= /= .= %= |= &= .. << >> ** // =~ !~ |& |> := <- ++ -- ~= "

func (l *lexer) readOperator() {
	n := 1
	for _, w := range [2]int{3, 2} {
		if l.pos+w <= len(l.src) && strings.Contains(operators, " "+l.src[l.pos:l.pos+w]+" ") && !strings.ContainsAny(l.src[l.pos:l.pos+w], " \n") {
			n = w
			break
		}
	}
	s := l.src[l.pos : l.pos+n]
	l.pos += n
	l.emit(Token{Kind: Op, Text: s})
	l.noteBracket(s)
}

// noteBracket remembers what is open and tells each bracket where it is closed.
func (l *lexer) noteBracket(s string) {
	switch s {
	case "(", "[", "{":
		l.open = append(l.open, len(l.toks)-1)
	case ")", "]", "}":
		// A wrong bracket closes what it can: code that does not parse is read all the same.
		for i := len(l.open) - 1; i >= max(0, len(l.open)-maxOpen); i-- {
			if closes(l.toks[l.open[i]].Text, s) {
				for _, j := range l.open[i:] {
					l.toks[j].N = len(l.toks) - 1
				}
				l.open = l.open[:i]
				return
			}
		}
	}
}

func closes(a, b string) bool {
	return a == "(" && b == ")" || a == "[" && b == "]" || a == "{" && b == "}"
}
