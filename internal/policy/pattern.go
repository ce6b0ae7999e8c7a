package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// form is where a pattern starts.
type form uint8

const (
	inTree   form = iota // src, ./src, **/*.go: from the worktree
	climbing             // ../**: from above the worktree
	home                 // ~/.ssh: from the operator's home
	absolute             // /etc
)

// pattern is a path pattern that passed every check, in its normal form: no
// empty or "." component, ".." only at the front.
type pattern struct {
	form  form
	ups   int      // how often a climbing pattern goes up
	parts []string // the components below its start
}

func (p pattern) String() string {
	below := strings.Join(p.parts, "/")
	switch p.form {
	case climbing:
		return strings.TrimSuffix(strings.Repeat("../", p.ups)+below, "/")
	case home:
		return strings.TrimSuffix("~/"+below, "/")
	case absolute:
		return "/" + below
	}
	if below == "" {
		return "."
	}
	return below
}

// checkPath is the check of a list of patterns that may start in one of the
// given forms.
func checkPath(allowed ...form) func(string) (string, error) {
	return func(s string) (string, error) {
		p, err := parsePattern(s, allowed)
		if err != nil {
			return "", err
		}
		return p.String(), nil
	}
}

func parsePattern(s string, allowed []form) (pattern, error) {
	if err := checkPresent(s); err != nil {
		return pattern{}, err
	}
	if err := checkCharacters(s); err != nil {
		return pattern{}, err
	}
	p := split(s)
	if err := checkStart(s, p); err != nil {
		return pattern{}, err
	}
	if slices.Contains(p.parts, "..") {
		return pattern{}, fault{quote(s) + " has .. after its start", "write the path without the detour"}
	}
	if !slices.Contains(allowed, p.form) {
		return pattern{}, wrongForm(s, p.form)
	}
	for _, part := range p.parts {
		if err := checkPart(s, part); err != nil {
			return pattern{}, err
		}
	}
	if p.form == inTree && !slices.Contains(allowed, climbing) {
		// A list that may not climb gives away, rather than denies, what it
		// covers.
		return p, checkNoGit(p)
	}
	return p, nil
}

// split takes a pattern apart without judging it.
func split(s string) pattern {
	var p pattern
	rest := s
	switch {
	case strings.HasPrefix(s, "/"):
		p.form = absolute
	case s == "~" || strings.HasPrefix(s, "~/"):
		p.form, rest = home, s[1:]
	}
	for part := range strings.SplitSeq(rest, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(p.parts) == 0 && (p.form == inTree || p.form == climbing):
			p.form, p.ups = climbing, p.ups+1
		default:
			p.parts = append(p.parts, part)
		}
	}
	return p
}

func wrongForm(s string, f form) error {
	switch f {
	case climbing:
		return fault{quote(s) + " leaves the worktree with ..", "write a path inside the worktree"}
	case home:
		return fault{quote(s) + " is in the home directory", "write a path inside the worktree"}
	}
	return fault{quote(s) + " is an absolute path", "write a path inside the worktree"}
}

// maxPattern bounds one pattern, in bytes; PATH_MAX on Linux.
const maxPattern = 4096

func checkPresent(s string) error {
	switch {
	case s == "":
		return fault{"the path is empty", `write "." for the whole tree, or leave the entry out`}
	case strings.TrimSpace(s) == "":
		return fault{"the path is only blanks", "leave the entry out"}
	case strings.TrimSpace(s) != s:
		return fault{quote(s) + " begins or ends with a blank", "remove it, or write [ ] for a blank that belongs to the name"}
	case len(s) > maxPattern:
		return fault{"the path is longer than 4096 bytes", ""}
	}
	return nil
}

func checkCharacters(s string) error {
	switch {
	case !utf8.ValidString(s):
		return fault{"the path is not valid UTF-8", ""}
	case strings.ContainsRune(s, 0):
		return fault{quote(s) + " contains a NUL character", ""}
	case strings.ContainsRune(s, utf8.RuneError):
		// It would also match any byte that is not UTF-8.
		return fault{quote(s) + " contains U+FFFD, the mark of a broken character", "write ? in its place"}
	case strings.ContainsRune(s, '\\'):
		return fault{quote(s) + " contains a backslash", "separate with /, and write [*] for a * that belongs to the name"}
	}
	return nil
}

// checkStart refuses beginnings that mean something elsewhere and would match
// nothing here: a deny that silently denies nothing is the worst outcome.
func checkStart(s string, p pattern) error {
	if p.form != inTree || len(p.parts) == 0 {
		return nil
	}
	switch p.parts[0][0] {
	case '!':
		return fault{quote(s) + " looks like a negation", "use deny_write for what may not be written, or ? for a ! that belongs to the name"}
	case '$':
		return fault{quote(s) + " looks like a variable, and none is expanded here", "write ~/ for the home directory, or [$] for a $ that belongs to the name"}
	case '~':
		return fault{quote(s) + " begins with ~", "write ~/ for your own home directory, or [~] for a ~ that belongs to the name"}
	}
	return nil
}

// maxGroups bounds the {a,b} groups of one component: each multiplies the work
// of a match.
const maxGroups = 4

func checkPart(s, part string) error {
	badGlob := func(hint string) error { return fault{quote(s) + " is not a valid glob", hint} }
	switch {
	case !doublestar.ValidatePattern(part):
		return badGlob("close every [ and {; a {a,b} group cannot hold a /")
	case strings.Contains(part, "**") && part != "**":
		return badGlob("** stands alone between slashes: src/**/*.go")
	case strings.Count(part, "{") > maxGroups:
		return badGlob("at most 4 {a,b} groups in one name")
	case !soundClasses(part):
		return badGlob("a class is like [abc], [a-z], [A-Z], [0-9] or [!abc], and holds no brace, comma or bracket")
	case !soundGroups(part):
		return badGlob("a {a,b} group cannot hold . or ..")
	}
	return nil
}

// soundClasses holds the [classes] of a component to what means the same on a
// file system that folds case and on one that does not: a range stays within
// one alphabet. Braces and commas are kept out because the glob library looks
// for the end of a group without regard to classes.
func soundClasses(part string) bool {
	for {
		_, after, found := strings.Cut(part, "[")
		if !found {
			return true
		}
		class, rest, _ := strings.Cut(after, "]")
		if strings.ContainsAny(class, "{},[") || !soundRanges(strings.TrimLeft(class[:1], "!^")+class[1:]) {
			return false
		}
		part = rest
	}
}

func soundRanges(class string) bool {
	runes := []rune(class)
	for i, r := range runes {
		if r != '-' {
			continue
		}
		if i == 0 || i == len(runes)-1 || !sameAlphabet(runes[i-1], runes[i+1]) {
			return false
		}
	}
	return true
}

func sameAlphabet(lo, hi rune) bool {
	for _, bounds := range []string{"az", "AZ", "09"} {
		if rune(bounds[0]) <= lo && lo <= hi && hi <= rune(bounds[1]) {
			return true
		}
	}
	return false
}

// soundGroups refuses {..,x}: no path has such a component, so the entry would
// silently match less than it says.
func soundGroups(part string) bool {
	if !strings.Contains(part, "{") {
		return true
	}
	between := func(r rune) bool { return strings.ContainsRune("{},", r) }
	for _, word := range strings.FieldsFunc(part, between) {
		if word == "." || word == ".." {
			return false
		}
	}
	return true
}

// checkNoGit refuses a root in git's own directory, which no lease can open.
func checkNoGit(p pattern) error {
	for _, part := range p.parts {
		if strings.EqualFold(part, ".git") {
			return fault{quote(p.String()) + " is inside .git", "git's own files can never be written by a worker"}
		}
	}
	return nil
}
