package commands

import (
	"strings"

	"cordon/internal/mark"
)

// archives are tar and jar. Options may be a first word without a dash, whose
// values follow in the order of its letters.
func (g *reading) archives(name string) {
	args := oldStyle(g.call.Args, g.rows[0])
	if v, ok := g.variable("TAR_OPTIONS"); ok && name == "tar" {
		args = append(append([]string{args[0]}, strings.Fields(v)...), args[1:]...)
	}
	g.parsed = parse(args, g.rows[0])
	packs := g.has("c", "create", "r", "append", "u", "update", "delete", "A", "catenate")
	unpacks := g.has("x", "extract", "get")
	g.memberKind(packs)
	g.plainly()
	g.archiveFiles(packs)
	if !unpacks || g.has("O", "to-stdout") {
		return
	}
	if g.has("P", "absolute-names") && name == "tar" {
		g.ask("an archive that is unpacked with -P may write anywhere", "leave -P out")
	}
	for _, o := range g.options {
		if o.is("C") || o.is("directory") {
			g.path(Write, o.value, o.at)
		}
	}
}

// memberKind says what the operands are: files when packing, and otherwise names
// inside of the archive.
func (g *reading) memberKind(packs bool) {
	r := *g.rows[0]
	switch {
	case packs && g.has("remove-files"):
		r.operands = "write*"
	case packs, g.has("d", "diff", "compare"):
		r.operands = "readat*"
	default:
		r.operands = "text*"
	}
	g.rows = []*row{&r}
}

// archiveFiles adds the archives themselves.
func (g *reading) archiveFiles(packs bool) {
	role := Read
	if packs {
		role = Write
	}
	for _, o := range g.options {
		if !o.has || !(o.is("f") || o.is("file")) {
			continue
		}
		if p, ok := localPath(o.value); ok {
			g.path(role, p, o.at)
		}
	}
}

func (g *reading) variable(name string) (string, bool) {
	if g.call.Env == nil {
		return "", false
	}
	return g.call.Env(name)
}

// oldStyle rewrites "tar xfC a.tar dir" as "tar -x -f a.tar -C dir".
func oldStyle(args []string, r *row) []string {
	if len(args) < 2 || args[1] == "" || len(args[1]) > 64 || args[1][0] == '-' || mark.In(args[1]) {
		return args
	}
	p := &parsed{rows: []*row{r}}
	out := []string{args[0]}
	rest := args[2:]
	for _, letter := range args[1] {
		out = append(out, "-"+string(letter))
		if it, ok := p.item("-"+string(letter), false); ok && it.sign == '=' && len(rest) > 0 {
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
		if g.has(":") {
			g.ask("an archive that is unpacked with -: may write anywhere", "leave -: out")
		}
	case "cpio":
		g.cpio()
	}
}

// zip runs a command to test what it packed, with the option -TT, and takes
// names from standard input, with -@.
func (g *reading) zip() {
	args := []string{"zip"}
	for i := 1; i < len(g.call.Args); i++ {
		a := g.call.Args[i]
		rest, ok := strings.CutPrefix(a, "-TT")
		if !ok {
			args = append(args, a)
			continue
		}
		if rest == "" && i+1 < len(g.call.Args) {
			i++
			rest = g.call.Args[i]
		}
		g.value("code", rest, "-TT")
	}
	g.parsed = parse(args, g.rows[0])
	if o, ok := g.given("x", "exclude"); ok && o.after > 1 {
		// What follows are patterns for names in the archive.
		kept := g.operands[:o.after:o.after]
		for _, p := range g.operands[o.after:] {
			if !strings.ContainsAny(p, "*?") {
				kept = append(kept, p)
			}
		}
		g.operands = kept
	}
	g.plainly()
	if g.has("@") {
		g.listed("-", Read, "-@")
	}
}

// seven is 7z, whose first operand is what it does.
func (g *reading) seven() {
	r := *g.rows[0]
	if len(g.operands) > 0 {
		switch g.operands[0] {
		case "a", "u", "d", "rn":
			r.operands = "verb write readat*"
		default:
			r.operands = "verb read text*"
		}
	}
	g.rows = []*row{&r}
	g.plainly()
	for _, o := range g.options {
		if o.is("s") && strings.HasPrefix(o.value, "pf") {
			g.ask("an archive that is unpacked with -spf may write anywhere", "leave -spf out")
		}
	}
}

// ar changes the archive only for some of its letters.
func (g *reading) ar() {
	letters := ""
	var kept []option
	for _, o := range g.options {
		if o.kind != "" {
			kept = append(kept, o)
		} else {
			letters += strings.TrimLeft(o.first(), "-")
		}
	}
	if letters != "" {
		g.operands = append([]string{letters}, g.operands...)
	} else if len(g.operands) > 0 {
		letters = g.operands[0]
	}
	g.options = kept
	r := *g.rows[0]
	if !strings.ContainsAny(letters, "rqdms") {
		r.operands = "text read text*"
	}
	g.rows = []*row{&r}
	g.plainly()
}

// cpio takes the names of what it packs or passes on from standard input.
func (g *reading) cpio() {
	switch {
	case g.has("p", "pass-through"), g.has("o", "create"):
		g.listed("-", Read, "standard input")
	}
	if o, ok := g.given("D", "directory"); ok && g.has("i", "extract") {
		g.dir = ""
		g.path(Write, o.value, o.at)
	}
	if o, ok := g.given("F", "file"); ok && g.has("o", "create") {
		g.path(Write, o.value, o.at)
	}
}
