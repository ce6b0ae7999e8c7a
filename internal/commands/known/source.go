package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// compiled looks at programs that are compiled and run at once, if the command
// line itself wrote them: what they name is what they use. Nothing more is known
// of these languages.
func (g *reading) compiled() {
	for i, o := range g.Operands {
		if i >= 64 {
			return
		}
		if text, ok := g.content(o); ok && touchesFiles(text) {
			g.literals(text)
		}
	}
}

// touchesFiles reports whether a program of C or Go does anything with files or
// programs. One that only prints may name what it likes.
func touchesFiles(text string) bool {
	for _, w := range [...]string{"os.", "exec.", "ioutil.", "syscall.", "unix.", "fopen", "open(", "unlink", "remove(", "rename(", "system(",
		"popen", "exec", "creat", "mkdir", "rmdir", "chdir", "ofstream", "ifstream", "filesystem"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// literals are the strings of a program: paths, or commands if they are given to
// a shell.
func (g *reading) literals(text string) {
	if mark.Has(text, mark.Any) {
		g.ask("cordon cannot tell what the compiled program does", "put it into a file of your worktree")
		return
	}
	for n := 0; n < argtext.MaxLoose; n++ {
		before, rest, ok := strings.Cut(text, `"`)
		if !ok {
			return
		}
		var literal string
		literal, text, _ = strings.Cut(rest, `"`)
		before = strings.TrimRight(before, " ")
		switch {
		case strings.HasSuffix(before, "system(") || strings.HasSuffix(before, "popen(") || strings.HasSuffix(before, `"-c",`):
			g.value("code", literal, "source")
		case argtext.StartsPath(literal) && literal != ".":
			g.path(commands.Read, literal, "source")
		}
	}
}

// postscript names files in parentheses.
func (g *reading) postscript(v, why string) {
	for _, piece := range strings.Split(v, "(") {
		if name, _, ok := strings.Cut(piece, ")"); ok && argtext.StartsPath(name) {
			g.path(commands.Read, name, why)
		}
	}
}
