package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// temporary is mktemp: in a directory for temporary files unless it is told
// another place.
func (g *reading) temporary() {
	g.plainly()
	dir, told := g.call.Variable("TMPDIR")
	if o, ok := g.Given("p", "tmpdir"); ok && o.Value != "" {
		dir, told = o.Value, true
	}
	template := "tmp.XXXXXXXXXX"
	if len(g.Operands) > 0 {
		template = g.Operands[0]
		if !told && !g.Has("t", "tmpdir", "p") {
			dir, told = "", true
		}
	}
	if !told || dir == mark.Scratch {
		g.use.Out = mark.Scratch + "\n"
		return
	}
	made := argtext.JoinDir(dir, template)
	if dir != "" && !strings.HasPrefix(made, dir) {
		made = dir + "/" + template
	}
	made = strings.TrimRight(made, "X")
	suffix, _ := g.Given("suffix")
	made += mark.Atom + suffix.Value
	g.use.Out = made + "\n"
	if !g.Has("u", "dry-run") {
		g.path(commands.Write, made, "template")
	}
}
