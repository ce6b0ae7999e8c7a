package commands

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"cordon/internal/mark"
)

// filtered is the output of what reads standard input, or files whose text is
// known, and changes it.
func (g *reading) filtered(word string) string {
	if word == "xxd" && g.has("p", "plain") && !g.has("r", "revert") || word == "tr" && g.onlyWords() {
		return mark.Atom + "\n"
	}
	text, ok := g.input(word)
	if !ok {
		return mark.Any
	}
	if mark.In(text) {
		return g.marked(word, text)
	}
	out, ok := g.simulated(word, text)
	if !ok {
		return mark.Any
	}
	return out
}

// input is what a filter reads, if that is known: its standard input, or files.
func (g *reading) input(word string) (string, bool) {
	files := g.operands
	switch word {
	case "grep":
		files = g.operandFiles()
		if len(files) > 1 || g.has("r", "R", "recursive", "dereference-recursive") {
			return "", false
		}
	case "head", "tail":
		if len(files) > 1 && !g.has("q", "quiet") {
			return "", false
		}
	case "xxd":
		files = files[:min(1, len(files))]
	case "tr":
		files = nil
	case "openssl":
		files = nil
		if g.has("in", "out") {
			return "", false
		}
	}
	if name := g.rows[0].name; name == "tee" {
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
		if b.Len() > maxPrint {
			return "", false
		}
	}
	return b.String(), known
}

// content is what is known of a file's text.
func (g *reading) content(file string) (string, bool) {
	if file == "-" || isStdin(file) {
		return g.call.Stdin, g.call.Fed
	}
	return g.call.text(joinDir(g.dir, file))
}

// text is what is known of a file's text.
func (c Call) text(file string) (string, bool) {
	if c.Text == nil || file == "" || mark.In(file) {
		return "", false
	}
	return c.Text(file)
}

// operandFiles are the operands that are read.
func (g *reading) operandFiles() []string {
	var files []string
	kinds := g.operandKinds()
	for i, o := range g.operands {
		if kindAt(kinds, i, len(g.operands)) == "read" && o != "-" {
			files = append(files, o)
		}
	}
	return files
}

// marked is what becomes of a text of which part is not known.
func (g *reading) marked(word, text string) string {
	switch word {
	case "cat", "head", "tail", "sort", "uniq", "tac", "keep":
		switch {
		case word == "sort" && g.has("c"), word == "keep" && mark.Has(text, mark.Any):
			return mark.Any
		case (word == "head" || word == "tail") && g.has("c", "bytes"):
			return g.someBytes(word, text)
		case word == "uniq" && g.has("c"), word == "cat" && g.has("n", "b", "number"), g.rows[0].name == "nl":
			return numberedLines(text, " ")
		case word == "head" || word == "tail":
			return chosen(text)
		}
		return text
	case "grep":
		return g.grepMarked(text)
	case "cut":
		return g.cutMarked(text)
	case "rev":
		return turn(text)
	case "tr":
		if mark.Has(text, mark.Any) || !g.harmlessly(text) {
			return mark.Any
		}
		return text
	}
	return mark.Any
}

// grepMarked leaves out lines, though nobody knows which.
func (g *reading) grepMarked(text string) string {
	pattern := ""
	if o, ok := g.given("e"); ok {
		pattern = o.value
	} else if len(g.operands) > 0 {
		pattern = g.operands[0]
	}
	switch {
	case g.has("c", "count"):
		return mark.Atom + "\n"
	case g.has("o", "only-matching") && (pattern == "^[^:]*" || pattern == "^[^:]+" || pattern == `^[^:]\+`):
		return column(text, ":", 1)
	case g.has("o", "only-matching"):
		return mark.Any
	case g.has("n", "line-number"):
		return numberedLines(text, ":")
	case !g.has("v") && (strings.HasPrefix(pattern, "^d") || strings.HasPrefix(pattern, "^-")):
		return unlinked(text)
	}
	return chosen(text)
}

// unlinked leaves the links out of a long listing, which grep did by their first
// letter.
func unlinked(text string) string {
	var kept []string
	for _, l := range lines(text) {
		if !strings.HasSuffix(l, arrow) {
			kept = append(kept, l)
		}
	}
	return joinLines(kept)
}

// harmlessly reports whether tr makes nothing of names that leads elsewhere: it
// may not put a slash or a dot into them, nor take away what is before one.
func (g *reading) harmlessly(text string) bool {
	if len(g.operands) == 0 || mark.In(g.operands[0]) {
		return false
	}
	m, all := single(text)
	if all && m == mark.Atom && g.has("d", "delete", "s", "squeeze-repeats") && len(g.operands) == 1 {
		return true
	}
	if g.has("d", "delete") {
		return strings.Trim(g.operands[0], ` "'\nrt0,:;`+"\n\t\r") == ""
	}
	if len(g.operands) < 2 {
		return g.has("s", "squeeze-repeats")
	}
	to, ok := charSet(g.operands[1])
	return ok && !strings.ContainsAny(string(to), "./~$\\"+mark.Any)
}

// onlyWords reports whether tr leaves nothing but letters and digits of what it
// reads, whatever that is.
func (g *reading) onlyWords() bool {
	if !g.has("c", "C", "complement") || len(g.operands) == 0 || !g.has("d", "delete") && len(g.operands) < 2 {
		return false
	}
	sets := g.operands[:1]
	if !g.has("d", "delete") {
		sets = g.operands[:2]
	}
	for _, s := range sets {
		set, ok := charSet(s)
		if !ok || strings.ContainsFunc(string(set), func(r rune) bool {
			return !(r == '_' || r == '-' || r == '\n' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
		}) {
			return false
		}
	}
	return true
}

// simulated is what a filter makes of a text that is known.
func (g *reading) simulated(word, text string) (string, bool) {
	switch word {
	case "cat":
		return text, !g.has("n", "b", "A", "E", "T", "v", "e", "t", "s", "number")
	case "head", "tail":
		return text, len(lines(text)) < 2 && !g.has("c", "bytes")
	case "sort", "uniq", "tac": // whatever their order, the lines lead to the same places
		return text, !g.has("c", "count")
	case "tr":
		return mark.Atom, !strings.ContainsAny(text, "./~$") && g.harmlessly(text)
	case "grep":
		return g.grepped(text)
	case "base64":
		return g.decoded(text)
	case "xxd":
		return g.unhexed(text)
	case "openssl":
		if v := g.verb(0); (v == "base64" || v == "enc" && g.has("base64", "a")) && g.has("d") && len(g.operands) == 1 {
			return unbase64(text)
		}
	}
	return "", false
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func joinLines(l []string) string {
	if len(l) == 0 {
		return ""
	}
	return strings.Join(l, "\n") + "\n"
}

func reversed(text string) string {
	l := lines(text)
	for i, s := range l {
		r := []rune(s)
		slices.Reverse(r)
		l[i] = string(r)
	}
	return joinLines(l)
}

// grepped leaves out lines for a pattern that has nothing special in it.
func (g *reading) grepped(text string) (string, bool) {
	for _, o := range g.options {
		if !o.is("v") && !o.is("F") && !o.is("E") && !o.is("i") && !o.is("e") {
			return "", false
		}
	}
	pattern := ""
	if o, ok := g.given("e"); ok {
		pattern = o.value
	} else if len(g.operands) > 0 {
		pattern = g.operands[0]
	}
	if g.has("i") || mark.In(pattern) || !g.has("F") && strings.ContainsAny(pattern, `.*[]^$\+?(){}|`) {
		return "", false
	}
	var kept []string
	for _, l := range lines(text) {
		if strings.Contains(l, pattern) != g.has("v") {
			kept = append(kept, l)
		}
	}
	return joinLines(kept), true
}

// searched is the output of what searches, in files or in what it is fed.
func (g *reading) searched() string {
	if len(g.operandFiles()) > 0 || !g.call.Fed {
		return mark.Any
	}
	if text := g.call.Stdin; mark.In(text) && !mark.Has(text, mark.Any) && !g.has("r", "replace", "o", "only-matching") {
		return text
	}
	return mark.Any
}

func (g *reading) decoded(text string) (string, bool) {
	if !g.has("d", "decode", "D") {
		return base64.StdEncoding.EncodeToString([]byte(text)) + "\n", len(g.options) == 0 && len(text) < 57
	}
	if g.rows[0].name != "base64" || g.call.Args[0] == "base32" {
		return "", false
	}
	return unbase64(text)
}

func unbase64(text string) (string, bool) {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' {
			return -1
		}
		return r
	}, text)
	b, err := base64.StdEncoding.DecodeString(text)
	return string(b), err == nil && mark.Clean(string(b))
}

func (g *reading) unhexed(text string) (string, bool) {
	if !g.has("r", "revert") || !g.has("p", "ps", "plain") {
		if !slices.Contains(g.call.Args, "-rp") && !slices.Contains(g.call.Args, "-pr") {
			return "", false
		}
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	return string(b), err == nil && mark.Clean(string(b))
}
