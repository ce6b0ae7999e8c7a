package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// archives are tar and jar. Options may be a first word without a dash, whose
// values follow in the order of its letters.
func (g *reading) archives(name string) {
	args := oldStyle(g.call.Args, g.Rows[0])
	if v, ok := g.call.Variable("TAR_OPTIONS"); ok && name == "tar" {
		args = append(append([]string{args[0]}, strings.Fields(v)...), args[1:]...)
	}
	g.Parsed = table.Parse(args, g.Rows[0])
	packs := g.Has("c", "create", "r", "append", "u", "update", "delete", "A", "catenate")
	unpacks := g.Has("x", "extract", "get")
	g.memberKind(packs)
	g.plainly()
	g.archiveFiles(packs)
	if !unpacks || g.Has("O", "to-stdout") {
		return
	}
	if g.Has("P", "absolute-names") && name == "tar" {
		g.ask("an archive unpacked with -P can write anywhere", "leave -P out")
	}
	for _, o := range g.Options {
		if o.Is("C") || o.Is("directory") {
			g.path(commands.Write, o.Value, o.At)
		}
	}
}

// memberKind says what the operands are: files when packing, and otherwise names
// inside of the archive.
func (g *reading) memberKind(packs bool) {
	r := *g.Rows[0]
	switch {
	case packs && g.Has("remove-files"):
		r.Operands = "write*"
	case packs, g.Has("d", "diff", "compare"):
		r.Operands = "readat*"
	default:
		r.Operands = "text*"
	}
	g.Rows = []*table.Row{&r}
}

// archiveFiles adds the archives themselves.
func (g *reading) archiveFiles(packs bool) {
	role := commands.Read
	if packs {
		role = commands.Write
	}
	for _, o := range g.Options {
		if !o.Has || !(o.Is("f") || o.Is("file")) {
			continue
		}
		if p, ok := argtext.LocalPath(o.Value); ok {
			g.path(role, p, o.At)
		}
	}
}

// oldStyle rewrites "tar xfC a.tar dir" as "tar -x -f a.tar -C dir".
func oldStyle(args []string, r *table.Row) []string {
	if len(args) < 2 || args[1] == "" || len(args[1]) > 64 || args[1][0] == '-' || mark.In(args[1]) {
		return args
	}
	p := &table.Parsed{Rows: []*table.Row{r}}
	out := []string{args[0]}
	rest := args[2:]
	for _, letter := range args[1] {
		out = append(out, "-"+string(letter))
		if it, ok := p.Item("-"+string(letter), false); ok && it.Sign == '=' && len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

// packs are the other archive programs.
func (g *reading) packs(name string) {
	switch name {
	case "7z":
		g.seven()
		return
	case "ar":
		g.ar()
		return
	}
	if name == "zip" {
		g.zip()
		return
	}
	g.plainly()
	switch name {
	case "unzip":
		if g.Has(":") {
			g.ask("an archive unpacked with -: can write anywhere", "leave -: out")
		}
	case "cpio":
		g.cpio()
	}
}

// zip runs a command to test what it packed, with the option -TT, and takes
// names from standard input, with -@.
func (g *reading) zip() {
	for i, a := range g.call.Args {
		if rest, ok := strings.CutPrefix(a, "-TT"); ok {
			g.value("code", strings.Join(append([]string{rest}, g.call.Args[i+1:]...), " "), "-TT")
		}
	}
	g.plainly()
	if g.Has("@") {
		g.listed("-", commands.Read, "-@")
	}
}

// seven is 7z, whose first operand is what it does.
func (g *reading) seven() {
	r := *g.Rows[0]
	r.Operands = "verb write readat*"
	if nthOf(g.Operands, 0) == "x" || nthOf(g.Operands, 0) == "l" {
		r.Operands = "verb read text*"
	}
	g.Rows = []*table.Row{&r}
	g.plainly()
	for _, o := range g.Options {
		if o.Is("s") && strings.HasPrefix(o.Value, "pf") {
			g.ask("an archive unpacked with -spf can write anywhere", "leave -spf out")
		}
	}
}

// ar begins with letters, which may have a dash before them.
func (g *reading) ar() {
	if strings.HasPrefix(nthOf(g.call.Args, 1), "-") {
		g.Operands = append([]string{"-"}, g.Operands...)
	}
	g.plainly()
}

// cpio takes the names of what it packs or passes on from standard input.
func (g *reading) cpio() {
	switch {
	case g.Has("p", "pass-through"), g.Has("o", "create"):
		g.listed("-", commands.Read, "standard input")
	}
	if o, ok := g.Given("D", "directory"); ok && g.Has("i", "extract") {
		g.dir = ""
		g.path(commands.Write, o.Value, o.At)
	}
	if o, ok := g.Given("F", "file"); ok && g.Has("o", "create") {
		g.path(commands.Write, o.Value, o.At)
	}
}
