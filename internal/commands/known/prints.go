package known

import (
	"strings"

	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// prints returns what a command prints, by the word that its innermost row has
// for it:
//
//	any       not known, as is no word at all
//	none      nothing, unless it is told to say what it does
//	nothing   nothing; or, for those that print code to set up a shell, nothing that matters
//	atom      a single word
//
// The others are functions of the same name below.
func (g *reading) prints() string {
	word := ""
	for _, r := range g.Rows {
		if r.Out != "" {
			word = r.Out
		}
	}
	out := g.printed(word)
	if len(out) > argtext.MaxPrint {
		return mark.Any
	}
	return out
}

func (g *reading) printed(word string) string {
	switch word {
	case "none":
		if g.Has("v", "verbose", "c", "changes") {
			return mark.Any
		}
		return ""
	case "nothing":
		return ""
	case "atom":
		if g.Has("a", "all", "I", "i") { // uname -a, hostname -I
			return mark.Any
		}
		return mark.Atom + "\n"
	case "seq":
		if g.Has("s", "separator", "f", "format") {
			return mark.Any
		}
		return mark.Atom + "\n"
	case "echo":
		return echoes(g.call.Args[1:])
	case "printf":
		return g.printfs()
	case "which":
		return installed(g.Operands)
	case "names":
		return g.listing()
	case "grep":
		switch {
		case g.Has("q", "quiet", "silent"):
			return ""
		case g.Has("l", "files-with-matches", "L", "files-without-match"):
			return g.names() + "\n"
		case g.Has("c", "count") && len(g.operandFiles()) < 2 && !g.Has("r", "R", "recursive", "H"):
			return mark.Atom + "\n"
		}
		if out := g.grepFiles(); out != mark.Any {
			return out
		}
	}
	return g.asked(word)
}

// installed is where programs are, as far as one can tell: none of the places
// where they are is the worker's.
func installed(names []string) string {
	var b strings.Builder
	for _, n := range names {
		if n == "" || n == "." || n == ".." || strings.Contains(n, "/") || mark.In(n) {
			return mark.System + "\n"
		}
		b.WriteString("/usr/bin/" + n + "\n")
	}
	return b.String()
}

// asked is what the commands print that answer a question.
func (g *reading) asked(word string) string {
	switch word {
	case "date":
		return g.dates()
	case "id":
		if g.Has("u", "g", "un", "n", "gn") && !g.Has("G") {
			return mark.Atom + "\n"
		}
	case "atomic": // expr: a number or part of a string
		if !strings.ContainsAny(strings.Join(g.Operands, ""), ":/.~"+mark.Any) {
			return mark.Atom + "\n"
		}
	case "dirname", "basename", "realpath", "readlink":
		return g.pathNames(word)
	case "mktemp":
		return mark.Scratch + "\n"
	}
	return g.told(word)
}

// told is what the commands print that tell something about files or programs.
func (g *reading) told(word string) string {
	switch word {
	case "sum":
		return g.summed()
	case "listed":
		return g.formatted()
	case "golist":
		return g.golist()
	case "pids":
		if !g.Has("l", "list-name", "a", "list-full", "c", "d", "delimiter") {
			return mark.Atom + "\n"
		}
	case "stat":
		if o, ok := g.Given("c", "format", "printf", "f"); ok && o.Has && !strings.ContainsAny(o.Value, "nN /") {
			return mark.Atom + "\n"
		}
	case "openssl":
		if g.verb(0) == "rand" && g.Has("hex") && !g.Has("out") {
			return mark.Atom + "\n"
		}
	case "comm":
		if text, ok := g.content(g.verb(0)); ok && g.Has("2") && !g.Has("output-delimiter") {
			return text
		}
	case "jq":
		return g.queried()
	}
	return g.filtered(word)
}

// dates is date, which prints a word unless its format has more than words.
func (g *reading) dates() string {
	if g.Has("I", "iso-8601") {
		return mark.Atom + "\n"
	}
	for _, o := range g.Operands {
		if f, ok := strings.CutPrefix(o, "+"); ok {
			if strings.ContainsAny(f, "/~cxrDnt+"+mark.Any) || strings.Contains(f, "..") {
				return mark.Any
			}
			return mark.Atom + "\n"
		}
	}
	return mark.Any
}

// pathNames are the commands that change paths as text. What realpath and
// readlink make of a path is that path, as far as the arguments tell.
func (g *reading) pathNames(word string) string {
	var b strings.Builder
	operands := g.Operands
	suffix := ""
	if o, ok := g.Given("s", "suffix"); ok && word == "basename" {
		suffix = o.Value
	} else if word == "basename" && len(operands) == 2 && !g.Has("a", "multiple") {
		operands, suffix = operands[:1], operands[1]
	}
	if g.Has("relative-to", "relative-base") || word == "readlink" && !g.Has("f", "e", "m", "canonicalize", "canonicalize-existing", "canonicalize-missing") {
		return mark.Any
	}
	for _, p := range operands {
		switch word {
		case "dirname":
			p = dirName(p)
		case "basename":
			p = baseName(p, suffix)
		}
		b.WriteString(p + "\n")
	}
	return b.String()
}

// dirName is dirname of a text that may hold marks.
func dirName(p string) string {
	last := argtext.LastName(p)
	switch {
	case mark.Has(last, mark.Any):
		return mark.Any
	case mark.Has(last, mark.Inside+mark.Scratch+mark.System+mark.Outside):
		return p
	}
	if strings.HasPrefix(p, "/") && last == "" {
		return "/"
	}
	d := argtext.Parent(p)
	if d == "" {
		return "."
	}
	if d = strings.TrimRight(d, "/"); d == "" {
		return "/"
	}
	return d
}

// baseName is basename of a text that may hold marks.
func baseName(p, suffix string) string {
	last := argtext.LastName(p)
	switch {
	case mark.Has(last, mark.Any):
		return mark.Any
	case mark.In(last):
		return mark.Atom
	case last == "":
		return p
	case last != suffix:
		last = strings.TrimSuffix(last, suffix)
	}
	return last
}

// listing is the output of what lists files: ls, fd, rg -l and the like.
func (g *reading) listing() string {
	name := g.Rows[0].Name
	switch name {
	case "rg", "ag", "ack":
		if name == "rg" && !g.Has("files", "l", "files-with-matches", "files-without-match") || !g.Has("files", "l", "files-with-matches", "L",
			"files-without-match", "g", "f") {
			return g.ripped(name)
		}
		if g.Has("c", "count") {
			return mark.Any
		}
	case "eza":
		return mark.Any
	case "ls":
		place := g.names()
		if !g.Has("d", "directory") && len(g.Operands) > 0 && place != mark.Inside {
			place = mark.Atom
		}
		return g.long(place)
	}
	return g.names() + "\n"
}

// names says where the files are that a command lists: its operands that are
// paths, or the working directory.
func (g *reading) names() string {
	found := ""
	for _, a := range g.use.Access {
		if a.Why != "operand" && a.Why != "--search-path" && a.Why != "--base-directory" {
			continue
		}
		where := argtext.PlaceOf(argtext.JoinDir(a.Dir, a.Path))
		if found != "" && found != where {
			return mark.Any
		}
		found = where
	}
	if found == "" {
		return mark.Inside
	}
	return found
}
