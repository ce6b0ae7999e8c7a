package commands

import (
	"slices"
	"strconv"
	"strings"

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
func applyPatch(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	text := strings.Join(c.Args[1:], "\n")
	if c.Fed {
		text += "\n" + c.Stdin
	}
	if mark.Has(text, mark.Any) || !strings.Contains(text, "***") {
		u.Runs = append(u.Runs, Run{Code: text, Lang: Opaque, Why: "patch"})
	}
	added := ""
	for line := range strings.Lines(text) {
		name, head, ok := patchName(line)
		switch {
		case ok:
			u.path(Write, name, "patch")
			added = ""
			if head == patchMarks[0] {
				added = name
				u.Effects = append(u.Effects, Effect{Path: name})
			} else {
				u.Effects = append(u.Effects, Effect{Path: name, Text: mark.Any})
			}
		case added != "" && strings.HasPrefix(line, "+"):
			u.Effects[len(u.Effects)-1].Text += line[1:]
		}
	}
	return u
}

// patches is patch: it writes to the files that the patch names, as far as those
// are known.
func (g *reading) patches() {
	g.plainly()
	if g.has("dry-run") {
		return
	}
	for i, line := range strings.Split(g.patchText(), "\n") {
		if i > maxLoose {
			return
		}
		for _, head := range [...]string{"+++ ", "--- ", "rename to ", "copy to "} {
			name, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), head)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			for _, p := range slices.Compact([]string{name, g.stripped(name)}) {
				if strings.HasPrefix(p, "/") && p != "/dev/null" || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") {
					g.path(Write, p, "patch")
				}
			}
		}
	}
}

// patchText is what is known of the patch that a call is given.
func (g *reading) patchText() string {
	file := ""
	if o, ok := g.given("i", "input"); ok {
		file = o.value
	} else if len(g.operands) > 1 {
		file = g.operands[1]
	}
	if file == "" || file == "-" {
		if len(g.operands) == 1 || !g.call.Fed {
			return "" // the file is named, and judged
		}
		return g.call.Stdin
	}
	if len(g.operands) > 0 || g.call.Text == nil {
		return ""
	}
	text, _ := g.call.Text(file)
	return text
}

// stripped is a name without the components that -p takes away.
func (g *reading) stripped(name string) string {
	o, ok := g.given("p", "strip")
	n, err := strconv.Atoi(o.value)
	if !ok || err != nil {
		return name
	}
	for ; n > 0; n-- {
		_, rest, found := strings.Cut(name, "/")
		if !found {
			return name
		}
		name = rest
	}
	return name
}
