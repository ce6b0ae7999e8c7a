// Package git knows git: its subcommands, options, settings, variables and
// addresses, what they read, write and run, and what they do to a repository. It
// runs no git, and refuses to say whose a branch is: that is the guard's business.
package git

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// gitCall is one git command while its Use is worked out.
type gitCall struct {
	*table.Parsed               // of the subcommand
	call          commands.Call // as it was given
	use           commands.Use  // what is known by now
	dir           string        // where it works, as the -C options leave it
	gitDir        string        // --git-dir or GIT_DIR; "" is what git finds from dir
	tree          string        // --work-tree or GIT_WORK_TREE
	config        []gitSet      // configuration of this call alone
	name          string        // the subcommand
	args          []string      // its arguments
	depth         int           // how many aliases led here
}

// gitSet is one setting.
type gitSet struct{ key, value, why string }

// maxAliases bounds how many aliases may lead to each other.
const maxAliases = 8

// Use returns what a git command does. It knows git's own arguments, its
// variables and its configuration as far as the call gives it; what the
// repository's configuration says is the guard's business.
func Use(c commands.Call) commands.Use {
	g := &gitCall{call: c}
	g.use.Known = true
	g.use.Out = mark.Any
	if len(c.Args) == 0 {
		return g.use
	}
	args := c.Args[1:]
	if name, ok := strings.CutPrefix(c.Args[0], "git-"); ok {
		args = append([]string{name}, args...)
	}
	rest := g.globals(args)
	g.environment()
	g.subcommand(rest)
	return g.use
}

// globals takes git's own options and returns what follows them.
func (g *gitCall) globals(args []string) []string {
	for len(args) > 0 {
		a := args[0]
		if a == "" || a[0] != '-' {
			return args
		}
		args = args[1:]
		name, value, has := strings.Cut(a, "=")
		if !has && takesValue(name) {
			if len(args) == 0 {
				return nil
			}
			value, args = args[0], args[1:]
			has = true
		}
		if printsAndEnds(name, has) {
			return append([]string{name}, args...)
		}
		g.global(name, value, has)
	}
	return nil
}

// takesValue reports whether one of git's own options takes the next argument
// when nothing is attached to it.
func takesValue(name string) bool {
	return slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}, name)
}

func (g *gitCall) global(name, value string, has bool) {
	switch name {
	case "-C":
		g.dir = argtext.JoinDir(g.dir, value)
	case "-c":
		g.configure(value, "-c")
	case "--config-env":
		key, variable, _ := strings.Cut(value, "=")
		g.config = append(g.config, gitSet{key, g.variable(variable), "--config-env"})
	case "--git-dir":
		g.gitDir = value
	case "--work-tree":
		g.tree = value
	case "--exec-path":
		g.value("exec", value, name)
	default:
		if dir, ok := strings.CutPrefix(name, "-C"); ok {
			g.dir = argtext.JoinDir(g.dir, dir) // git refuses this spelling today
		}
		if has {
			g.value("loose", value, name)
		}
	}
}

// configure takes a setting written as key=value; without a value it is true.
func (g *gitCall) configure(setting, why string) {
	key, value, has := strings.Cut(setting, "=")
	if !has {
		value = "true"
	}
	g.config = append(g.config, gitSet{key, value, why})
}

// variable returns a variable that a value is taken from.
func (g *gitCall) variable(name string) string {
	if v, ok := g.call.Variable(name); ok {
		return v
	}
	return mark.Any
}

// subcommand works out what follows git's own options.
func (g *gitCall) subcommand(args []string) {
	if len(args) > 0 {
		g.name, g.args = args[0], args[1:]
	}
	if g.helps() {
		g.name, g.args = "help", []string{g.name}
	}
	r := gitRow(g.name)
	if r == nil && g.aliased() {
		return
	}
	if r == nil {
		r = &table.Row{Name: g.name, Options: "-m,--message=text", Operands: "loose"}
	}
	g.Parsed = table.Parse(append([]string{g.name}, g.args...), r)
	g.located()
	for _, s := range g.config {
		g.set(s)
	}
	g.config = nil
	if mark.In(g.name) {
		g.ask("cordon cannot tell which git command this is", "write the git subcommand out")
	}
	for _, o := range g.Options {
		if o.Has {
			g.value(o.Kind, o.Value, o.At)
		}
	}
	g.acts()
	if g.name == "mv" {
		g.moved()
	}
	g.prints()
}

// moved tells what is where after git mv, which takes links along as they are.
func (g *gitCall) moved() {
	n := len(g.Operands) - 1
	for i, s := range g.Operands {
		if i >= n {
			break
		}
		_, paths := argtext.Made(s, g.Operands[n], n > 1, false)
		for _, p := range paths {
			g.use.Effects = append(g.use.Effects, commands.Effect{Path: p, Dir: g.dir, From: s})
		}
		g.use.Effects = append(g.use.Effects, commands.Effect{Path: s, Dir: g.dir, Gone: true})
	}
}

// helps reports whether the command is only asked how it is used. An alias that
// is code gets the question itself.
func (g *gitCall) helps() bool {
	return len(g.args) > 0 && (g.args[0] == "--help" || g.args[0] == "-h" && len(g.args) == 1) && gitRow(g.name) != nil
}

// located says which repository the command works on.
func (g *gitCall) located() {
	if g.dir != "" {
		g.use.Access = append(g.use.Access, commands.Access{Role: commands.Enter, Path: g.dir, Why: "-C"})
	}
	if g.gitDir != "" {
		g.path(commands.Enter, g.gitDir, "--git-dir")
	}
	if g.tree != "" {
		g.path(commands.Enter, g.tree, "--work-tree")
	}
	if g.dir == "" && g.tree == "" {
		g.path(commands.Enter, ".", "the repository of the current directory")
	}
}

// aliased replaces an alias that the call itself gives by what it stands for.
func (g *gitCall) aliased() bool {
	var value string
	found := false
	for _, s := range g.config {
		if key := strings.ToLower(s.key); key == "alias."+strings.ToLower(g.name) || key == "alias."+strings.ToLower(g.name)+".command" {
			value, found = s.value, true
		}
	}
	if !found || g.depth >= maxAliases {
		return false
	}
	g.depth++
	if code, ok := strings.CutPrefix(value, "!"); ok {
		g.Parsed = table.Parse([]string{g.name}, &table.Row{})
		g.located()
		for _, s := range g.config {
			if !strings.HasPrefix(strings.ToLower(s.key), "alias.") {
				g.set(s)
			}
		}
		g.shellAlias(code, g.args, "alias."+g.name)
		return true
	}
	if mark.Has(value, mark.Any) {
		g.ask("what the alias "+g.name+" stands for is not known", "run the git command itself")
	}
	words := append(argtext.SplitWords(value, nil), g.args...)
	g.subcommand(g.globals(words))
	return true
}

// shellAlias runs an alias that is code, which git does at the top of the
// working tree.
func (g *gitCall) shellAlias(code string, args []string, why string) {
	r := commands.Run{Code: gitAtTop + code, Dir: g.dir, Params: []string{"git"}, Why: why}
	if len(args) > 0 {
		r.Code += ` "$@"`
		r.Params = append(r.Params, args...)
	}
	g.use.Runs = append(g.use.Runs, r)
}

// gitAtTop takes code to where git runs it.
const gitAtTop = `cd "$(git rev-parse --show-toplevel)"; `

func (g *gitCall) ask(reason, instead string) {
	g.use.Findings = append(g.use.Findings, commands.Finding{Weight: commands.Ask, Reason: reason, Instead: instead})
}

// act adds something that happens to the repository.
func (g *gitCall) act(kind commands.GitKind, name, value string) *commands.GitAct {
	g.use.Git = append(g.use.Git, commands.GitAct{Kind: kind, Name: name, Value: value, Dir: g.repository()})
	return &g.use.Git[len(g.use.Git)-1]
}

func (g *gitCall) shares(what string) { g.act(commands.GitShares, what, "") }

func (g *gitCall) repository() string {
	if g.gitDir != "" {
		return argtext.JoinDir(g.dir, g.gitDir)
	}
	return g.dir
}

// path adds an access relative to where git works.
func (g *gitCall) path(role commands.Role, path, why string) {
	g.use.Access = append(g.use.Access, commands.Access{Role: role, Path: path, Dir: g.dir, Why: why})
}

// printsAndEnds reports whether one of git's own options stands for a
// subcommand.
func printsAndEnds(name string, valued bool) bool {
	switch name {
	case "--version", "-v", "--help", "-h", "--html-path", "--man-path", "--info-path", "--list-cmds":
		return true
	case "--exec-path":
		return !valued
	}
	return false
}
