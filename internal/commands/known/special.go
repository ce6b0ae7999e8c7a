package known

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/commands/wrap"
	"cordon/internal/mark"
)

// special does what the rows say, and for a few commands what rows cannot say.
func (g *reading) special(name string) {
	if r := g.Rows[0]; r.Ask != "" {
		g.ask(r.Ask, "")
	}
	if g.Crowded {
		g.ask("it has more options than cordon can check", "write it with fewer")
	}
	switch name {
	case "cp", "mv", "install":
		g.copies(name)
	case "ln":
		g.links()
	case "tee", "sponge":
		g.tees()
	case "tar", "jar":
		g.archives(name)
	case "test":
		g.tests()
	case "mktemp":
		g.temporary()
	case "fd":
		g.fd()
	case "jq":
		g.jq()
	case "cmake":
		g.cmake()
	case "zip", "unzip", "7z", "ar", "cpio":
		g.packs(name)
	case "patch":
		g.patches()
	default:
		g.services(name)
	}
}

// services are the commands that change more than the paths they name, or whose
// options are a small language.
func (g *reading) services(name string) {
	g.plainly()
	switch name {
	case "npm", "pnpm", "yarn":
		g.npm(name)
	case "go":
		g.golang()
		g.compiled()
	case "gcc":
		g.compiled()
	case "pip", "uv", "pipx":
		g.pip(name)
	case "ssh-keygen":
		g.keys()
	case "curl", "wget":
		g.download(name)
	case "sftp":
		if len(g.Operands) > 0 && argtext.IsLocalHost(g.Operands[0]) {
			g.use.Runs = append(g.use.Runs, commands.Run{Code: g.call.Stdin, Lang: commands.Opaque, Why: "standard input"})
		}
	case "nix":
		g.nix()
	case "cordon":
		g.cordon()
	case "less", "more":
		g.atStart()
	case "link":
		g.hardLink()
	case "dd":
		g.dd()
	case "wasm-pack", "plantuml":
		g.rebases(name)
	}
	g.leaves(name)
}

// rebases is for those whose output is relative to what they work on.
func (g *reading) rebases(name string) {
	dir := ""
	for _, a := range g.use.Access {
		if a.Why == "operand" {
			dir = a.Path
		}
	}
	if name == "plantuml" {
		dir = argtext.Parent(dir)
	} else if dir == "" {
		dir = g.verb(1)
	}
	for i := range g.use.Access {
		if a := &g.use.Access[i]; a.Role == commands.Write && a.Why != "operand" && a.Dir == "" {
			a.Dir = dir
		}
	}
}

// leaves adds what is in the files that a command makes: nobody knows.
func (g *reading) leaves(name string) {
	switch name {
	case "curl", "wget", "http", "aria2c", "sort", "shuf", "uniq", "xxd", "iconv", "openssl", "gpg", "age", "base64":
	default:
		return
	}
	for _, a := range g.use.Access {
		switch strings.TrimLeft(a.Why, "-") {
		case "o", "O", "output", "out", "output-document", "operand":
			if a.Role == commands.Write {
				g.use.Effects = append(g.use.Effects, commands.Effect{Path: a.Path, Dir: a.Dir, Text: mark.Any})
			}
		}
	}
}

// dd copies its input to its output, though perhaps not all of it.
func (g *reading) dd() {
	of, ok := g.Given("of")
	if !ok {
		return
	}
	made := commands.Effect{Path: of.Value, Text: mark.Any}
	if from, ok := g.Given("if"); ok {
		made = commands.Effect{Path: of.Value, From: from.Value}
	}
	g.use.Effects = append(g.use.Effects, made)
}

func (g *reading) ask(reason, instead string) {
	g.use.Findings = append(g.use.Findings, commands.Finding{Weight: commands.Ask, Reason: reason, Instead: instead})
}

// rare does what the kinds say that only one command has.
func (g *reading) rare(kind, v, why string) {
	switch kind {
	case "sshoption":
		kind, value := wrap.SshSetting(v)
		g.value(kind, value, why)
	case "checkpoint":
		if code, ok := strings.CutPrefix(v, "exec="); ok {
			g.value("code", code, why)
		}
	case "ansible":
		g.ansible(v, why)
	case "renaming":
		g.renaming(v, why)
	case "socket", "ldflags", "macro", "tex", "hgconfig", "expression", "target":
		g.language(kind, v, why)
	case "postscript":
		g.postscript(v, why)
	case "curlrc":
		g.value("read", v, why)
	case "archive", "member", "tmpdir", "template":
		// The command's own function reads these.
	default:
		// A kind that nobody knows is looked at as a path: rows are tested not
		// to have one.
		g.path(commands.Write, v, why)
	}
}

// query is code of a database, whose client may run a command, or have the
// server run one.
func (g *reading) query(v, why string) {
	for _, line := range argtext.Lines(v) {
		line = strings.TrimSpace(line)
		if code, ok := strings.CutPrefix(line, `\!`); ok {
			g.value("code", code, why)
		}
	}
	if i := strings.Index(strings.ToLower(v), "program '"); i >= 0 {
		code, _, _ := strings.Cut(v[i+len("program '"):], "'")
		g.value("code", code, why)
	}
	g.use.Runs = append(g.use.Runs, commands.Run{Code: v, Lang: commands.SQL, Dir: g.dir, Why: why})
}

// renaming is the first operand of rename: code of Perl, or for another program
// of that name a text that is replaced.
func (g *reading) renaming(v, why string) {
	if strings.Contains(v, "..") && strings.Contains(v, "/") {
		g.ask("the place to which it moves the files is not known", "use mv")
	}
	if strings.ContainsAny(v, "/;{") {
		g.use.Runs = append(g.use.Runs, commands.Run{Code: v, Lang: commands.Perl, Why: why})
	}
}

// ansible is the argument of a module: perhaps a command line, perhaps settings.
func (g *reading) ansible(v, why string) {
	g.value("code", v, why)
	for _, f := range strings.Fields(v) {
		g.value("loose", f, why)
	}
}

// jq takes its operands after --args as text.
func (g *reading) jq() {
	o, ok := g.Given("args", "jsonargs")
	if ok && o.After < len(g.Operands) {
		n := max(o.After, 1)
		if g.Has("f", "from-file") {
			n = o.After
		}
		g.Operands = g.Operands[:min(n, len(g.Operands))]
	}
	g.plainly()
}

// fd runs a command for what it finds: what follows -x or -X, up to a
// semicolon.
func (g *reading) fd() {
	args, command := g.cutCommand(g.call.Args)
	if len(command) > 0 {
		g.Parsed = table.Parse(args, g.Rows[0])
	}
	g.plainly()
	if len(command) > 0 {
		g.use.Runs = append(g.use.Runs, commands.Run{Args: fillFound(command, g.names()), Dir: g.dir, Why: "-x"})
		g.use.Out = mark.Any
	}
}

// cutCommand takes the command out of the arguments of fd.
func (g *reading) cutCommand(args []string) (rest, command []string) {
	for i, a := range args {
		if a == "--" {
			break
		}
		word, ok := g.startsCommand(a)
		if !ok {
			continue
		}
		command = args[i+1:]
		if word != "" {
			command = append([]string{word}, command...)
		}
		rest = append(rest, args[:i]...)
		if end := slices.Index(command, ";"); end >= 0 {
			return append(rest, command[end+1:]...), command[:end]
		}
		return rest, command
	}
	return args, nil
}

// startsCommand reports whether an argument of fd is, or ends in, the option
// that a command follows; word is the part of the command that is attached.
func (g *reading) startsCommand(a string) (word string, ok bool) {
	name, value, _ := strings.Cut(a, "=")
	if name == "--exec" || name == "--exec-batch" {
		return value, true
	}
	if len(a) < 2 || a[0] != '-' || a[1] == '-' {
		return "", false
	}
	for i, letter := range a[1:] {
		if letter == 'x' || letter == 'X' {
			return a[i+2:], true
		}
		if it, ok := g.Item("-"+string(letter), false); ok && it.Kind != "" {
			return "", false
		}
	}
	return "", false
}

// fillFound puts what was found where a command wants it, or at its end.
func fillFound(command []string, found string) []string {
	filled := make([]string, 0, len(command)+1)
	there := false
	for _, a := range command {
		for _, hole := range [...]string{"{}", "{/}", "{//}", "{.}", "{/.}"} {
			if strings.Contains(a, hole) {
				there = true
				a = strings.ReplaceAll(a, hole, found)
			}
		}
		filled = append(filled, a)
	}
	if !there {
		filled = append(filled, found)
	}
	return filled
}
