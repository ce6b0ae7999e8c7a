package known

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// Text filters are followed by class, not letter by letter. What passes on whole
// lines of a list of the tree's files prints such a list; a column of records is
// what the records have there; everything else is not known. Text that is known
// stays known only where a filter passes all of it on, or decodes it.

// filtered is the output of what reads standard input, or files whose text is
// known, and changes it.
func (g *reading) filtered(word string) string {
	if word == "xxd" && g.Has("p", "plain") && !g.Has("r", "revert") || word == "tr" && g.onlyWords() {
		return mark.Atom + "\n"
	}
	text, ok := g.input(word)
	switch {
	case !ok:
		return mark.Any
	case mark.In(text):
		return g.marked(word, text)
	}
	out, ok := g.literal(word, text)
	if !ok {
		return mark.Any
	}
	return out
}

// input is what a filter reads, if that is known: its standard input, or files.
func (g *reading) input(word string) (string, bool) {
	files := g.Operands
	switch word {
	case "grep":
		files = g.operandFiles()
		if len(files) > 1 || g.Has("r", "R", "recursive", "dereference-recursive") {
			return "", false
		}
	case "head", "tail":
		if len(files) > 1 && !g.Has("q", "quiet") {
			return "", false
		}
	case "xxd":
		files = files[:min(1, len(files))]
	case "tr":
		files = nil
	case "openssl":
		files = nil
		if g.Has("in", "out") {
			return "", false
		}
	}
	if name := g.Rows[0].Name; name == "tee" {
		files = nil
	} else if name == "sponge" && len(files) > 0 {
		return "", true
	}
	if len(files) == 0 {
		return g.call.Stdin, g.call.Fed
	}
	return g.contents(files)
}

// contents is the text of some files; false if nothing is known of any of them.
func (g *reading) contents(files []string) (string, bool) {
	var b strings.Builder
	known := false
	for _, f := range files {
		text, ok := g.content(f)
		if !ok {
			text = mark.Any + "\n"
		}
		known = known || ok
		b.WriteString(text)
		if b.Len() > argtext.MaxPrint {
			return "", false
		}
	}
	return b.String(), known
}

// content is what is known of a file's text.
func (g *reading) content(file string) (string, bool) {
	if file == "-" || argtext.IsStdin(file) {
		return g.call.Stdin, g.call.Fed
	}
	return g.call.FileText(argtext.JoinDir(g.dir, file))
}

// operandFiles are the operands that are read.
func (g *reading) operandFiles() []string {
	var files []string
	kinds := g.operandKinds()
	for i, o := range g.Operands {
		if kindAt(kinds, i, len(g.Operands)) == "read" && o != "-" {
			files = append(files, o)
		}
	}
	return files
}

// marked is what becomes of a text of which part is not known.
func (g *reading) marked(word, text string) string {
	m, all := argtext.Single(text)
	switch word {
	case "cat", "head", "tail", "sort", "uniq", "tac", "keep":
		switch {
		case word == "sort" && g.Has("c"), word == "keep" && mark.Has(text, mark.Any), word == "uniq" && g.Has("c"),
			word == "cat" && g.Has("n", "b", "number"), g.Rows[0].Name == "nl":
			return mark.Any
		case (word == "head" || word == "tail") && g.Has("c", "bytes"):
			return g.someBytes(word, text)
		case word == "head" || word == "tail":
			return argtext.Chosen(text)
		}
		return text
	case "grep":
		return g.grepMarked(text)
	case "cut":
		return g.cut(text)
	case "rev":
		return argtext.EachLine(text, argtext.Turn)
	case "tr":
		if mark.Has(text, mark.Any) || !g.harmlessly(all && m == mark.Atom) {
			return mark.Any
		}
		return text
	}
	return mark.Any
}

// grepMarked leaves out lines, though nobody knows which.
func (g *reading) grepMarked(text string) string {
	pattern := g.Text("e")
	pattern = cmp.Or(pattern, g.verb(0))
	switch {
	case g.Has("c", "count"):
		return mark.Atom + "\n"
	case g.Has("o", "only-matching") && strings.HasPrefix(pattern, "^[^:]") && len(pattern) < len(`^[^:]\+`)+1:
		return argtext.Columns(text, ":", 1, 1)
	case g.Has("o", "only-matching", "n", "line-number"):
		return mark.Any
	case !g.Has("v") && (strings.HasPrefix(pattern, "^d") || strings.HasPrefix(pattern, "^-")):
		return strings.ReplaceAll(text, arrow, "") // the links are left out of a long listing
	}
	return argtext.Chosen(text)
}

// harmlessly reports whether tr makes nothing of names that leads elsewhere: it
// may not put a slash or a dot into them, nor take away what is before one.
func (g *reading) harmlessly(atoms bool) bool {
	from, to := g.verb(0), g.verb(1)
	switch {
	case from == "" || mark.In(from):
		return false
	case to != "":
		return plainSet(to)
	case g.Has("d", "delete"):
		return atoms || strings.Trim(from, ` "'\nrt0,:;`+"\n\t\r") == ""
	}
	return g.Has("s", "squeeze-repeats")
}

// onlyWords reports whether tr leaves nothing but letters and digits of what it
// reads, whatever that is.
func (g *reading) onlyWords() bool {
	return g.Has("c", "C", "complement") && plainSet(g.verb(0)) && (g.Has("d", "delete") || len(g.Operands) > 1 && plainSet(g.verb(1)))
}

// plainSet reports whether a set of tr holds only letters, digits and what is
// between words.
func plainSet(set string) bool {
	for _, plain := range [...]string{"[:upper:]", "[:lower:]", "[:digit:]", "[:alnum:]", "[:alpha:]", "[:xdigit:]", "[:space:]", "[:blank:]",
		"A-Z", "a-z", "0-9", "a-f", "A-F", `\n`, `\t`, `\r`} {
		set = strings.ReplaceAll(set, plain, "x")
	}
	if set == "-" || set == `\0` {
		return true
	}
	set = strings.TrimSuffix(strings.TrimPrefix(set, "-"), "-")
	return set != "" && strings.IndexFunc(set, func(r rune) bool {
		return r != '_' && r != ' ' && r != '\n' && r != ',' && (r < '0' || r > ';') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) < 0
}

// literal is what a filter makes of a text that is known.
func (g *reading) literal(word, text string) (string, bool) {
	switch word {
	case "cat":
		return text, !g.Has("n", "b", "A", "E", "T", "v", "e", "t", "s", "number")
	case "head", "tail":
		return text, len(argtext.Lines(text)) < 2 && !g.Has("c", "bytes")
	case "sort", "uniq", "tac": // whatever their order, the lines lead to the same places
		return text, !g.Has("c", "count")
	case "tr":
		return mark.Atom, !strings.ContainsAny(text, "./~$") && g.harmlessly(false)
	case "base64":
		if !g.Has("d", "decode", "D") || g.call.Args[0] == "base32" {
			return "", false
		}
		return unbase64(text)
	case "xxd":
		if !g.Has("r", "revert") && !slices.Contains(g.call.Args, "-pr") && !slices.Contains(g.call.Args, "-rp") {
			return "", false
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
		return string(b), err == nil && mark.Clean(string(b))
	case "openssl":
		if v := g.verb(0); (v == "base64" || v == "enc" && g.Has("base64", "a")) && g.Has("d") && len(g.Operands) == 1 {
			return unbase64(text)
		}
	}
	return "", false
}

func unbase64(text string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	return string(b), err == nil && mark.Clean(string(b))
}

// queried is what jq prints of a project's description: its version is a word,
// and its name is one or two.
func (g *reading) queried() string {
	if len(g.Operands) < 2 || !g.Has("r", "raw-output") {
		return mark.Any
	}
	for _, f := range g.Operands[1:] {
		if _, written := g.content(f); written || !slices.Contains(descriptions[:], argtext.LastName(f)) {
			return mark.Any
		}
	}
	switch strings.TrimSpace(g.Operands[0]) {
	case ".version":
		return mark.Atom + "\n"
	case ".name":
		return mark.Inside + "\n"
	}
	return mark.Any
}

// descriptions are the files in which a project says what it is.
var descriptions = [...]string{
	"package.json", "package-lock.json", "composer.json", "manifest.json", "lerna.json", "deno.json", "jsr.json", "version.json",
}

// searched is the output of what searches in what it is fed.
func (g *reading) searched() string {
	if text := g.call.Stdin; mark.In(text) && !mark.Has(text, mark.Any) && !g.Has("r", "replace", "o", "only-matching") {
		return text
	}
	return mark.Any
}

// cut is cut on a text of which part is not known.
func (g *reading) cut(text string) string {
	list, chars := g.Given("c", "characters", "b", "bytes")
	if !chars {
		list, _ = g.Given("f", "fields")
	}
	sep := "\t"
	if o, ok := g.Given("d", "delimiter"); ok {
		sep = o.Value
	}
	from, to, ok := argtext.ColumnRange(list.Value)
	switch {
	case !ok || sep == "" || g.Has("complement", "output-delimiter"):
		return mark.Any
	case strings.HasPrefix(text, argtext.Turned): // what is left is a beginning or a piece of it, read backwards
		if !chars && (sep == "." || sep == "/") || chars && to >= argtext.Farthest {
			return text
		}
		return mark.Any
	case chars:
		return argtext.EachLine(text, func(line string) string { return argtext.Characters(line, from, to) })
	}
	return argtext.Columns(text, sep, from, to)
}

// someBytes is what head -c and tail -c leave of a text that is not known.
func (g *reading) someBytes(word, text string) string {
	n, err := strconv.Atoi(g.Text("c", "bytes"))
	if m, all := argtext.Single(text); all && m == mark.Atom ||
		word == "head" && err == nil && n >= 0 && n <= argtext.MaxHash && strings.HasPrefix(text, mark.Atom) {
		return mark.Atom
	}
	return mark.Any
}
