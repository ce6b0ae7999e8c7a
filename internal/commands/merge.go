package commands

import (
	"strings"

	"cordon/internal/mark"
)

// merged is what comm and join print of two lists.
func (g *reading) merged(word string) string {
	if len(g.operands) != 2 {
		return mark.Any
	}
	a, knowsA := g.content(g.operands[0])
	b, knowsB := g.content(g.operands[1])
	if word == "join" {
		one, ok := single(a)
		other, also := single(b)
		if !ok || !also || one != other || g.has("o", "t", "e") {
			return mark.Any
		}
		return a
	}
	if g.has("output-delimiter") {
		return mark.Any
	}
	out := ""
	if !g.has("1") {
		out += known(a, knowsA)
	}
	if !g.has("2") {
		out += known(b, knowsB)
	}
	if !g.has("3") { // what is in both is in either
		out += known(a+when(!knowsA, b), knowsA || knowsB)
	}
	return out
}

func known(text string, ok bool) string {
	if !ok {
		return mark.Any
	}
	return text
}

// queried is what jq prints of a project's description: its version is a word,
// and its name is one or two.
func (g *reading) queried() string {
	if len(g.operands) < 2 || !g.has("r", "raw-output") {
		return mark.Any
	}
	for _, f := range g.operands[1:] {
		if _, written := g.content(f); written || !describes(lastName(f)) {
			return mark.Any
		}
	}
	switch strings.TrimSpace(g.operands[0]) {
	case ".version":
		return mark.Atom + "\n"
	case ".name":
		return mark.Inside + "\n"
	}
	return mark.Any
}

// describes reports whether a file is one in which a project says what it is.
func describes(name string) bool {
	switch name {
	case "package.json", "package-lock.json", "composer.json", "manifest.json", "lerna.json", "deno.json", "jsr.json", "version.json":
		return true
	}
	return false
}
