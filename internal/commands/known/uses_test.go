package known

import (
	"flag"
	"os"
	"strings"
	"testing"

	"cordon/internal/commands"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

var update = flag.Bool("update", false, "write what the commands of testdata/uses.txt do into it; read the difference")

// A line of testdata/uses.txt is a command and what it does, in a short form:
// R, W, E, X and T are the roles, with the directory in parentheses.
func TestUses(t *testing.T) {
	var b strings.Builder
	for _, line := range useLines(t) {
		command, want, _ := strings.Cut(line, " =>")
		got := strings.TrimSpace(shortUse(Of(commands.Call{Args: words(command)})))
		if *update {
			b.WriteString(strings.TrimRight(command+" => "+got, " ") + "\n")
			continue
		}
		if want = strings.TrimSpace(want); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/uses.txt", []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Every row has a case, which nobody else answers.
func TestEveryRowHasACase(t *testing.T) {
	var cases []string
	for _, line := range useLines(t) {
		command, _, _ := strings.Cut(line, " =>")
		c := commands.Call{Args: words(command)}
		if _, ok := beyond(c); ok {
			continue
		}
		cases = append(cases, strings.TrimSpace(command)+" ")
	}
	for _, r := range tableEntries(t) {
		_, other := beyond(commands.Call{Args: strings.Fields(r.Name)})
		other = other || r.Operands == "" && r.Style == 0 || strings.HasPrefix(r.Name, "git ") || strings.HasSuffix(r.Name, " -e")
		if !other && !r.WrapsCommand() && !hasCase(cases, r.Name) {
			t.Errorf("%s: no case in testdata/uses.txt", r.Name)
		}
	}
}

func hasCase(commands []string, name string) bool {
	for _, c := range commands {
		if strings.HasPrefix(c, name+" ") {
			return true
		}
	}
	return false
}

func useLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/uses.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// words splits a command of a test at blanks that are not quoted.
func words(s string) []string {
	var out []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, c := range s {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote:
			quote = 0
		case c == ' ' && quote == 0:
			if in {
				out = append(out, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}

// shortUse says a Use in a line, without what it prints.
func shortUse(u commands.Use) string {
	var parts []string
	for _, a := range u.Access {
		s := "RWEXT"[a.Role:a.Role+1] + " " + a.Path
		if a.Dir != "" {
			s += " (" + a.Dir + ")"
		}
		parts = append(parts, s)
	}
	for _, r := range u.Runs {
		parts = append(parts, shortRun(r))
	}
	for _, f := range u.Findings {
		parts = append(parts, [...]string{"ask", "deny"}[f.Weight])
	}
	for _, e := range u.Effects {
		parts = append(parts, shortEffect(e))
	}
	if !u.Known {
		parts = append(parts, "unknown")
	}
	return mark.Words(strings.Join(parts, "; "))
}

func shortRun(r commands.Run) string {
	s := "code " + r.Code
	switch {
	case r.Args != nil:
		s = "run " + strings.Join(r.Args, " ")
	case r.Lang != commands.Shell:
		s = string(r.Lang) + " " + r.Code + r.File
	}
	for _, e := range r.Env {
		s += " +" + e
	}
	if r.Dir != "" {
		s += " (" + r.Dir + ")"
	}
	return s
}

func shortEffect(e commands.Effect) string {
	if e.Gone {
		return "no " + e.Path
	}
	switch {
	case e.Link != "":
		return e.Path + " -> " + e.Link
	case e.From != "":
		return e.Path + " <- " + e.From
	case e.Add:
		return e.Path + " += " + e.Text
	}
	return e.Path + " = " + e.Text
}

// tableEntries are the rows of the table, without other names for them.
func tableEntries(t testing.TB) []*table.Row {
	t.Helper()
	text, err := os.ReadFile("../table/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []*table.Row
	for line := range strings.Lines(string(text)) {
		if r := table.Lookup(strings.TrimSpace(line)); r != nil && r.Name == strings.TrimSpace(line) && line[0] != ' ' {
			list = append(list, r)
		}
	}
	return list
}
