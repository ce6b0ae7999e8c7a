package inline

import (
	"strings"

	"cordon/internal/mark"
	"cordon/internal/tool"
)

// lisp reads s-expressions: Emacs, Scheme, Racket, Clojure.
type lisp struct {
	rep      *Report
	src      string
	pos      int
	depth    int
	bindings int // how deep the bindings of a let are
	vars     map[string]value
}

func scanLisp(rep *Report, code string, depth int) {
	l := &lisp{rep: rep, src: code, depth: depth, vars: map[string]value{}}
	for l.blanks(); l.pos < len(l.src); l.blanks() {
		at := l.pos
		l.form()
		if l.pos <= at {
			l.pos = at + 1
		}
	}
}

func (l *lisp) blanks() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ';':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' {
				l.pos++
			}
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',' || c == '\'' || c == '`' || c == '#' || c == '@':
			l.pos++
		default:
			return
		}
	}
}

// form reads one form and evaluates it.
func (l *lisp) form() value {
	l.blanks()
	if l.pos >= len(l.src) {
		return value{}
	}
	switch l.src[l.pos] {
	case '(', '[', '{':
		return l.list()
	case ')', ']', '}':
		l.pos++
		return value{}
	case '"':
		lx := &lexer{src: l.src, pos: l.pos + 1}
		parts := lx.until(`"`, style{})
		l.pos = lx.pos
		return literal(parts[0].s)
	}
	at := l.pos
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n()[]{}\";,", l.src[l.pos]) < 0 {
		l.pos++
	}
	word := l.src[at:l.pos]
	if v, ok := l.vars[word]; ok {
		return v
	}
	if word == "default-directory" || word == "user-emacs-directory" {
		return literal(map[bool]string{true: ".", false: "~/.emacs.d"}[word == "default-directory"])
	}
	return nameOf(word)
}

func (l *lisp) list() value {
	l.pos++
	if l.depth >= maxDepth {
		l.rep.opaque("the code is nested too deep to be followed")
		l.pos = len(l.src)
		return value{}
	}
	l.depth++
	defer func() { l.depth-- }()
	var items []value
	for l.blanks(); l.pos < len(l.src); l.blanks() {
		if c := l.src[l.pos]; c == ')' || c == ']' || c == '}' {
			l.pos++
			break
		}
		at := l.bindings
		if len(items) == 1 && items[0].shape == named && lets(items[0].name) {
			l.bindings = l.depth + 2 // ((name value) …)
		}
		items = append(items, l.form())
		l.bindings = at
		if len(items) == 3 && items[0].shape == named && binds(items[0].name) && items[1].shape == named {
			l.vars[items[1].name] = items[2]
		}
	}
	if len(items) == 2 && items[0].shape == named && l.depth == l.bindings {
		l.vars[items[0].name] = items[1]
		return value{}
	}
	if len(items) == 0 || items[0].shape != named {
		return listOf(items)
	}
	return l.apply(items[0].name, items[1:])
}

func binds(s string) bool {
	switch s {
	case "setq", "define", "def", "defvar", "defconst", "set!", "setq-default":
		return true
	}
	return false
}

// lets reports whether a form begins with bindings.
func lets(s string) bool {
	switch s {
	case "let", "let*", "when-let", "if-let", "letrec", "cl-let", "loop":
		return true
	}
	return false
}

// lispFile says which argument of a function is a path, and what becomes of it.
func lispFile(name string) (role tool.Role, a, b int, ok bool) {
	switch name {
	case "find-file", "find-file-noselect", "insert-file-contents", "insert-file", "file-exists-p", "directory-files", "file->string", "open-input-file", "slurp", "file-readable-p", "clojure.java.io/reader",
		"with-input-from-file", "call-with-input-file", "directory-list", "file-exists?", "dired", "insert-file-contents-literally", "directory-files-recursively":
		return tool.Read, 0, -1, true
	case "load", "load-file", "load-library", "primitive-load", "require-file", "include":
		return tool.Read, 0, -1, true
	case "write-file", "delete-file", "make-directory", "delete-directory", "set-file-modes", "open-output-file", "with-output-to-file", "call-with-output-file", "spit", "display-to-file", "set-visited-file-name",
		"mkdir", "make-empty-file", "delete-directory/files", "clojure.java.io/writer", "clojure.java.io/delete-file", "with-temp-file", "make-directory*", "write-to-file", "rmdir", "chmod":
		return tool.Write, 0, -1, true
	case "write-region":
		return tool.Write, 2, -1, true
	case "append-to-file":
		return tool.Write, 2, -1, true
	case "rename-file", "copy-file", "rename-file-or-directory", "add-name-to-file", "copy-directory", "make-symbolic-link", "symlink", "link", "make-file-or-directory-link":
		return tool.Write, 0, 1, true
	case "cd", "chdir", "current-directory":
		return tool.Enter, 0, -1, true
	}
	return 0, 0, 0, false
}

func lispShell(name string) bool {
	switch name {
	case "shell-command", "shell-command-to-string", "async-shell-command", "system", "compile", "start-process-shell-command", "process-lines-shell":
		return true
	}
	return false
}

// apply evaluates a call.
func (l *lisp) apply(name string, args []value) value {
	if role, a, b, ok := lispFile(name); ok {
		l.touch(role, args, a, name)
		l.touch(role, args, b, name)
		return value{}
	}
	switch {
	case lispShell(name) && len(args) > 0:
		for _, s := range args[0].texts() {
			l.rep.run(tool.Run{Code: s, Why: name})
		}
	case name == "call-process" || name == "process-file":
		l.vector(args, 0, 4)
	case name == "start-process":
		l.vector(args, 2, 3)
	case name == "call-process-region":
		l.vector(args, 2, 6)
	case name == "sh" || name == "clojure.java.shell/sh" || name == "system*" || name == "process-lines" || name == "subprocess" || name == "shell/sh":
		l.vector(args, 0, 1)
	case name == "eval" || name == "read-from-string" || name == "eval-string" || name == "load-string":
		l.eval(args)
	case name == "module-load" || name == "dynamic-link" || name == "foreign-procedure":
		l.rep.opaque("the code calls " + name + ", which cannot be followed")
	case binds(name) && len(args) == 2 && args[0].name == "default-directory":
		l.touch(tool.Enter, args, 1, name)
	default:
		return l.text(name, args)
	}
	return value{}
}

func (l *lisp) touch(role tool.Role, args []value, n int, why string) {
	if n < 0 || n >= len(args) || args[n].shape == named && args[n].name == "nil" {
		return
	}
	for _, s := range args[n].texts() {
		l.rep.role(role, s, why)
	}
}

// vector reports a program and its arguments.
func (l *lisp) vector(args []value, file, from int) {
	if file >= len(args) {
		return
	}
	argv := []value{args[file]}
	if from < len(args) {
		argv = append(argv, args[from:]...)
	}
	if len(argv) > 4*maxAlts || mark.In(firstText(argv[0])) {
		l.rep.opaque("the code runs a command that is not known")
		return
	}
	for _, v := range vectors(argv) {
		l.rep.run(tool.Run{Args: v})
	}
}

func (l *lisp) eval(args []value) {
	for _, a := range args {
		if a.shape != text {
			continue
		}
		for _, s := range a.alts {
			if mark.In(s) {
				l.rep.opaque("the code evaluates text that is not known")
				continue
			}
			scan(l.rep, tool.Lisp, s, nil, l.depth+1)
		}
	}
}

// text evaluates the functions that make text, and reports what looks like a
// path in the arguments of others.
func (l *lisp) text(name string, args []value) value {
	switch name {
	case "concat", "string-append", "str", "concatenate":
		v := literal("")
		for _, a := range args {
			v = concat(v, asText(a))
		}
		return v
	case "expand-file-name", "build-path", "file-name-concat", "clojure.java.io/file", "io/file", "file-truename", "substitute-in-file-name", "expand-user-path":
		if name == "expand-file-name" && len(args) == 2 {
			return joined(args[1], args[0])
		}
		return joined(args...)
	case "getenv", "System/getenv":
		if s, ok := union(args...).known(); ok && s == "HOME" {
			return literal("~")
		}
		return literal(mark.Any)
	case "format":
		if len(args) > 0 {
			return format(args[0], args[1:])
		}
	case "setenv":
		l.rep.opaque("the code changes its environment")
	case "message", "princ", "print", "display", "println", "prn", "error", "insert", "newline", "displayln", "printf", "assert", "user-error":
		return value{}
	}
	for _, a := range args {
		for _, s := range a.alts {
			if pathLike(s) {
				l.rep.add(Access{Access: tool.Access{Role: tool.Read, Path: s, Why: name}, Weak: true})
			}
		}
	}
	if n := len(args); n > 0 && (name == "progn" || name == "let" || name == "let*" || name == "begin" || name == "do") {
		return args[n-1]
	}
	return value{}
}
