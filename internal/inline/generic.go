package inline

import (
	"regexp"
	"strings"
	"sync"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// generic reads code in a language that is not known: its strings, the words
// before them, and little else. What looks like a path is reported as weak, what
// a word says is a command as one, and the code stays opaque.
type generic struct {
	rep   *Report
	src   string
	pos   int
	word  string   // the name before what comes next, "" if something else is
	calls []string // the names before the brackets that are open
	start bool     // a statement begins here
	text  string   // the last string …
	glued bool     // … and only operators that put texts together since
	ended string   // the quotes that do not end any more
}

// maxGlued bounds the text that strings side by side are put together to.
const maxGlued = 256

// scanGeneric reads code that no other scanner reads.
func scanGeneric(rep *Report, code string) {
	g := &generic{rep: rep, src: code, start: true}
	for g.pos < len(g.src) {
		at := g.pos
		g.next()
		if g.pos <= at {
			g.pos = at + 1
		}
	}
	rep.opaque("code in a language that cordon does not read")
}

func (g *generic) next() {
	c := g.src[g.pos]
	switch {
	case c == '\n' || c == ';':
		g.pos++
		g.start, g.word, g.glued = true, "", false
	case c == ' ' || c == '\t' || c == '\r':
		g.pos++
	case g.comment():
	case c == '"' || c == '\'' && (g.pos == 0 || !lex.IsWord(g.src[g.pos-1])):
		g.quoted(c)
		g.start = false
	case c == '`':
		g.backquoted()
	case g.start && (c == '!' || strings.HasPrefix(g.src[g.pos:], ":!")): // a line that a shell runs
		line, _, _ := strings.Cut(g.src[g.pos:], "\n")
		g.pos += len(line)
		g.rep.run(commands.Run{Code: strings.TrimLeft(line, ":! "), Why: "!"})
	case g.unquoted():
	case lex.IsLetter(c):
		g.name()
	default:
		g.operator(c)
		g.start = false
	}
}

// comment moves behind a comment. Only what can hardly be anything else is one.
func (g *generic) comment() bool {
	rest := g.src[g.pos:]
	fresh := g.pos == 0 || strings.IndexByte(" \t\n;", g.src[g.pos-1]) >= 0
	line, _, _ := strings.Cut(rest, "\n")
	if !fresh || !strings.HasPrefix(rest, "# ") && !strings.HasPrefix(rest, "// ") && !strings.HasPrefix(rest, "-- ") && !(g.start && rest[0] == '%') {
		return false
	}
	g.pos += len(line)
	return true
}

// backquoted is a command between backquotes that are closed on their line, as in
// PHP and Julia. Elsewhere they quote nothing that matters.
func (g *generic) backquoted() {
	line, _, _ := strings.Cut(g.src[g.pos+1:], "\n")
	g.pos++
	if code, _, closed := strings.Cut(line, "`"); closed {
		g.rep.run(commands.Run{Code: interpolation().ReplaceAllString(code, mark.Any), Why: "`"})
		g.pos += len(code) + 1
	}
	g.start = false
}

// unquoted reads a path that stands for itself, as in Nix and in commands of
// editors.
func (g *generic) unquoted() bool {
	rest := g.src[g.pos:]
	if rest[0] != '.' && rest[0] != '/' || g.pos > 0 && strings.IndexByte(" \t\n([=", g.src[g.pos-1]) < 0 {
		return false
	}
	n := strings.IndexAny(rest, " \t\n;)]}\"'")
	if n < 0 {
		n = len(rest)
	}
	absolute := rest[0] == '/' && strings.Count(rest[:n], "/") > 1 && rest[n-1] != '/'
	if !absolute && rest[:n] != ".." && !strings.HasPrefix(rest, "../") {
		return false
	}
	g.weak(rest[:n], g.word)
	g.pos += n
	g.word, g.glued, g.start = "", false, false
	return true
}

// name reads a name with its modules: System.cmd, os:cmd, std::fs::write.
func (g *generic) name() {
	at := g.pos
	for g.pos < len(g.src) {
		c := g.src[g.pos]
		joins := (c == '.' || c == ':') && g.pos+1 < len(g.src) && (lex.IsLetter(g.src[g.pos+1]) || g.src[g.pos+1] == ':')
		if !lex.IsWord(c) && !joins && !(c == '!' || c == '?') {
			break
		}
		g.pos++
	}
	g.word = g.src[at:g.pos]
	if g.word == "c" && at > 0 && g.src[at-1] == '-' {
		g.word = "sh" // sh -c "…"
	}
	if strings.HasPrefix(g.word, "os.up") {
		g.weak("..", g.word)
	}
	g.start, g.glued = false, false
}

func (g *generic) operator(c byte) {
	g.pos++
	switch c {
	case '(', '[', '{':
		if len(g.calls) < maxDepth {
			g.calls = append(g.calls, g.word)
		}
		g.word, g.glued = "", false
	case ')', ']', '}':
		if n := len(g.calls); n > 0 {
			g.calls = g.calls[:n-1]
		}
		g.word, g.glued = "", false
	case '+', '<', '>', '~', '^', '&', '.', '/':
	default:
		if c != '$' && c != '@' && c != '!' {
			g.word = ""
		}
		g.glued = false
	}
}

// quoted reads a string and says what it may be.
func (g *generic) quoted(q byte) {
	s, ok := g.literal(q)
	if !ok {
		return
	}
	after := g.src[g.pos:]
	if g.glued && len(g.text)+len(s) < maxGlued {
		g.says(g.text+s, after)
		s = g.text + s
	} else {
		g.says(s, after)
	}
	g.text, g.glued, g.word = s, false, ""
	if rest := strings.TrimLeft(after[:min(len(after), 64)], " \n"); rest != "" && strings.IndexByte("+<.~^&", rest[0]) >= 0 {
		g.glued = true // only an operator puts it to the next
	}
}

// literal reads a string behind its opening quote. One in single quotes ends on
// its line, or the quote was something else.
func (g *generic) literal(q byte) (string, bool) {
	if strings.HasPrefix(g.src[g.pos:], `"""`) {
		body, _, _ := strings.Cut(g.src[g.pos+3:], `"""`)
		g.pos = min(len(g.src), g.pos+6+len(body))
		return body, true
	}
	var b strings.Builder
	if q == '"' && strings.Contains(g.ended, `"`) {
		g.pos++
		return "", false
	}
	for i := g.pos + 1; i < len(g.src); i++ {
		switch c := g.src[i]; {
		case c == q:
			g.pos = i + 1
			return interpolation().ReplaceAllString(b.String(), mark.Any), true
		case c == '\n' && q == '\'':
			g.pos++
			return "", false
		case c == '\\' && i+1 < len(g.src):
			i++
			b.WriteByte(g.src[i])
		default:
			b.WriteByte(c)
		}
	}
	if q == '"' {
		g.ended += `"`
	}
	g.pos++
	return "", false
}

// interpolation matches #{…}, ${…} and $name inside of a string.
var interpolation = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[#$]\{[^}]*\}?|\$[A-Za-z_]\w*`) })

// says reports a string: a command by the word before or behind it, or a path.
func (g *generic) says(s, after string) {
	name := g.word
	if name == "" && len(g.calls) > 0 {
		name = g.calls[len(g.calls)-1]
	}
	method := ""
	if strings.HasPrefix(after, ".") {
		method = leadingName(after[1:])
	} else if rest, ok := strings.CutPrefix(strings.TrimLeft(after[:min(len(after), 64)], " \n"), "|>"); ok {
		method = leadingName(strings.TrimLeft(rest, " "))
	}
	switch {
	case genericRuns(name), method == "execute" || strings.HasPrefix(after, ".!") || strings.HasPrefix(after, " !"):
		if strings.TrimSpace(s) != "" {
			g.rep.run(commands.Run{Code: s, Why: name})
		}
		g.weak(s, name)
	case genericSays(name), method != "" && genericSays(method):
	default:
		g.weak(s, name)
	}
}

// leadingName is the name that a text begins with.
func leadingName(s string) string {
	i := 0
	for i < len(s) && i < 64 && (lex.IsWord(s[i]) || s[i] == '.') {
		i++
	}
	return s[:i]
}

func (g *generic) weak(s, why string) {
	if p, ok := fileURL(s); ok {
		s = p
	}
	if pathLike(s) && s != "~" {
		g.rep.add(Access{Access: commands.Access{Role: commands.Read, Path: s, Why: why}, Weak: true})
	}
}

// genericRuns reports whether a function of some language runs a command.
func genericRuns(name string) bool {
	return inSet("runs", lastOf(name)) || name == "run" // of raku; a.run is a method of anything
}

// genericSays reports whether a function of some language only prints or
// compares text.
func genericSays(name string) bool {
	last := lastOf(name)
	return inSet("prints", last) || last != "" && !inSet("opens", last) && onlySays(last, last)
}

// lastOf is the last part of a name, without what marks its kind.
func lastOf(name string) string {
	name = strings.TrimRight(name, "!?")
	return name[strings.LastIndexAny(name, ".:")+1:]
}
