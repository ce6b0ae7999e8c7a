package commands

import (
	"strings"

	"cordon/internal/mark"
)

// temporary is mktemp: in a directory for temporary files unless it is told
// another place.
func (g *reading) temporary() {
	g.plainly()
	dir, told := g.variable("TMPDIR")
	if o, ok := g.given("p", "tmpdir"); ok && o.value != "" {
		dir, told = o.value, true
	}
	template := "tmp.XXXXXXXXXX"
	if len(g.operands) > 0 {
		template = g.operands[0]
		if !told && !g.has("t", "tmpdir", "p") {
			dir, told = "", true
		}
	}
	if !told || dir == mark.Scratch {
		g.use.Out = mark.Scratch + "\n"
		return
	}
	made := joinDir(dir, template)
	if dir != "" && !strings.HasPrefix(made, dir) {
		made = dir + "/" + template
	}
	made = strings.TrimRight(made, "X")
	suffix, _ := g.given("suffix")
	made += mark.Atom + suffix.value
	g.use.Out = made + "\n"
	if !g.has("u", "dry-run") {
		g.path(Write, made, "template")
	}
}
