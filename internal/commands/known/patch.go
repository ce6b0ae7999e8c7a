package known

import (
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// patchMarks begin the lines of an apply_patch patch that name a file.
var patchMarks = [...]string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}

// patchName is the file that a line of such a patch names. Lines that the patch adds
// or takes away are content, whatever they look like; a line of context that looks
// like a mark is taken for one, since not every parser minds the blank before it.
func patchName(line string) (name, head string, ok bool) {
	line = strings.TrimSpace(line)
	for _, head := range patchMarks {
		if name, ok := strings.CutPrefix(line, head); ok {
			return strings.TrimSpace(name), head, true
		}
	}
	return "", "", false
}

// applyPatch is the command that agents give a patch to, as an argument or on
// standard input. It writes wherever the patch says. A patch whose text is not known
// is code that cannot be judged.
func applyPatch(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	text := strings.Join(c.Args[1:], "\n")
	if c.Fed {
		text += "\n" + c.Stdin
	}
	if mark.Has(text, mark.Any) || !strings.Contains(text, "***") {
		u.Runs = append(u.Runs, commands.Run{Code: text, Lang: commands.Opaque, Why: "patch"})
	}
	added := ""
	for line := range strings.Lines(text) {
		name, head, ok := patchName(line)
		switch {
		case ok:
			u.Access = append(u.Access, commands.Access{Role: commands.Write, Path: name, Why: "patch"})
			added = ""
			if head == patchMarks[0] {
				added = name
				u.Effects = append(u.Effects, commands.Effect{Path: name})
			} else {
				u.Effects = append(u.Effects, commands.Effect{Path: name, Text: mark.Any})
			}
		case added != "" && strings.HasPrefix(line, "+"):
			u.Effects[len(u.Effects)-1].Text += line[1:]
		}
	}
	return u
}

// patches is patch: it writes to the files that the patch names, and somewhere
// below its directory where these are not known.
func (g *reading) patches() {
	g.plainly()
	if g.Has("dry-run") || len(g.Operands) > 0 { // a file that is named is judged
		return
	}
	text, known := g.content("-")
	if o, ok := g.Given("i", "input"); ok {
		text, known = g.content(o.Value)
	}
	strip, err := strconv.Atoi(g.Text("p", "strip"))
	known = known && err == nil && !mark.Has(text, mark.Any)
	for _, name := range argtext.PatchedNames(text, strip) {
		if known || argtext.Leaves(name) {
			g.path(commands.Write, name, "patch")
		}
	}
	if strip > 0 {
		for _, name := range argtext.PatchedNames(text, 0) {
			if argtext.Leaves(name) {
				g.path(commands.Write, name, "patch")
			}
		}
	}
	if !known {
		g.path(commands.Write, ".", "patch")
	}
}
