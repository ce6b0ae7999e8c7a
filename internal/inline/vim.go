package inline

import (
	"strings"

	"cordon/internal/tool"
)

// scanVim reads commands of ex, vi and ed, one on a line.
func scanVim(rep *Report, code string, depth int) {
	typed := false
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		if typed {
			typed = line != "."
			continue
		}
		exLine(rep, line, depth)
		typed = types(line)
	}
}

// types reports whether the lines after a command are text, up to a dot.
func types(line string) bool {
	switch exRange(line) {
	case "a", "i", "c", "append", "insert", "change", "a!", "i!":
		return true
	}
	return false
}

// exLine reads one line: commands that a bar separates.
func exLine(rep *Report, line string, depth int) {
	if depth > maxDepth {
		rep.opaque("commands inside of commands, too deep to be followed")
		return
	}
	for line != "" {
		var cmd string
		cmd, line = exCommand(line)
		exRun(rep, cmd, depth)
	}
}

// exCommand splits the first command off. A bar belongs to what runs a shell, to
// a pattern, and to code.
func exCommand(line string) (cmd, rest string) {
	bare := strings.TrimLeft(line, ": \t0123456789%.,$+-'<>;\\/?")
	if whole(bare) {
		return line, ""
	}
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' && i > 0 && line[i-1] == '(':
			quote = c
		case c == '|':
			return line[:i], line[i+1:]
		}
	}
	return line, ""
}

// whole reports whether a command takes its line to the end.
func whole(s string) bool {
	name, _ := exName(s)
	switch name {
	case "!", "g", "global", "v", "vglobal", "normal", "norm", "lua", "py", "py3", "python", "python3", "ruby", "perl", "autocmd", "au", "command", "terminal", "ter", "term", "make", "grep":
		return true
	}
	return strings.HasPrefix(s, "r !") || strings.HasPrefix(s, "r!") || strings.HasPrefix(s, "read !") || strings.HasPrefix(s, "w !") || strings.HasPrefix(s, "write !")
}

// exName splits the name of a command from its argument.
func exName(s string) (name, arg string) {
	i := 0
	for i < len(s) && (isLetter(s[i]) || i > 1 && isDigit(s[i])) {
		i++
	}
	if i == 0 && s != "" {
		return s[:1], s[1:]
	}
	return s[:i], s[i:]
}

// exRange drops the lines that a command is for: numbers, marks, patterns.
func exRange(s string) string {
	for s != "" {
		switch c := s[0]; {
		case c == ':' || c == ' ' || c == '\t' || isDigit(c) || strings.IndexByte("%.,$+-;", c) >= 0:
			s = s[1:]
		case c == '\'' && len(s) > 1:
			s = s[2:]
		case c == '/' || c == '?':
			end := strings.IndexByte(s[1:], c)
			if end < 0 {
				return ""
			}
			s = s[end+2:]
		default:
			return s
		}
	}
	return s
}

func exRun(rep *Report, cmd string, depth int) {
	s := exRange(cmd)
	name, arg := exName(s)
	force := strings.HasPrefix(arg, "!")
	path := strings.TrimSpace(strings.TrimLeft(arg, "! "))
	for strings.HasPrefix(path, "++") || strings.HasPrefix(path, "+") {
		_, path, _ = strings.Cut(path, " ")
	}
	switch name {
	case "!", "terminal", "ter", "term":
		rep.run(tool.Run{Code: arg, Why: ":" + name})
	case "r", "read", "w", "write", "wq", "x", "xit", "exit", "up", "update", "sav", "saveas", "W", "wall", "wa", "f", "file":
		exWrite(rep, name, arg, path, force)
	case "e", "edit", "E", "sp", "split", "vs", "vsplit", "vsp", "new", "tabe", "tabedit", "tabnew", "view", "sview", "badd", "find", "n", "next", "args", "argadd", "so", "source", "ru", "luafile", "pyfile", "py3file", "diffsplit", "vimgrep", "0r", "ar", "drop":
		exRead(rep, ":"+name, path)
	case "cd", "lcd", "tcd", "chdir", "lchdir":
		rep.role(tool.Enter, path, ":"+name)
	case "g", "global", "v", "vglobal":
		exLine(rep, exGlobal(arg), depth+1)
	case "exe", "execute", "norm", "normal", "silent", "sil", "noautocmd", "noau", "keepalt", "keepjumps", "bufdo", "argdo", "windo", "tabdo", "autocmd", "au", "vertical", "verbose", "sandbox", "command":
		exNested(rep, name, arg, depth)
	case "lua":
		scan(rep, tool.Lua, arg, nil, depth+1)
	case "py", "py3", "python", "python3", "pyx":
		scan(rep, tool.Python, arg, nil, depth+1)
	case "ruby":
		scan(rep, tool.Ruby, arg, nil, depth+1)
	case "perl":
		scan(rep, tool.Perl, arg, nil, depth+1)
	case "call", "cal", "echo", "ec", "echom", "let", "return", "if", "put", "eval", "set", "se":
		newMachine(rep, tool.Vim, nil, depth+1).program(strings.TrimSpace(strings.TrimLeft(arg, "= ")))
	case "redir", "mks", "mksession", "mkview", "wv", "wviminfo", "wsh", "wshada", "mkexrc", "mkvimrc", "wundo", "TOhtml", "hardcopy":
		rep.role(tool.Write, strings.TrimLeft(path, ">! "), ":"+name)
	case "make", "grep":
		rep.run(tool.Run{Code: name + " " + path, Why: ":" + name})
	}
}

// exWrite reads :w path, :w >>path, :w !command, :r path and :r !command.
func exWrite(rep *Report, name, arg, path string, force bool) {
	trimmed := strings.TrimLeft(arg, " ")
	if strings.HasPrefix(trimmed, "!") && (strings.HasPrefix(name, "r") || strings.HasPrefix(arg, " !") || len(trimmed) > 1 && trimmed[1] != ' ' && name != "f") {
		rep.run(tool.Run{Code: strings.TrimLeft(trimmed[1:], " "), Why: ":" + name})
		return
	}
	path = strings.TrimSpace(strings.TrimPrefix(path, ">>"))
	if path == "" || path == "%" {
		return
	}
	if strings.HasPrefix(name, "r") {
		exRead(rep, ":"+name, path)
		return
	}
	rep.role(tool.Write, path, ":"+name)
}

func exRead(rep *Report, why, path string) {
	switch {
	case path == "" || path == "%" || path == "#":
	case strings.HasPrefix(path, "!"):
		rep.run(tool.Run{Code: path[1:], Why: why})
	default:
		rep.role(tool.Read, path, why)
	}
}

// exGlobal is the command of :g/pattern/command.
func exGlobal(arg string) string {
	arg = strings.TrimLeft(arg, "!")
	if arg == "" {
		return ""
	}
	d := arg[0]
	for i := 1; i < len(arg); i++ {
		if arg[i] == '\\' {
			i++
		} else if arg[i] == d {
			return arg[i+1:]
		}
	}
	return ""
}

// exNested reads a command inside of another.
func exNested(rep *Report, name, arg string, depth int) {
	arg = strings.TrimSpace(strings.TrimPrefix(arg, "!"))
	switch name {
	case "exe", "execute":
		m := newMachine(rep, tool.Vim, nil, depth+1)
		m.toks = lex(tool.Vim, arg)
		v := m.expr(levelAssign)
		for m.tok().kind != kEnd && m.step() {
			at := m.i
			v = concat(concat(v, literal(" ")), asText(m.expr(levelAssign)))
			if m.i <= at {
				m.i++
			}
		}
		s, ok := v.known()
		if !ok {
			rep.opaque("the code executes a command that is not known")
			return
		}
		exLine(rep, s, depth+1)
	case "norm", "normal":
		if i := strings.IndexByte(arg, ':'); i >= 0 {
			exLine(rep, strings.TrimRight(strings.ReplaceAll(arg[i:], "\r", ""), "\n"), depth+1)
		}
	case "autocmd", "au", "command":
		if words := strings.SplitN(arg, " ", 3); len(words) == 3 {
			exLine(rep, words[2], depth+1)
		}
	default:
		exLine(rep, arg, depth+1)
	}
}
