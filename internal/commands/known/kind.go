package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
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
	*table.Parsed
	call commands.Call
	use  commands.Use
	dir  string // where relative paths begin
}

// tabled works out what a call does by its rows.
func tabled(c commands.Call, r *table.Row) commands.Use {
	g := &reading{Parsed: table.Parse(c.Args, r), call: c}
	g.use.Known = true
	g.use.Out = mark.Any
	g.special(r.Name)
	g.linked(r.Name)
	return g.use
}

// plainly does what the rows say.
func (g *reading) plainly() {
	for _, o := range g.Options {
		if o.Kind == "chdir" && o.Has {
			g.path(commands.Enter, o.Value, o.At)
			g.dir = argtext.JoinDir(g.dir, o.Value)
		}
	}
	given := 0
	kinds := g.operandKinds()
	base := g.dir
	for i := 0; i <= len(g.Operands); i++ {
		for given < len(g.Options) && g.Options[given].After <= i {
			g.option(g.Options[given])
			given++
		}
		if i == len(g.Operands) {
			break
		}
		kind := kindAt(kinds, i, len(g.Operands))
		if kind == "command" {
			g.use.Runs = append(g.use.Runs, commands.Run{Args: g.Operands[i:], Dir: g.dir, Why: "operands"})
			break
		}
		g.value(kind, g.Operands[i], "operand")
	}
	g.dir = base
	g.use.Out = g.prints()
}

func (g *reading) option(o table.Option) {
	if o.Has && o.Kind != "chdir" {
		g.value(o.Kind, o.Value, o.At)
	}
}

// operandKinds returns the kinds of the operands, by the innermost row that has
// any.
func (g *reading) operandKinds() string {
	for i := len(g.Rows) - 1; i >= 0; i-- {
		r := g.Rows[i]
		for rest := r.When; rest != ""; {
			var clause string
			clause, rest, _ = strings.Cut(rest, " | ")
			names, kinds, _ := strings.Cut(clause, ": ")
			if g.Has(strings.Fields(names)...) {
				return kinds
			}
		}
		if r.Operands != "" {
			return r.Operands
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
			g.path(table.RoleOf(kind), v, why)
		}
	case "cd":
		g.path(commands.Enter, v, why)
		g.dir = argtext.JoinDir(g.dir, v)
	case "code":
		g.use.Runs = append(g.use.Runs, commands.Run{Code: v, Dir: g.dir, Why: why})
	case "prog":
		if strings.ContainsAny(v, " \t") { // with arguments, if it takes them
			g.use.Runs = append(g.use.Runs, commands.Run{Code: v, Dir: g.dir, Why: why})
			return
		}
		g.use.Runs = append(g.use.Runs, commands.Run{Args: []string{v, mark.Any}, Dir: g.dir, Why: why})
	case "wanted":
		g.path(commands.Write, v+mark.Atom, why)
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
		p, ok = argtext.SpecPath(v)
	case "remote", "readremote", "writeremote":
		p, ok = argtext.LocalPath(v)
	case "pod", "writepod":
		p, ok = v, !strings.Contains(v, ":")
	case "readat":
		p = strings.TrimPrefix(v, "@")
	case "at", "field", "form", "urlencode", "cookie", "item":
		p, ok = argtext.DataPath(kind, v)
	case "url":
		p, ok = argtext.FilePath(v)
		if mark.Has(v, mark.Outside) {
			p, ok = v, true
		}
	case "media":
		p, ok = argtext.MediaPath(v)
	case "image", "writeimage":
		p = argtext.ImagePath(v)
	case "node":
		p, _, _ = strings.Cut(v, "::")
	case "passfile":
		p, ok = strings.CutPrefix(v, "file:")
	default:
		g.several(kind, v, why)
		return
	}
	if ok && p != "" && p != "-" {
		g.path(table.RoleOf(kind), p, why)
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
		g.listed(v, commands.Read, why)
	case "verb":
		if argtext.StartsPath(v) {
			g.path(commands.Read, v, why)
		}
	case "loose":
		for _, p := range argtext.LoosePaths(v) {
			g.path(commands.Read, p, why)
		}
	case "arg":
		for _, p := range argtext.LooseArgument(v) {
			g.path(commands.Read, p, why)
		}
	case "sql":
		g.query(v, why)
	case "perl", "python", "ruby", "javascript", "opaque":
		g.use.Runs = append(g.use.Runs, commands.Run{Code: v, Lang: commands.Lang(kind), Dir: g.dir, Why: why})
	default:
		g.rare(kind, v, why)
	}
}

// listed adds the paths that a command reads from a file, a line each, if its
// text is known; "-" is the standard input.
func (g *reading) listed(file string, role commands.Role, why string) {
	text, ok := g.content(file)
	if !ok {
		return
	}
	for i, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == 0 }) {
		if i >= argtext.MaxLoose {
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
func (g *reading) path(role commands.Role, path, why string) {
	if p, ok := argtext.FilePath(path); ok {
		path = p
	}
	g.use.Access = append(g.use.Access, commands.Access{Role: role, Path: path, Dir: g.dir, Why: why})
}
