package testbrowser

import (
	"fmt"
	"slices"
	"strings"
)

// Hidden are patches that add a file full of characters that nobody sees, or of words that a language marks, and "plain" for
// comparison, which adds letters.
func Hidden() map[string]string {
	add := func(name string, lines ...string) string {
		head := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex 00000000..353b6f04\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n+", name, len(lines))
		return head + strings.Join(lines, "\n+") + "\n"
	}
	times := func(n int, line string) []string { return slices.Repeat([]string{line}, n) }
	return map[string]string{
		"plain":    add("src/a.txt", strings.Repeat("letters ", 50_000)),
		"lines":    add("src/a.txt", times(1_900, strings.Repeat("\u202e", 600))...),
		"marks":    add("src/a.txt", "Z"+strings.Repeat("\u0301", 200_000)),
		"letters":  add("src/a.txt", strings.Repeat("a"+strings.Repeat("\u0300", 40), 2_000)),
		"a line":   add("src/a.txt", strings.Repeat("\u202e", 50_000)),
		"in turn":  add("src/a.txt", times(1_900, strings.Repeat("\u202e\u202d", 300))...),
		"keywords": add("src/a.go", times(1_900, strings.Repeat("if x ", 390))...),
		"few":      add("src/a.go", times(1_900, strings.Repeat("if\u200b \u202e", 60))...),
	}
}
