// Package mark is the vocabulary of what is not known about a text: single
// characters that stand, inside an otherwise literal string, for the part that
// only running a command would tell.
//
// A marked string passes through expansion, splitting and joining like any
// other, and whoever meets a mark where it matters knows that, and how much, is
// unknown. The characters are from a private plane of Unicode; Clean says
// whether a text could be taken for a marked one, and whoever reads text from
// outside refuses it then. The package refuses to interpret anything.
package mark

import "strings"

// The marks. Each stands for one or more characters of text.
const (
	Any     = "\U0010FF00" // anything at all
	Atom    = "\U0010FF01" // a word without slash, blank, leading dash, and neither . nor ..: a number, a date, a hash
	Inside  = "\U0010FF02" // one or more paths below the worktree, as a listing made inside of it prints them
	Scratch = "\U0010FF03" // one or more paths in a directory for temporary files
	System  = "\U0010FF04" // one or more paths of installed programs and their files
	Outside = "\U0010FF05" // one or more paths that are known to lead to another tree
)

const all = Any + Atom + Inside + Scratch + System + Outside

// In reports whether a text holds a mark: whether part of it is unknown.
func In(s string) bool { return strings.ContainsAny(s, all) }

// Has reports whether a text holds one of the given marks.
func Has(s, marks string) bool { return strings.ContainsAny(s, marks) }

// First returns where the first mark of a text is, or -1.
func First(s string) int { return strings.IndexAny(s, all) }

// Clean reports whether a text from outside holds no mark and nothing that
// could be mistaken for one.
func Clean(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x10FF00 })
}

// Words says a marked text for a person.
func Words(s string) string { return words.Replace(s) }

var words = strings.NewReplacer(Any, "‹unknown›", Atom, "‹word›", Inside, "‹files of the tree›",
	Scratch, "‹temporary›", System, "‹installed›",
	Outside, "‹another tree›")
