package git

import (
	"cmp"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// acts does what the subcommand does with its operands.
func (g *gitCall) acts() {
	switch g.Rows[0].Operands {
	case "revs":
		g.revisions(g.before())
		g.pathspecs(commands.Read, g.after())
	case "read":
		g.pathspecs(commands.Read, g.Operands)
	case "write":
		g.pathspecs(commands.Write, g.Operands)
	case "files":
		g.each("read", g.Operands)
	case "loose":
		g.each("loose", g.Operands)
	}
	_ = g.branches() || g.exchanges() || g.keeps() || g.executes() || g.files()
}

// branches does what the subcommands do that move refs.
func (g *gitCall) branches() bool {
	switch g.name {
	case "checkout":
		g.checkout()
	case "switch":
		g.switches()
	case "branch":
		g.branch()
	case "tag":
		g.tag()
	case "update-ref":
		g.updateRef()
	case "symbolic-ref":
		g.symbolicRef()
	case "commit", "citool", "quiltimport":
		g.act(commands.GitGrows, "", "")
	case "am":
		g.act(commands.GitGrows, "", "")
		g.apply()
	case "merge", "cherry-pick", "revert":
		g.grows(g.Operands)
	case "rebase":
		g.rebase()
	case "reset":
		g.reset()
	case "notes":
		g.notes()
	case "replace":
		if len(g.Operands) > 0 && !g.Has("l", "list") || g.Has("convert-graft-file") {
			g.act(commands.GitMovesRef, "refs/replace/"+g.nth(0), g.nth(1))
		}
	case "bisect":
		g.bisect()
	case "fast-import":
		g.act(commands.GitMovesRef, mark.Any, "") // its input names the refs
	default:
		return false
	}
	return true
}

// exchanges does what the subcommands do that meet other repositories.
func (g *gitCall) exchanges() bool {
	switch g.name {
	case "fetch", "fetch-pack":
		g.fetch()
	case "pull":
		g.fetch()
		g.grows(g.rest())
	case "push", "send-pack":
		g.push()
	case "ls-remote":
		if len(g.Operands) > 0 {
			g.address(commands.Read, g.nth(0), "operand")
		}
	case "clone":
		g.clone()
	case "init", "init-db":
		g.path(commands.Write, pathOrHere(g.nth(0)), "operand")
	case "remote":
		g.remote()
	case "submodule":
		g.submodule()
	case "subtree":
		g.subtree()
	case "upload-pack", "upload-archive":
		g.value("read", g.nth(0), "operand")
	case "receive-pack":
		g.value("write", g.nth(0), "operand")
	case "daemon":
		g.each("enter", g.Operands)
	case "secrets":
		if g.Has("install", "register-aws", "add", "add-provider") {
			g.shares("the hooks")
		}
	case "flow":
		if v := g.nth(0); v != "" && v != "version" && v != "help" {
			g.shares("the configuration")
		}
	default:
		return false
	}
	return true
}

// keeps does what the subcommands do that change what worktrees share, or the
// configuration.
func (g *gitCall) keeps() bool {
	switch g.name {
	case "config":
		g.configSubcommand()
	case "stash":
		g.stash()
	case "worktree":
		g.worktree()
	case "gc", "prune", "repack", "prune-packed", "update-server-info", "pack-redundant", "backfill", "unpack-objects":
		g.shares("the object store")
	case "pack-refs":
		g.shares("the refs")
	case "maintenance":
		g.maintenance()
	case "commit-graph", "multi-pack-index":
		if g.nth(0) != "verify" {
			g.shares("the object store")
		}
	case "reflog":
		if sub := g.nth(0); sub == "expire" || sub == "delete" || sub == "drop" {
			g.shares("the reflogs")
		} else {
			g.revisions(g.before())
		}
	case "refs":
		if g.nth(0) == "migrate" {
			g.shares("the refs")
		}
	case "rerere":
		if sub := g.nth(0); sub == "clear" || sub == "forget" || sub == "gc" {
			g.shares("the recorded resolutions")
		}
	case "sparse-checkout":
		if sub := g.nth(0); sub != "list" && sub != "" && sub != "check-rules" {
			g.act(commands.GitConfigures, "core.sparseCheckout", sub)
		}
	case "lfs":
		g.lfs()
	default:
		return false
	}
	return true
}

// grows adds commits to the current branch; from is where they come from.
func (g *gitCall) grows(from []string) {
	if len(from) == 0 {
		g.act(commands.GitGrows, "", "")
	}
	for _, f := range from {
		g.act(commands.GitGrows, "", f)
	}
}

// moves moves a ref below a directory of refs.
func (g *gitCall) moves(below, name, value string) *commands.GitAct {
	return g.act(commands.GitMovesRef, fullRef(below, name), value)
}

const (
	heads = "refs/heads/"
	tags  = "refs/tags/"
)

// rebase puts the current branch, or the one that is named, on another base.
func (g *gitCall) rebase() {
	for _, o := range g.Options {
		if o.Is("exec") && o.Has {
			g.use.Runs = append(g.use.Runs, commands.Run{Code: gitAtTop + o.Value, Dir: g.dir, Later: true, Why: o.At})
		}
	}
	base, branch := g.nth(0), g.nth(1)
	if g.Has("root") {
		base, branch = "", g.nth(0)
	}
	if branch != "" {
		g.act(commands.GitSwitches, branch, "").Maybe = true
	}
	g.act(commands.GitGrows, "", base)
	if g.Has("update-refs") {
		g.act(commands.GitMovesRef, heads+mark.Any, "")
	}
}

// reset moves the current branch, unless it is given paths.
func (g *gitCall) reset() {
	before := g.before()
	switch {
	case g.Tail >= 0 && len(g.after()) > 0:
		g.pathspecs(commands.Read, g.after())
	case len(before) > 1:
		g.revisions(before)
	case len(before) == 1 && onlyPath(before[0]):
		g.pathspecs(commands.Read, before)
	default:
		g.grows(before)
		g.revisions(before)
	}
}

// notes adds, changes or removes notes.
func (g *gitCall) notes() {
	switch g.nth(0) {
	case "", "list", "show", "get-ref":
		return
	}
	ref := g.Text("ref")
	ref = cmp.Or(ref, "commits")
	if !strings.HasPrefix(ref, "refs/") {
		ref = "refs/notes/" + strings.TrimPrefix(ref, "notes/")
	}
	g.act(commands.GitMovesRef, ref, g.nth(1))
}

// stash keeps changes where all worktrees see them.
func (g *gitCall) stash() {
	switch g.nth(0) {
	case "list", "show", "create":
		return
	case "branch":
		g.moves(heads, g.nth(1), g.nth(2)).New = true
		g.act(commands.GitSwitches, g.nth(1), "").New = true
	case "push":
		g.pathspecs(commands.Write, g.rest())
	}
	g.shares("the stash")
}

// worktree makes, moves and removes other working trees.
func (g *gitCall) worktree() {
	sub, rest := g.nth(0), g.rest()
	switch sub {
	case "list", "":
		return
	case "add":
		g.worktreeAdd(rest)
	default:
		for _, p := range rest {
			g.path(commands.Write, p, "worktree "+sub)
		}
	}
	g.shares("the worktrees")
}

func (g *gitCall) worktreeAdd(rest []string) {
	if len(rest) == 0 {
		return
	}
	g.path(commands.Write, rest[0], "worktree add")
	start := ""
	if len(rest) > 1 {
		start = rest[1]
	}
	switch {
	case g.Has("b"):
		g.moves(heads, g.Text("b"), start).New = true
	case g.Has("B"):
		g.moves(heads, g.Text("B"), start)
	}
}

func (g *gitCall) maintenance() {
	switch g.nth(0) {
	case "register", "unregister", "start", "stop":
		g.path(commands.Write, g.userConfig(), "maintenance "+g.nth(0))
	}
	g.shares("the object store")
}

func (g *gitCall) lfs() {
	switch g.nth(0) {
	case "install", "uninstall":
		if !g.Has("local", "worktree", "skip-repo") {
			g.path(commands.Write, g.userConfig(), "lfs "+g.nth(0))
		}
		g.shares("the hooks and configuration")
	case "track", "untrack":
		if len(g.Operands) > 1 {
			g.path(commands.Write, ".gitattributes", "lfs "+g.nth(0))
		}
	case "prune", "migrate", "dedup":
		g.shares("the object store")
	case "push":
		g.act(commands.GitPushes, g.nth(1), "")
		g.address(commands.Write, g.nth(1), "operand")
	case "fetch", "pull":
		g.act(commands.GitFetches, g.nth(1), "")
		g.address(commands.Read, g.nth(1), "operand")
	case "clone":
		g.Operands = g.Operands[1:]
		g.clone()
	default:
		g.each("loose", g.rest())
	}
}
