package codewords

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Simple are the words of a script that is one command and nothing else: no other command runs before, in or after it, nothing is
// assigned or redirected, and every word stands there as it is.
func Simple(script string) (words []string, ok bool) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil || len(f.Stmts) != 1 {
		return nil, false
	}
	s := f.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || len(s.Redirs)+len(c.Assigns) > 0 {
		return nil, false
	}
	for _, w := range c.Args {
		if !literal(w.Parts, false) {
			return nil, false
		}
		words = append(words, (&code{}).literal(w.Parts, false))
	}
	return words, true
}

// literal reports whether the shell expands nothing in a word.
func literal(parts []syntax.WordPart, quoted bool) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !quoted && strings.ContainsAny(p.Value, "*?[{~") {
				return false
			}
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !literal(p.Parts, true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
