// Package clean makes plain text of the skills, agents and commands that a client reads: it
// takes out whatever could run something or widen what the client may do.
//
// It never passes front matter on. It reads what it can, and writes its own front matter
// with the members that a Rule names and with quoted values, so that no two readers can
// disagree about it: an anchor, a second document, a member that is there twice or
// another language after the dashes are gone. Everything that it left out is reported.
//
// The package is pure. It refuses to read a file, to know a client, and to judge what a
// text says to a model.
package clean

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Rule says which members of the front matter stay.
type Rule struct {
	// Plain are members with a text, a number, a truth value or a list of texts.
	Plain []string
	// Tools are members that say which tools are left. Plain names stay, and what is
	// switched off; patterns and permissions do not.
	Tools []string
	// Only are members that stay with one of these values.
	Only map[string][]string
}

// Cleaned is a text without what was removed from it.
type Cleaned struct {
	Text    []byte
	Removed []string // for a person, each once
}

// maxFront bounds the front matter that is read.
const maxFront = 64 << 10

// Markdown cleans a text with front matter, or without. The name is given to a text that
// has none of its own.
func Markdown(name string, text []byte, rule Rule) (Cleaned, error) {
	plain, err := decode(text)
	if err != nil {
		return Cleaned{}, err
	}
	front, body, removed := split(plain)
	kept, more := members(front, rule)
	removed = append(removed, more...)
	body, more = without(body, bangQuote(), bangFence())
	removed = append(removed, more...)
	return Cleaned{Text: append(written(name, kept, rule), body...), Removed: distinct(removed)}, nil
}

// Prompt cleans a text of a client whose commands are no Markdown, which marks shell with
// braces.
func Prompt(text string) (string, []string) {
	body, removed := without([]byte(text), bangQuote(), bangBrace(), bangFence())
	return string(body), removed
}

// decode is a text with plain line ends and without a mark in front.
func decode(text []byte) ([]byte, error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("it is not text in UTF-8")
	}
	plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
	for strings.HasPrefix(plain, "\uFEFF") {
		plain = strings.TrimPrefix(plain, "\uFEFF")
	}
	return []byte(plain), nil
}

// split takes the front matter off a text: from a first line that begins with three dashes
// to the next line of three dashes. Some clients pass over blank lines before it, and some
// take a word behind the dashes for a language and run it: such a block is removed.
// Dashes without an end are a part of the text, which comes behind other front matter.
func split(text []byte) (front, body []byte, removed []string) {
	rest := bytes.TrimLeft(text, " \t\n\v\f\u00a0\u0085\u2028\u2029\uFEFF")
	if !bytes.HasPrefix(rest, []byte("---")) {
		return nil, text, nil
	}
	head, after, _ := bytes.Cut(rest, []byte("\n"))
	block, body, ok := cutAtDashes(after)
	switch word := strings.TrimSpace(strings.TrimLeft(string(head), "-")); {
	case !ok:
		return nil, text, []string{"front matter without an end"}
	case word != "":
		return nil, body, []string{"front matter in another language"}
	case len(block) > maxFront:
		return nil, body, []string{"front matter of more than 64 KiB"}
	}
	return block, body, nil
}

// cutAtDashes cuts a text at the first line of three dashes or dots.
func cutAtDashes(text []byte) (before, after []byte, ok bool) {
	at := 0
	for line := range bytes.Lines(text) {
		if mark := strings.TrimRight(string(line), " \t\n"); mark == "---" || mark == "..." {
			return text[:at], text[at+len(line):], true
		}
		at += len(line)
	}
	return nil, nil, false
}

// Inline shell: clients run what stands between backquotes or braces behind a bang, and
// blocks of code whose language is a bang, before the model sees the text. Each pattern
// is a bang with what stays of it.
var (
	bangQuote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("!+(`)") })
	bangBrace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!+(\{)`) })
	bangFence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(`{3,}|~{3,})[ \\t]*!+") })
)

// without takes the bangs away. It goes on until there is none: removing one must not make
// another.
func without(body []byte, patterns ...*regexp.Regexp) ([]byte, []string) {
	var removed []string
	for again := true; again; {
		again = false
		for _, p := range patterns {
			if p.Match(body) {
				again, removed = true, []string{"inline shell"}
				body = p.ReplaceAll(body, []byte("$1"))
			}
		}
	}
	return body, removed
}

// distinct keeps the first of equal entries.
func distinct(list []string) []string {
	var kept []string
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}
