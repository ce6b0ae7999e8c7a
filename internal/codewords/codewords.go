// Package codewords lists the words of a text that a shell or another language would run:
// which of them can name a command or a file. Package git reads values of its settings with
// it, and package githook scripts; the hook of a guard recognises a single command. What a setting of git among the words names is up to
// package git too.
//
// It is pure but for the environment, whose variables the text may hold. It refuses to run
// anything and to look at the disk: what a word leads to is up to the caller.
package codewords

import (
	"cmp"
	"os"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Word is a part of a text that can name a file.
type Word struct {
	Text    string
	Command bool // stands where a command does: without a slash it is looked for on PATH
	Place   bool // is meant as a file or a directory, whatever lies there
	Absent  bool // the same, and counts also when nothing lies there yet
	Exact   bool // is the whole text: no character in it has another meaning
}

// Of lists the words of a value that a shell reads. Quoted text may be code again, of
// a shell or of another language, and is read once more. A value with variables is read
// twice: as it is written, and with the values that the environment has for them.
func Of(value string, setting func(key, value string) []Word) []Word {
	value = strings.TrimLeft(value, "!@+| \t")
	return code{seen: map[*syntax.Word]bool{}, ofSetting: setting}.words(value)
}

// OfScript lists the words of a shell script in the same way, without its comments.
func OfScript(text string, setting func(key, value string) []Word) []Word {
	return code{seen: map[*syntax.Word]bool{}, script: true, ofSetting: setting}.words(text)
}

func (c code) words(text string) []Word {
	c.read(text)
	if strings.Contains(text, "$") {
		c.lookup = fromEnvironment
		c.read(text)
	}
	return c.found
}

// code collects the words of a piece of code.
type code struct {
	found  []Word
	seen   map[*syntax.Word]bool
	inner  []string                    // the pieces that are being read, from the outermost
	script bool                        // comments are for people
	lookup func(string) (string, bool) // the value of a variable; nil: no variable is replaced

	ofSetting func(key, value string) []Word // the words of a setting of git's
}

// fromEnvironment looks a variable up that git hands on as cordon sees it. A PATH says
// nothing of its own about a command.
func fromEnvironment(name string) (string, bool) {
	if name == "_" || strings.HasSuffix(name, "PWD") || strings.HasSuffix(name, "PATH") {
		return "", false
	}
	value, ok := os.LookupEnv(name)
	return value, ok && value != ""
}

const maxNested = 10

// read reads a piece of code.
func (c *code) read(text string) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(!c.script)).Parse(strings.NewReader(text), "")
	if err != nil || len(c.inner) == maxNested {
		c.split(text)
		return
	}
	c.inner = append(c.inner, text)
	syntax.Walk(f, c.node)
	c.inner = c.inner[:len(c.inner)-1]
}

// separators end a word in some language.
const separators = " \t\r\n;|&()<>`'\"{}\\"

// split takes apart what is no code for a shell. Every part may be anything.
func (c *code) split(text string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		c.found = append(c.found, Word{Text: part, Command: true})
		c.plain(Word{Text: part})
	}
}

func (c *code) node(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		l := line{command: true}
		for _, w := range n.Args {
			c.seen[w] = true
			c.argument(&l, c.literal(w.Parts, false))
		}
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil {
			c.seen[n.Value] = true
			c.assigned(n.Name.Value, c.literal(n.Value.Parts, false))
		}
	case *syntax.Redirect:
		c.redirect(n)
	case *syntax.Word:
		if !c.seen[n] {
			c.maybeCode(c.literal(n.Parts, false))
			c.plain(Word{Text: c.literal(n.Parts, false)})
		}
	case *syntax.Comment: // to a shell
		c.split(n.Text)
	}
	return true
}

// redirect reads the file that a command gets as its input, or its input itself.
func (c *code) redirect(n *syntax.Redirect) {
	switch n.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		c.seen[n.Word] = true
		c.plain(Word{Text: c.literal(n.Word.Parts, false), Place: true, Absent: true})
	case syntax.WordHdoc:
		c.read(c.literal(n.Word.Parts, false))
	case syntax.Hdoc, syntax.DashHdoc:
		if n.Hdoc != nil {
			c.read(c.literal(n.Hdoc.Parts, true))
		}
	}
}

// quoted reads text once more that cannot be one word of a shell.
func (c *code) quoted(text string) {
	if strings.ContainsAny(text, separators) && (len(c.inner) == 0 || c.inner[len(c.inner)-1] != text) {
		c.read(text)
	}
}

// maybeCode reads text that can be code, unless it stands in a script: most of that is for people.
func (c *code) maybeCode(text string) {
	if !c.script {
		c.quoted(text)
	}
}

// plain adds a word and the parts of it that can be words.
func (c *code) plain(w Word) {
	c.found = append(c.found, w)
	if strings.ContainsAny(w.Text, ":,@=") {
		for _, part := range strings.FieldsFunc(w.Text, func(r rune) bool { return strings.ContainsRune(":,@=", r) }) {
			c.found = append(c.found, Word{Text: part})
		}
	}
}

// assigned reads the value of a variable or an option.
func (c *code) assigned(name, value string) {
	c.maybeCode(value)
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ',' || r == '=' }) {
		c.found = append(c.found, Word{Text: part, Place: identifier(name), Absent: searched(name)})
	}
	c.found = append(c.found, Word{Text: value})
}

// searched reports whether a variable names directories in which programs are found, or
// a file that a shell runs.
func searched(name string) bool {
	return strings.HasSuffix(name, "PATH") || strings.HasSuffix(name, "DIR") || strings.HasSuffix(name, "LIB") || strings.HasSuffix(name, "ENV")
}

// line is what the words of a command that were read say of the next one.
type line struct {
	program string
	command bool // it is a command
	place   bool // it is a file or a directory
	code    bool // it is code
	setting bool // it is a setting of git's
	script  bool // it is the script of an interpreter, or an option before that
}

func (c *code) argument(l *line, text string) {
	option := strings.HasPrefix(text, "-")
	name, value, assigned := strings.Cut(text, "=")
	switch {
	case l.code:
		c.read(text)
	case l.setting:
		c.found = append(c.found, c.ofSetting(name, value)...)
	case assigned && value != "" && (option || identifier(name)):
		c.assigned(name, value)
		l.command = l.command && !option
		return
	case l.command:
		c.quoted(text)
	default:
		c.maybeCode(text)
	}
	if option && len(text) > 2 && text[1] != '-' {
		c.found = append(c.found, Word{Text: text[2:]})
	}
	place := l.place || l.script && !option
	c.plain(Word{Text: text, Command: l.command && !option, Place: place, Absent: place})
	l.after(text, option)
}

// after decides what follows a word.
func (l *line) after(text string, option bool) {
	l.place = text == "cd" || text == "pushd" || text == "-C" || text == "-I" || text == "-f" && readsFile[l.program]
	l.code, l.setting = false, text == "-c" && l.program == "git"
	_, interpreter := interpreters[l.program]
	switch {
	case l.command && (option || text == "" || text[0] >= '0' && text[0] <= '9'): // of the program before, as in nice -n 10
	case l.command:
		l.program = strings.TrimRight(path.Base(text), "0123456789.-")
		if text == "." {
			l.program = text
		}
		_, l.script = interpreters[l.program]
		l.command = startsOthers[l.program]
	case !option:
		l.script = false
	case interpreter && len(text) > 1 && text[1] != '-':
		l.code = strings.ContainsAny(text[len(text)-1:], interpreters[l.program])
	case interpreter:
		l.code = text == "--eval" || text == "--print" || text == "--command"
	}
	l.script = l.script && !l.code
}

// interpreters run the file that is their first argument. The letters are of options
// that take code instead, or a module.
var interpreters = map[string]string{
	"sh": "c", "bash": "c", "dash": "c", "ash": "c", "ksh": "c", "mksh": "c", "zsh": "c", "fish": "c", "csh": "c", "tcsh": "c", "rbash": "c",
	"python": "cm", "pypy": "cm", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "bun": "ep", "php": "r", "lua": "e", "luajit": "e",
	"tclsh": "", "wish": "", "expect": "c", "Rscript": "e", "pwsh": "c", "java": "", "guile": "c", "osascript": "e", "source": "", ".": "",
}

// readsFile are programs that are told by -f what they do.
var readsFile = map[string]bool{"awk": true, "gawk": true, "mawk": true, "nawk": true, "sed": true, "make": true, "gmake": true}

// startsOthers are programs whose argument is a command.
var startsOthers = map[string]bool{
	"env": true, "exec": true, "command": true, "builtin": true, "eval": true, "nice": true, "ionice": true, "nohup": true, "setsid": true,
	"stdbuf": true, "time": true, "timeout": true, "xargs": true, "sudo": true, "doas": true, "busybox": true, "chrt": true, "taskset": true,
}

// literal is a word without its quotes. A value that only the shell knows shows as $NAME
// or $().
func (c *code) literal(parts []syntax.WordPart, quoted bool) string {
	var text strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text.WriteString(unescaped(p.Value, quoted))
		case *syntax.SglQuoted:
			value := p.Value
			if p.Dollar {
				value, _, _ = expand.Format(nil, value, nil)
			}
			text.WriteString(value)
		case *syntax.DblQuoted:
			text.WriteString(c.literal(p.Parts, true))
		case *syntax.ParamExp:
			text.WriteString(c.variable(p))
		case *syntax.CmdSubst:
			text.WriteString("$()")
		case *syntax.ArithmExp:
			text.WriteString("$0")
		case *syntax.ExtGlob:
			text.WriteString(p.Pattern.Value)
		}
	}
	return text.String()
}

// variable is the value of a variable, or the text that stands in for one that is not set.
// It is $NAME where only the shell knows.
func (c *code) variable(p *syntax.ParamExp) string {
	if p.Param == nil {
		return "$"
	}
	name := "$" + p.Param.Value
	if c.lookup == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return name
	}
	value, known := c.lookup(p.Param.Value)
	if p.Exp == nil {
		return cmp.Or(value, name)
	}
	other := ""
	if p.Exp.Word != nil {
		other = c.literal(p.Exp.Word.Parts, false)
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return cmp.Or(value, other)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if known {
			return other
		}
		return ""
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return cmp.Or(value, name)
	}
	return name
}

// unescaped takes the backslashes from a part of a word that a shell would take.
func unescaped(text string, quoted bool) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func identifier(name string) bool {
	for i, c := range name {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
