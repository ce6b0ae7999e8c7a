package policy

import (
	"strings"
	"unicode"
)

// The checks below each accept one kind of text and return its normal form, or
// a fault that says what would be right.

func checkVariable(s string) (string, error) {
	for i, r := range s {
		if r != '_' && !isLetter(r) && (i == 0 || !isDigit(r)) {
			return "", fault{quote(s) + " is not the name of an environment variable", "use letters, digits and _; the value is never written here"}
		}
	}
	if s == "" {
		return "", fault{"an environment variable needs a name", ""}
	}
	if reason, never := Withheld(s); never {
		return "", fault{quote(s) + " is never passed: it " + reason, "give the value another name"}
	}
	return s, nil
}

// checkCommand refuses a command that executes nothing, because it would count
// as passed.
func checkCommand(s string) (string, error) {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return s, nil
		}
	}
	return "", fault{"the command executes nothing", "write a command, or leave the entry out"}
}

func checkIdentity(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", fault{"the identity is empty", ""}
	}
	if s != strings.TrimSpace(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.ContainsAny(s, "<>") {
		return "", fault{quote(s) + " cannot stand in a commit", "leave out <, >, line breaks and blanks at either end"}
	}
	return s, nil
}

const idMark = "{id}"

// checkBranch holds a branch pattern to the rules of git check-ref-format, with
// a lease id in the place of {id}.
func checkBranch(s string) (string, error) {
	if strings.Count(s, idMark) != 1 {
		return "", fault{"the branch " + quote(s) + " does not contain {id} once", "two workers must not share a branch: write cordon/{id}"}
	}
	name := strings.Replace(s, idMark, "two-words", 1)
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\{}", r) }
	if strings.ContainsFunc(name, bad) || strings.Contains(name, "..") || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") {
		return "", fault{quote(s) + " is not a branch name git accepts", "use letters, digits, -, _ and /"}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return "", fault{quote(s) + " is not a branch name git accepts", "no part may be empty, begin with a dot or end in .lock"}
		}
	}
	return s, nil
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
