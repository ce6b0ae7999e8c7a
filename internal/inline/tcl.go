package inline

import (
	"strings"

	"cordon/internal/mark"
	"cordon/internal/tool"
)

// tcl reads commands of Tcl and expect.
type tcl struct {
	rep   *Report
	src   string
	pos   int
	depth int
	vars  map[string]string
}

func scanTcl(rep *Report, code string, depth int) {
	(&tcl{rep: rep, src: code, depth: depth, vars: map[string]string{}}).script()
}

// inner reads code inside of a command, with the same variables.
func (t *tcl) inner(code string) {
	if t.depth >= maxDepth {
		t.rep.opaque("the code is nested too deep to be followed")
		return
	}
	(&tcl{rep: t.rep, src: code, depth: t.depth + 1, vars: t.vars}).script()
}

func (t *tcl) script() {
	var words []string
	end := func() {
		if len(words) > 0 {
			t.command(words)
		}
		words = nil
	}
	for t.pos < len(t.src) {
		switch c := t.src[t.pos]; {
		case c == '\n' || c == ';':
			t.pos++
			end()
		case c == ' ' || c == '\t' || c == '\r':
			t.pos++
		case c == '\\' && t.pos+1 < len(t.src) && t.src[t.pos+1] == '\n':
			t.pos += 2
		case c == '#' && len(words) == 0:
			for t.pos < len(t.src) && t.src[t.pos] != '\n' {
				t.pos++
			}
		default:
			at := t.pos
			words = append(words, t.word())
			if t.pos <= at {
				t.pos++
			}
		}
	}
	end()
}

// word reads {…}, "…" or a bare word, with substitutions.
func (t *tcl) word() string {
	if strings.HasPrefix(t.src[t.pos:], "{*}") {
		t.pos += 3
		return ""
	}
	if t.src[t.pos] == '{' {
		lx := &lexer{src: t.src, pos: t.pos}
		s := lx.braced()
		t.pos = lx.pos
		return s
	}
	quoted := t.src[t.pos] == '"'
	if quoted {
		t.pos++
	}
	var b strings.Builder
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		if quoted && c == '"' {
			t.pos++
			break
		}
		if !quoted && strings.IndexByte(" \t\r\n;", c) >= 0 {
			break
		}
		t.piece(&b, c)
	}
	return b.String()
}

// piece reads one character, a variable or a nested command.
func (t *tcl) piece(b *strings.Builder, c byte) {
	switch c {
	case '\\':
		if t.pos+1 < len(t.src) {
			b.WriteByte(t.src[t.pos+1])
		}
		t.pos += 2
	case '[':
		lx := &lexer{src: t.src, pos: t.pos}
		code := lx.braced()
		t.pos = lx.pos
		t.inner(code)
		b.WriteString(t.result(code))
	case '$':
		b.WriteString(t.variable())
	default:
		b.WriteByte(c)
		t.pos++
	}
}

// result is what a nested command gives, where that is plain.
func (t *tcl) result(code string) string {
	f := strings.Fields(code)
	switch {
	case len(f) > 2 && f[0] == "file" && f[1] == "join":
		s := ""
		for _, w := range f[2:] {
			s = joinPath(s, strings.Trim(w, `"{}`))
		}
		if strings.Contains(s, "$") || strings.Contains(s, "[") {
			return mark.Any
		}
		return s
	case code == "pwd":
		return "."
	}
	return mark.Any
}

func (t *tcl) variable() string {
	t.pos++
	at := t.pos
	for t.pos < len(t.src) && (isWord(t.src[t.pos]) || t.src[t.pos] == ':') {
		t.pos++
	}
	name := t.src[at:t.pos]
	if t.pos < len(t.src) && t.src[t.pos] == '(' {
		lx := &lexer{src: t.src, pos: t.pos}
		name += "(" + lx.braced() + ")"
		t.pos = lx.pos
	}
	switch {
	case name == "":
		return "$"
	case strings.TrimPrefix(name, "::") == "env(HOME)":
		return "~"
	}
	if v, ok := t.vars[name]; ok {
		return v
	}
	return mark.Any
}

func (t *tcl) command(w []string) {
	arg := func(n int) string {
		if n < len(w) {
			return w[n]
		}
		return ""
	}
	switch w[0] {
	case "set":
		if len(w) == 3 {
			t.vars[w[1]] = w[2]
			if strings.HasPrefix(w[1], "env(") || strings.HasPrefix(w[1], "::env(") {
				t.rep.opaque("the code changes its environment")
			}
		}
	case "exec", "spawn", "system":
		t.exec(w[1:])
	case "open":
		t.open(arg(1), arg(2), len(w) > 2)
	case "cd":
		t.rep.role(tool.Enter, arg(1), "cd")
	case "source":
		t.rep.role(tool.Read, arg(1), "source")
	case "glob":
		t.rep.role(tool.Read, spelled(w[len(w)-1]), "glob")
	case "file":
		t.file(arg(1), w[min(2, len(w)):])
	case "log_file":
		t.rep.role(tool.Write, w[len(w)-1], "log_file")
	case "eval", "uplevel", "subst":
		t.inner(strings.Join(w[1:], " "))
		if mark.In(strings.Join(w[1:], " ")) {
			t.rep.opaque("the code evaluates text that is not known")
		}
	case "load":
		t.rep.opaque("load of Tcl cannot be followed")
	case "if", "while", "for", "foreach", "proc", "catch", "try", "switch", "expect", "after", "namespace", "lmap", "time", "else", "elseif", "finally":
		t.blocks(w)
	case "interact", "send", "puts", "send_user", "error":
	}
}

// blocks reads the bodies of a command that has some, and runs a loop's with its
// variable unknown.
func (t *tcl) blocks(w []string) {
	if w[0] == "foreach" && len(w) > 3 {
		t.vars[w[1]] = mark.Any
		if f := strings.Fields(w[2]); len(f) == 1 {
			t.vars[w[1]] = f[0]
		}
	}
	for _, b := range w[1:] {
		if strings.ContainsAny(b, " \n[") {
			t.inner(b)
		}
	}
}

// exec reads a pipeline: programs, and files behind < and >.
func (t *tcl) exec(w []string) {
	var argv []string
	flush := func() {
		if len(argv) > 0 {
			t.rep.run(tool.Run{Args: argv, Why: "exec"})
			if mark.In(argv[0]) {
				t.rep.opaque("the code runs a command that is not known")
			}
		}
		argv = nil
	}
	for i := 0; i < len(w); i++ {
		s := w[i]
		switch {
		case len(argv) == 0 && strings.HasPrefix(s, "-"):
		case s == "|" || s == "|&":
			flush()
		case (s == ">" || s == ">>" || s == "2>" || s == ">&" || s == "2>>") && i+1 < len(w):
			i++
			t.rep.role(tool.Write, w[i], s)
		case strings.HasPrefix(s, ">") && len(s) > 1 && s[1] != '@':
			t.rep.role(tool.Write, strings.TrimLeft(s, ">&"), ">")
		case s == "<" && i+1 < len(w):
			i++
			t.rep.role(tool.Read, w[i], s)
		case s == "&":
		default:
			argv = append(argv, s)
		}
	}
	flush()
}

func (t *tcl) open(path, mode string, moded bool) {
	switch {
	case strings.HasPrefix(path, "|"):
		t.exec(strings.Fields(path[1:]))
	case moded && (writes(mode) || strings.Contains(mode, "WR") || strings.Contains(mode, "CREAT")):
		t.rep.role(tool.Write, path, "open")
	default:
		t.rep.role(tool.Read, path, "open")
	}
}

func (t *tcl) file(verb string, args []string) {
	role := tool.Read
	switch verb {
	case "delete", "mkdir", "rename", "copy", "link", "attributes", "tempfile":
		role = tool.Write
	case "join", "dirname", "tail", "extension", "rootname", "split", "normalize", "nativename":
		return
	}
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			t.rep.role(role, a, "file "+verb)
		}
	}
}
