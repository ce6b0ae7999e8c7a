package commands

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// executes does what the subcommands do that run something else, or that no
// path tells about.
func (g *gitCall) executes() bool {
	switch g.name {
	case "filter-branch", "history", "replay":
		g.shares("the history")
	case "filter-repo":
		if !g.has("analyze", "dry-run") {
			g.shares("the history")
		}
	case "grep":
		g.grep()
	case "merge-index":
		if len(g.operands) > 0 {
			g.use.Runs = append(g.use.Runs, Run{Args: []string{g.nth(0), mark.Inside}, Dir: g.dir, Why: "merge-index"})
		}
	case "for-each-repo":
		g.ask("git for-each-repo works on every repository a setting lists", "run the command in this worktree")
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
	if !g.has("e", "f") && len(before) > 0 {
		before = before[1:]
	}
	if g.has("no-index") {
		g.pathspecs(Read, before)
	} else {
		g.revisions(before)
	}
	g.pathspecs(Read, g.after())
	if o, ok := g.given("O"); ok && o.has {
		g.use.Runs = append(g.use.Runs, Run{Code: o.value + ` "$@"`, Params: []string{"git", mark.Inside}, Dir: g.dir, Why: o.at})
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
		if !g.has("o", "output-directory", "stdout", "output") {
			g.path(Write, mark.Atom+".patch", "format-patch")
		}
	case "bundle":
		g.bundle()
	case "check-attr":
		g.pathspecs(Read, g.after())
		g.each("loose", g.before())
	case "hash-object":
		g.stdinPaths()
	case "interpret-trailers":
		role := "read"
		if g.has("in-place") {
			role = "write"
		}
		g.each(role, g.operands)
	case "mailinfo":
		g.each("write", g.operands)
	case "merge-file":
		g.mergeFile()
	case "pack-objects":
		if o := g.nth(0); o != "" {
			g.path(Write, o+mark.Atom, "operand")
		}
	case "index-pack":
		if o := g.nth(0); o != "" && !g.has("o") {
			g.path(Write, o, "operand")
		}
	case "bugreport", "diagnose":
		if !g.has("o") {
			g.path(Write, "git-"+g.name+"-"+mark.Atom, g.name)
		}
	case "request-pull":
		g.address(Read, g.nth(1), "operand")
	default:
		return false
	}
	return true
}

// diff compares any two files when both are paths, with --no-index or because
// one of them is outside. An operand that is not known may be such a path.
func (g *gitCall) diff() {
	files := g.has("no-index")
	for _, o := range g.before() {
		if mark.Has(o, mark.Any) && maybePath(o) || files && !maybePath(o) {
			g.value("read", o, "operand")
		}
	}
}

// apply changes the files that a patch names, or some below its directory where
// these are not known. Git keeps it inside of the tree unless it is told not to.
func (g *gitCall) apply() {
	if g.has("check", "stat", "numstat", "summary", "cached") && !g.has("apply") {
		return
	}
	text, known := g.call.Stdin, g.call.Fed && len(g.operands) == 0
	if len(g.operands) == 1 {
		text, known = g.call.FileText(joinDir(g.dir, g.nth(0)))
	}
	known = known && !mark.Has(text, mark.Any)
	unsafe := g.has("unsafe-paths")
	if unsafe && !known {
		g.ask("with --unsafe-paths a patch writes wherever it says", "git apply without --unsafe-paths")
	}
	strip := 1
	if n, err := strconv.Atoi(g.text("p")); err == nil {
		strip = n
	}
	for _, name := range patchedNames(text, strip) {
		if unsafe || !leaves(name) {
			g.path(Write, joinDir(joinDir(g.tree, g.text("directory")), name), "patch")
		}
	}
	if !known && !g.has("directory") {
		g.path(Write, pathOrHere(g.tree), "patch")
	}
}

// clean removes files that git does not know, below the current directory
// unless paths are given.
func (g *gitCall) clean() {
	role := Write
	if g.has("n", "dry-run") {
		role = Read
	}
	if len(g.operands) == 0 {
		g.path(role, ".", "clean")
	}
	g.pathspecs(role, g.operands)
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
	if !g.has("stdin-paths") {
		return
	}
	for line := range strings.Lines(g.call.Stdin) {
		g.value("read", strings.TrimRight(line, "\n"), "--stdin-paths")
	}
}

// mergeFile changes the first of three files.
func (g *gitCall) mergeFile() {
	for i, o := range g.operands {
		if i == 0 && !g.has("p", "stdout") {
			g.value("write", o, "operand")
			continue
		}
		g.value("read", o, "operand")
	}
}
