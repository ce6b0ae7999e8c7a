package commands

import (
	"strings"

	"cordon/internal/mark"
)

// The kinds of values, as rows name them:
//
//	text      not a path
//	read, write, enter, exec   a path, by its role; "-" is not one
//	verb      a subcommand; read if it cannot be one
//	chdir     a directory entered before anything else: other paths are relative to it
//	cd        the same for what comes after it
//	spec, out read or written, if it is a path and neither an address nor a plain name
//	loose     looked through for paths, which are read
//	arg       the same, and it may be an option of another program
//	list, commas   several paths, joined with colons or commas, read
//	readat    read, perhaps with an @ before it
//	at, form, field, urlencode, cookie, item   data, or @ and the path where the data is
//	node      a path with :: or : and a place in the file behind it
//	url       an address; file:// is read
//	media     a path or an address with a protocol
//	image, writeimage   a path, perhaps with a format before it
//	remote, readremote, writeremote, pod, writepod   a path, unless it names another host
//	from      a file that names further paths to read; "-" is standard input
//	code      of the shell; perl, python, ruby, javascript, sql, opaque: of those
//	prog      a program that gets arguments
//	command   with a star: the words of a command
//	wanted    a name under which something is written with a suffix
//
// The others are explained where a command of their own needs them.

// reading is a call while its Use is worked out.
type reading struct {
	*parsed
	call Call
	use  Use
	dir  string // where relative paths begin
}

// tabled works out what a call does by its rows.
func tabled(c Call, r *row) Use {
	g := &reading{parsed: parse(c.Args, r), call: c}
	g.use.Known = true
	g.use.Out = mark.Any
	g.special(r.name)
	g.linked(r.name)
	return g.use
}

// plainly does what the rows say.
func (g *reading) plainly() {
	for _, o := range g.options {
		if o.kind == "chdir" && o.has {
			g.path(Enter, o.value, o.at)
			g.dir = joinDir(g.dir, o.value)
		}
	}
	given := 0
	kinds := g.operandKinds()
	base := g.dir
	for i := 0; i <= len(g.operands); i++ {
		for given < len(g.options) && g.options[given].after <= i {
			g.option(g.options[given])
			given++
		}
		if i == len(g.operands) {
			break
		}
		kind := kindAt(kinds, i, len(g.operands))
		if kind == "command" {
			g.use.Runs = append(g.use.Runs, Run{Args: g.operands[i:], Dir: g.dir, Why: "operands"})
			break
		}
		g.value(kind, g.operands[i], "operand")
	}
	g.dir = base
	g.use.Out = g.prints()
}

func (g *reading) option(o option) {
	if o.has && o.kind != "chdir" {
		g.value(o.kind, o.value, o.at)
	}
}

// operandKinds returns the kinds of the operands, by the innermost row that has
// any.
func (g *reading) operandKinds() string {
	for i := len(g.rows) - 1; i >= 0; i-- {
		r := g.rows[i]
		for rest := r.when; rest != ""; {
			var clause string
			clause, rest, _ = strings.Cut(rest, " | ")
			names, kinds, _ := strings.Cut(clause, ": ")
			if g.has(strings.Fields(names)...) {
				return kinds
			}
		}
		if r.operands != "" {
			return r.operands
		}
	}
	return "loose*"
}

// kindAt returns the kind of operand i of n. The operands before the star are
// served first, then those after it.
func kindAt(kinds string, i, n int) string {
	fields := strings.Fields(kinds)
	star := len(fields)
	for j, f := range fields {
		if strings.HasSuffix(f, "*") {
			star = j
		}
	}
	after := len(fields) - star - 1
	switch {
	case i < star && i < len(fields):
		return fields[i]
	case star == len(fields):
		return "loose"
	case i >= n-after:
		return fields[len(fields)-(n-i)]
	}
	return strings.TrimSuffix(fields[star], "*")
}

// value does what a kind says with a value.
func (g *reading) value(kind, v, why string) {
	switch kind {
	case "", "text":
	case "read", "write", "enter", "exec":
		if v != "-" && v != "" {
			g.path(roleOf(kind), v, why)
		}
	case "cd":
		g.path(Enter, v, why)
		g.dir = joinDir(g.dir, v)
	case "code":
		g.use.Runs = append(g.use.Runs, Run{Code: v, Dir: g.dir, Why: why})
	case "prog":
		if strings.ContainsAny(v, " \t") { // with arguments, if it takes them
			g.use.Runs = append(g.use.Runs, Run{Code: v, Dir: g.dir, Why: why})
			return
		}
		g.use.Runs = append(g.use.Runs, Run{Args: []string{v, mark.Any}, Dir: g.dir, Why: why})
	case "wanted":
		g.path(Write, v+mark.Atom, why)
	default:
		g.found(kind, v, why)
	}
}

// found does what the kinds say that look for a path in a value.
func (g *reading) found(kind, v, why string) {
	var p string
	ok := true
	switch kind {
	case "spec", "out":
		p, ok = specPath(v)
	case "remote", "readremote", "writeremote":
		p, ok = localPath(v)
	case "pod", "writepod":
		p, ok = v, !strings.Contains(v, ":")
	case "readat":
		p = strings.TrimPrefix(v, "@")
	case "at", "field", "form", "urlencode", "cookie", "item":
		p, ok = dataPath(kind, v)
	case "url":
		p, ok = filePath(v)
		if mark.Has(v, mark.Outside) {
			p, ok = v, true
		}
	case "media":
		p, ok = mediaPath(v)
	case "image", "writeimage":
		p = imagePath(v)
	case "node":
		p, _, _ = strings.Cut(v, "::")
	case "passfile":
		p, ok = strings.CutPrefix(v, "file:")
	default:
		g.several(kind, v, why)
		return
	}
	if ok && p != "" && p != "-" {
		g.path(roleOf(kind), p, why)
	}
}

// several does what the kinds say that may find more than one path, or code.
func (g *reading) several(kind, v, why string) {
	switch kind {
	case "list":
		g.each(v, ":", why)
	case "commas":
		g.each(v, ",", why)
	case "from":
		g.value("read", v, why)
		g.listed(v, Read, why)
	case "verb":
		if startsPath(v) {
			g.path(Read, v, why)
		}
	case "loose":
		for _, p := range loosePaths(v) {
			g.path(Read, p, why)
		}
	case "arg":
		for _, p := range looseArgument(v) {
			g.path(Read, p, why)
		}
	case "sql":
		g.query(v, why)
	case "perl", "python", "ruby", "javascript", "opaque":
		g.use.Runs = append(g.use.Runs, Run{Code: v, Lang: Lang(kind), Dir: g.dir, Why: why})
	default:
		g.rare(kind, v, why)
	}
}

// listed adds the paths that a command reads from a file, a line each, if its
// text is known; "-" is the standard input.
func (g *reading) listed(file string, role Role, why string) {
	text, ok := g.content(file)
	if !ok {
		return
	}
	for i, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == 0 }) {
		if i >= maxLoose {
			g.path(role, mark.Any, why)
			return
		}
		g.path(role, line, why)
	}
}

func (g *reading) each(v, separator, why string) {
	for _, p := range strings.Split(v, separator) {
		g.value("read", p, why)
	}
}

// path adds an access.
func (g *reading) path(role Role, path, why string) {
	if p, ok := filePath(path); ok {
		path = p
	}
	g.use.Access = append(g.use.Access, Access{Role: role, Path: path, Dir: g.dir, Why: why})
}
