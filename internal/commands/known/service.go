package known

import (
	"encoding/json"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// verb returns the operand that says what a command is to do; i counts from 0.
func (g *reading) verb(i int) string {
	if i < len(g.Operands) {
		return g.Operands[i]
	}
	return ""
}

// npm and its like keep settings in the home, and install for everybody with -g.
func (g *reading) npm(name string) {
	global := g.Has("g", "global") || locationIs(g, "global")
	g.npmScript()
	switch g.verb(0) {
	case "config", "c":
		if v := g.verb(1); v == "set" || v == "delete" || v == "edit" || v == "rm" {
			g.configures(name)
		}
	case "set", "login", "adduser", "logout", "add-user":
		if name == "npm" {
			g.configures(name)
		}
	case "install", "i", "add", "uninstall", "remove", "rm", "un", "update", "up", "ci", "link", "ln", "unlink":
		if global || g.verb(0) == "link" && len(g.Operands) == 1 && name == "npm" {
			g.ask(commands.InstallsForUser, "install it in the project, without -g")
		}
	case "global":
		if name == "yarn" {
			g.ask(commands.InstallsForUser, "install it in the project")
		}
	}
}

// npmScript runs a script of package.json, if the command line itself wrote that.
func (g *reading) npmScript() {
	text, ok := g.content("package.json")
	if !ok || mark.In(text) {
		return
	}
	var p struct{ Scripts map[string]string }
	if json.Unmarshal([]byte(text), &p) != nil {
		g.ask("cordon cannot tell what the scripts in package.json do", "")
		return
	}
	names := []string{g.verb(0), g.verb(1)}
	if r := g.Rows[len(g.Rows)-1]; r.Name == "npm run" {
		names = append(names, nthOf(plainWords(g.call.Args[1:]), 0))
	}
	for _, n := range names {
		for _, hook := range [...]string{"pre", "", "post"} {
			if code := p.Scripts[hook+n]; n != "" && code != "" {
				g.use.Runs = append(g.use.Runs, commands.Run{Code: code, Dir: g.dir, Why: "scripts"})
			}
		}
	}
}

func locationIs(g *reading, where string) bool {
	o, ok := g.Given("location")
	return ok && o.Value == where
}

// configures is a change of the settings of npm, which are in the home unless
// it is told otherwise.
func (g *reading) configures(name string) {
	if locationIs(g, "project") {
		return
	}
	switch name {
	case "npm":
		g.path(commands.Write, "~/.npmrc", "its settings")
	case "pnpm":
		g.path(commands.Write, "~/.config/pnpm/rc", "its settings")
	default:
		g.ask(changesHome, "")
	}
}

// golang is go, whose settings are in the home too.
func (g *reading) golang() {
	if len(g.Rows) > 1 && g.Rows[1].Name == "go env" && g.Has("w", "u") {
		g.path(commands.Write, "~/.config/go/env", "go env -w")
	}
}

// pip installs into the environment that is active, which is the project's
// business, unless it is told to do it for the user.
func (g *reading) pip(name string) {
	switch {
	case g.Has("user") && g.verb(0) == "install":
		g.ask(commands.InstallsForUser, "install it in the project's environment")
	case g.verb(0) == "config" && (g.verb(1) == "set" || g.verb(1) == "unset" || g.verb(1) == "edit"):
		g.path(commands.Write, "~/.config/pip/pip.conf", "its settings")
	}
}

// keys is ssh-keygen: without a file it writes to the home.
func (g *reading) keys() {
	asks := g.Has("l", "y", "e", "B", "F", "Y", "h")
	if g.Has("f") || g.Has("Y") {
		return
	}
	switch {
	case g.Has("R", "H"):
		g.path(commands.Write, "~/.ssh/known_hosts", "-R")
	case g.Has("F"):
		g.path(commands.Read, "~/.ssh/known_hosts", "-F")
	case asks:
		g.path(commands.Read, "~/.ssh/id", "the key")
	case len(g.Operands) == 0:
		g.path(commands.Write, "~/.ssh/id", "the key")
	}
}

// download is curl and wget, which may name what they fetch by its address, and
// of which curl may get its settings from standard input.
func (g *reading) download(name string) {
	dir, _ := g.Given("P", "directory-prefix")
	saved := name == "wget" && !g.Has("O", "output-document", "spider", "i", "input-file")
	if name == "curl" {
		if g.Text("K", "config") == "-" && g.call.Fed {
			g.ask("curl reads from standard input what to write and where", "give the options as arguments")
		}
		dir, _ = g.Given("output-dir")
		saved = g.Has("O", "remote-name", "remote-name-all")
	}
	for _, address := range g.Operands {
		if p := addressName(address); saved && p != "" {
			made := commands.Effect{Path: p, Dir: dir.Value, Text: mark.Any}
			g.use.Access = append(g.use.Access, commands.Access{Role: commands.Write, Path: p, Dir: dir.Value, Why: "address"})
			g.use.Effects = append(g.use.Effects, made)
		}
	}
}

// addressName is the name that a file gets which is fetched from an address.
func addressName(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if !strings.Contains(address, "/") {
		return ""
	}
	name := address[strings.LastIndexByte(address, '/')+1:]
	if mark.Has(name, mark.Any) || name == "." || name == ".." {
		return ""
	}
	return name
}

// nix runs the rest of its arguments with -c.
func (g *reading) nix() {
	if o, ok := g.Given("expr"); ok {
		for _, w := range strings.Fields(o.Value) {
			g.value("loose", strings.Trim(w, "()[];"), o.At)
		}
	}
	for i, a := range g.call.Args {
		if a == "-c" || a == "--command" || a == "-C" {
			if rest := g.call.Args[i+1:]; len(rest) > 0 {
				g.use.Runs = append(g.use.Runs, commands.Run{Args: rest, Why: a})
			}
			return
		}
	}
}
