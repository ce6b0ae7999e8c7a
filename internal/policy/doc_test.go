package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// page documents the policy for people. Its tables are written from fieldTable,
// the tables of protected names and presets; the rest of it is written by hand.
const page = "../../docs/policy.md"

// TestPolicyPage fails when the generated parts of the page are out of date. With -update
// it writes them.
func TestPolicyPage(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash(page))
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for mark, part := range map[string]string{"keys": keyTable(), "protected": protectedList(), "presets": presetRows()} {
		if want, err = between(want, mark, part); err != nil {
			t.Fatal(err)
		}
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run go test ./internal/policy -run TestPolicyPage -update", page)
	}
	if err := os.WriteFile(filepath.FromSlash(page), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces the text between two comments of the page.
func between(text, mark, part string) (string, error) {
	begin, end := fmt.Sprintf("<!-- generated: %s -->\n", mark), fmt.Sprintf("<!-- end: %s -->\n", mark)
	head, rest, found := strings.Cut(text, begin)
	_, tail, ends := strings.Cut(rest, end)
	if !found || !ends {
		return "", fmt.Errorf("%s has no part between %q and %q", page, begin, end)
	}
	return head + begin + part + end + tail, nil
}

// keyTable is a row for each key, with its default.
func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	writeRows(&b, fieldTable(), "")
	return b.String()
}

func writeRows(b *strings.Builder, fields []field, prefix string) {
	for _, f := range fields {
		value := ""
		if f.Fields == nil {
			value = "`" + strings.TrimSpace(defaultOf(f)) + "`"
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, f.Key, value, cellText(f.Doc))
		writeRows(b, f.Fields, prefix+f.Key+".")
	}
}

// defaultOf is the default of a key on one line.
func defaultOf(f field) string {
	return f.Show(Default()).Line()
}

// protectedList is a row for each group of protected names.
func protectedList() string {
	var b strings.Builder
	b.WriteString("| group | names |\n|---|---|\n")
	group := ""
	for _, row := range Protected() {
		if row.Group != group {
			if group != "" {
				b.WriteString(" |\n")
			}
			group = row.Group
			fmt.Fprintf(&b, "| %s | `%s`", group, row.Name)
			continue
		}
		fmt.Fprintf(&b, ", `%s`", row.Name)
	}
	b.WriteString(" |\n")
	return b.String()
}

// presetRows is a row for each preset.
func presetRows() string {
	var b strings.Builder
	b.WriteString("| preset | opens |\n|---|---|\n")
	for _, p := range Presets() {
		fmt.Fprintf(&b, "| `@%s` | %s |\n", p.Name, cellText(p.What))
	}
	return b.String()
}

// cellText is a text as it can stand in a table, where a star would begin emphasis.
func cellText(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(s)
}
