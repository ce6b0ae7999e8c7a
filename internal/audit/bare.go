package audit

import "strings"

// Repository recognises a directory that git would take for a git
// directory: an operator's git started there runs its configuration. A file
// system may fold case, so any spelling of the names counts, and HEAD beside
// config is enough, because the missing halves may be empty directories or come
// with another worker's result. file tells whether a name is something else than
// a directory: a project may have a directory called head.
func Repository(names []string, file func(string) bool) string {
	head := headOf(names, file)
	if head == "" {
		return "" // nearly every directory
	}
	exact, folded := map[string]bool{}, map[string]bool{}
	for _, n := range names {
		exact[n], folded[strings.ToLower(n)] = true, true
	}
	if folded["objects"] && folded["refs"] || folded["commondir"] || head == "HEAD" && exact["config"] {
		return "it looks like a git directory"
	}
	return ""
}

// headOf returns the name that git would read as HEAD, the exact one first.
func headOf(names []string, file func(string) bool) string {
	head := ""
	for _, n := range names {
		if strings.EqualFold(n, "HEAD") && (head == "" || n == "HEAD") && file(n) {
			head = n
		}
	}
	return head
}
