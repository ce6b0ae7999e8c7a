package client

import "strings"

// Quote is a word of a shell that means just this text. There is no backslash in
// it: fish reads one between quotes, and a quoted text may be quoted again. That is why
// the shell library does not do it: its Quote writes backslashes or $'…', which fish and
// POSIX shells do not all read, and refuses characters that a path may have.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// spelled is a command line for people to read: only what needs quotes has them.
func spelled(argv []string) string {
	line := make([]string, len(argv))
	for i, w := range argv {
		line[i] = w
		if w == "" || strings.ContainsFunc(w, needsQuotes) {
			line[i] = Quote(w)
		}
	}
	return strings.Join(line, " ")
}

func needsQuotes(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r))
}
