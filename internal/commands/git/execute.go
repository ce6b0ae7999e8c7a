package git

import (
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// executes does what the subcommands do that run something else, or that no
// path tells about.
func (g *gitCall) executes() bool {
	switch g.name {
	case "filter-branch", "history", "replay":
		g.shares("the history")
	case "filter-repo":
		if !g.Has("analyze", "dry-run") {
			g.shares("the history")
		}
	case "grep":
		g.grep()
	case "merge-index":
		if len(g.Operands) > 0 {
			g.use.Runs = append(g.use.Runs, commands.Run{Args: []string{g.nth(0), mark.Inside}, Dir: g.dir, Why: "merge-index"})
		}
	case "for-each-repo":
		g.ask("git for-each-repo works on every repository that a setting lists", "run the command in this worktree")
	case "credential", "credential-store", "credential-cache":
		g.ask("git "+g.name+" hands out or changes stored passwords", "let git ask for credentials itself")
	case "send-email", "imap-send":
		g.ask("git "+g.name+" sends mail", "leave the patches as files: git format-patch")
	case "svn", "p4", "annex", "archimport", "cvsimport", "cvsexportcommit", "cvsserver", "scalar", "remote-ext", "remote-fd", "http-push", "submodule--helper":
		g.ask("git "+g.name+" works on other repositories", "use git itself in this worktree")
	default:
		return false
	}
	return true
}

// grep reads files, and may open them with a program.
func (g *gitCall) grep() {
	before := g.before()
	if !g.Has("e", "f") && len(before) > 0 {
		before = before[1:]
	}
	if g.Has("no-index") {
		g.pathspecs(commands.Read, before)
	} else {
		g.revisions(before)
	}
	g.pathspecs(commands.Read, g.after())
	if o, ok := g.Given("O"); ok && o.Has {
		g.use.Runs = append(g.use.Runs, commands.Run{Code: o.Value + ` "$@"`, Params: []string{"git", mark.Inside}, Dir: g.dir, Why: o.At})
	}
}

// files does what the subcommands do whose operands are files in an order of
// their own.
func (g *gitCall) files() bool {
	switch g.name {
	case "diff", "difftool":
		g.diff()
	case "apply":
		g.apply()
	case "clean":
		g.clean()
	case "format-patch":
		if !g.Has("o", "output-directory", "stdout", "output") {
			g.path(commands.Write, mark.Atom+".patch", "format-patch")
		}
	case "bundle":
		g.bundle()
	case "check-attr":
		g.pathspecs(commands.Read, g.after())
		g.each("loose", g.before())
	case "hash-object":
		g.stdinPaths()
	case "interpret-trailers":
		role := "read"
		if g.Has("in-place") {
			role = "write"
		}
		g.each(role, g.Operands)
	case "mailinfo":
		g.each("write", g.Operands)
	case "merge-file":
		g.mergeFile()
	case "pack-objects":
		if o := g.nth(0); o != "" {
			g.path(commands.Write, o+mark.Atom, "operand")
		}
	case "index-pack":
		if o := g.nth(0); o != "" && !g.Has("o") {
			g.path(commands.Write, o, "operand")
		}
	case "bugreport", "diagnose":
		if !g.Has("o") {
			g.path(commands.Write, "git-"+g.name+"-"+mark.Atom, g.name)
		}
	case "request-pull":
		g.address(commands.Read, g.nth(1), "operand")
	default:
		return false
	}
	return true
}

// diff compares any two files when both are paths, with --no-index or because
// one of them is outside. An operand that is not known may be such a path.
func (g *gitCall) diff() {
	files := g.Has("no-index")
	for _, o := range g.before() {
		if mark.Has(o, mark.Any) && maybePath(o) || files && !maybePath(o) {
			g.value("read", o, "operand")
		}
	}
}

// apply changes the files that a patch names, or some below its directory where
// these are not known. Git keeps it inside of the tree unless it is told not to.
func (g *gitCall) apply() {
	if g.Has("check", "stat", "numstat", "summary", "cached") && !g.Has("apply") {
		return
	}
	text, known := g.call.Stdin, g.call.Fed && len(g.Operands) == 0
	if len(g.Operands) == 1 {
		text, known = g.call.FileText(argtext.JoinDir(g.dir, g.nth(0)))
	}
	known = known && !mark.Has(text, mark.Any)
	unsafe := g.Has("unsafe-paths")
	if unsafe && !known {
		g.ask("with --unsafe-paths, a patch can write anywhere", "git apply without --unsafe-paths")
	}
	strip := 1
	if n, err := strconv.Atoi(g.Text("p")); err == nil {
		strip = n
	}
	for _, name := range argtext.PatchedNames(text, strip) {
		if unsafe || !argtext.Leaves(name) {
			g.path(commands.Write, argtext.JoinDir(argtext.JoinDir(g.tree, g.Text("directory")), name), "patch")
		}
	}
	if !known && !g.Has("directory") {
		g.path(commands.Write, pathOrHere(g.tree), "patch")
	}
}

// clean removes files that git does not know, below the current directory
// unless paths are given.
func (g *gitCall) clean() {
	role := commands.Write
	if g.Has("n", "dry-run") {
		role = commands.Read
	}
	if len(g.Operands) == 0 {
		g.path(role, ".", "clean")
	}
	g.pathspecs(role, g.Operands)
}

func (g *gitCall) bundle() {
	role := "read"
	if g.nth(0) == "create" {
		role = "write"
	}
	g.value(role, g.nth(1), "operand")
}

// stdinPaths reads the files that standard input lists.
func (g *gitCall) stdinPaths() {
	if !g.Has("stdin-paths") {
		return
	}
	for line := range strings.Lines(g.call.Stdin) {
		g.value("read", strings.TrimRight(line, "\n"), "--stdin-paths")
	}
}

// mergeFile changes the first of three files.
func (g *gitCall) mergeFile() {
	for i, o := range g.Operands {
		if i == 0 && !g.Has("p", "stdout") {
			g.value("write", o, "operand")
			continue
		}
		g.value("read", o, "operand")
	}
}
