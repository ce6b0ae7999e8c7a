package git

import (
	"cmp"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// fetch takes objects from another repository, and refs where it is told to.
func (g *gitCall) fetch() {
	if g.Has("multiple") {
		for _, o := range g.Operands {
			g.act(commands.GitFetches, o, "")
			g.address(commands.Read, o, "operand")
		}
		return
	}
	g.act(commands.GitFetches, g.nth(0), "")
	if len(g.Operands) == 0 {
		return
	}
	g.address(commands.Read, g.nth(0), "operand")
	for i, spec := range g.Operands[1:] {
		if g.Operands[i] == "tag" && i > 0 {
			g.moves(tags, spec, spec)
			continue
		}
		g.fetched(spec)
	}
}

// fetched moves the local ref of a refspec, if it has one.
func (g *gitCall) fetched(spec string) {
	from, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !ok || to == "" || strings.HasPrefix(spec, "^") {
		return
	}
	below := heads
	if strings.HasPrefix(from, tags) {
		below = tags
	}
	g.moves(below, to, from)
}

// push sends commits to another repository.
func (g *gitCall) push() {
	to := g.nth(0)
	to = cmp.Or(to, g.Text("repo"))
	role, kind := commands.Write, commands.GitPushes
	if g.Has("n", "dry-run") {
		role, kind = commands.Read, commands.GitFetches
	}
	var at address
	if to != "" {
		at = g.address(role, to, "operand")
	}
	for _, spec := range g.pushSpecs() {
		g.act(kind, to, spec)
		if kind == commands.GitPushes && at.path != "" && (onlyPath(at.path) || mark.In(at.path)) {
			g.pushedHere(at.path, spec)
		}
	}
}

// everyBranch is what --all pushes.
const everyBranch = "refs/heads/*:refs/heads/*"

// pushSpecs returns the refspecs of a push; one that is empty stands for what
// is configured. Forced ones begin with "+", as git writes them too.
func (g *gitCall) pushSpecs() []string {
	specs := g.namedSpecs()
	if g.Has("prune") { // deletes what matches a refspec there and is not here
		specs = append(specs, "+"+everyBranch)
	}
	if g.Has("f", "force", "force-with-lease") {
		for i, spec := range specs {
			specs[i] = "+" + strings.TrimPrefix(spec, "+")
		}
	}
	return specs
}

func (g *gitCall) namedSpecs() []string {
	var specs []string
	deletes := g.Has("d", "delete")
	for i, o := range g.Operands {
		switch {
		case i == 0 || o == "tag":
		case g.Operands[i-1] == "tag" && i > 1:
			specs = append(specs, tags+o)
		case deletes:
			specs = append(specs, ":"+o)
		default:
			specs = append(specs, o)
		}
	}
	for _, all := range [...][2]string{
		{"all", everyBranch}, {"branches", everyBranch}, {"mirror", "+refs/*:refs/*"}, {"tags", "refs/tags/*:refs/tags/*"},
	} {
		if g.Has(all[0]) {
			specs = append(specs, all[1])
		}
	}
	if specs == nil {
		return []string{""}
	}
	return specs
}

// pushedHere moves a ref in a repository of this machine, which may be the own
// one.
func (g *gitCall) pushedHere(path, spec string) {
	from, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !ok {
		to = from
	}
	g.moves(heads, cmp.Or(to, mark.Any), from).Dir = argtext.JoinDir(g.dir, path)
}

// clone makes a new repository from another.
func (g *gitCall) clone() {
	from, to := g.nth(0), g.nth(1)
	if from == "" {
		return
	}
	if a := g.address(commands.Read, from, "operand 1"); a.far {
		g.act(commands.GitFetches, from, "")
	}
	g.path(commands.Write, cmp.Or(to, mark.Atom), "operand 2")
}

// remote changes which repositories this one knows. A path among them is
// where later commands go, unseen.
func (g *gitCall) remote() {
	sub, rest := g.nth(0), g.rest()
	switch sub {
	case "show":
		for _, r := range rest {
			if onlyPath(r) {
				g.address(commands.Read, r, "remote show")
			}
		}
		return
	case "", "get-url":
		return
	case "update":
		g.act(commands.GitFetches, strings.Join(rest, " "), "")
		return
	case "set-head":
		g.act(commands.GitMovesRef, "refs/remotes/"+g.nth(1)+"/HEAD", g.nth(2))
	case "add", "set-url":
		for _, url := range rest[min(1, len(rest)):] {
			g.address(commands.Enter, url, "remote "+sub)
		}
		if g.Has("f", "fetch") {
			g.act(commands.GitFetches, g.nth(2), "")
		}
	}
	g.shares("the remotes")
}

// submodule changes repositories inside of this one, and what it knows of them.
func (g *gitCall) submodule() {
	switch g.nth(0) {
	case "", "status", "summary":
	case "foreach":
		g.foreach()
	case "add":
		g.address(commands.Read, g.nth(1), "submodule add")
		if p := g.nth(2); p != "" {
			g.path(commands.Write, p, "submodule add")
		}
		g.shares("the submodules")
	case "set-url":
		g.address(commands.Enter, g.nth(2), "submodule set-url")
		g.shares("the submodules")
	default:
		g.pathspecs(commands.Write, g.rest())
		g.shares("the submodules")
	}
}

// foreach runs a command in every submodule: code when it is one word.
func (g *gitCall) foreach() {
	args := g.args
	for len(args) > 0 && (args[0] == "foreach" || strings.HasPrefix(args[0], "-")) {
		args = args[1:]
	}
	r := commands.Run{Dir: argtext.JoinDir(g.dir, mark.Inside), Why: "submodule foreach"}
	switch len(args) {
	case 0:
		return
	case 1:
		r.Code = args[0]
	default:
		r.Args = args
	}
	g.use.Runs = append(g.use.Runs, r)
	if !readsOnly(args) {
		g.shares("the submodules")
	}
}

// subtree keeps another repository's history in a directory of this one.
func (g *gitCall) subtree() {
	switch g.nth(0) {
	case "add", "pull", "merge":
		g.act(commands.GitGrows, "", g.nth(len(g.Operands)-1))
		if len(g.Operands) > 2 {
			g.act(commands.GitFetches, g.nth(1), "")
			g.address(commands.Read, g.nth(1), "operand")
		}
	case "push":
		g.act(commands.GitPushes, g.nth(1), g.nth(2))
		g.address(commands.Write, g.nth(1), "operand")
	case "split":
		if b := g.Text("b", "branch"); b != "" {
			g.moves(heads, b, "HEAD")
		}
	}
}

// readsOnly reports whether a command for every submodule is one of git that
// changes nothing.
func readsOnly(args []string) bool {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) == 0 {
		return true
	}
	if len(words) < 2 || words[0] != "git" || strings.ContainsAny(strings.Join(words, ""), ";&|`$<>") {
		return words[0] == "pwd" || words[0] == "echo" || words[0] == "ls"
	}
	return slices.Contains([]string{"status", "log", "diff", "show", "rev-parse", "describe", "ls-files", "grep", "blame"}, words[1])
}
