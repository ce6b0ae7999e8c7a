package git

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// prints says what the command prints, where that is of use to a script.
func (g *gitCall) prints() {
	switch g.name {
	case "rev-parse":
		g.printsParsed()
	case "branch":
		if g.Has("show-current") {
			g.tells(commands.TopBranch)
		} else if strings.Contains(g.Text("format"), "worktreepath") {
			g.use.Out = mark.Outside
		}
	case "for-each-ref":
		if strings.Contains(g.Text("format"), "worktreepath") {
			g.use.Out = mark.Outside
		}
	case "symbolic-ref":
		if g.Has("short") && g.nth(0) == "HEAD" && len(g.Operands) == 1 {
			g.tells(commands.TopBranch)
		}
	case "worktree":
		if g.nth(0) == "list" {
			g.use.Out = mark.Outside
		}
	case "--exec-path", "--html-path", "--man-path", "--info-path":
		g.use.Out = mark.System
	default:
		if out := g.printsOut(); out != "" {
			g.use.Out = out
		}
	}
}

// tells says that the guard knows what is printed.
func (g *gitCall) tells(what string) {
	if g.gitDir == "" && g.tree == "" {
		g.use.Top, g.use.TopDir = what, g.dir
	}
}

// printsOut is what a command prints if that is a kind of word or path; "" is
// anything else.
func (g *gitCall) printsOut() string {
	switch g.name {
	case "describe", "write-tree", "commit-tree", "hash-object", "merge-base", "mktree", "mktag", "patch-id", "unpack-file":
		return mark.Atom
	case "ls-files":
		return argtext.When(g.Has("s", "stage", "u", "unmerged"), fourColumns) + argtext.When(!g.Has("s", "stage", "u", "unmerged"), mark.Inside)
	case "check-ignore":
		return argtext.When(!g.Has("v", "verbose"), mark.Inside)
	case "ls-tree":
		return g.printsTree()
	case "grep":
		return g.printsMatches()
	case "status":
		return g.printsStatus()
	case "remote":
		return argtext.When(len(g.Operands) == 0 && !g.Has("v", "verbose"), mark.Atom)
	case "stash":
		return argtext.When(g.nth(0) == "create", mark.Atom)
	case "diff", "diff-files", "diff-index", "diff-tree":
		return argtext.When(!g.Has("no-index"), g.printsNames())
	case "rev-list":
		return argtext.When(!g.Has("objects", "format", "pretty", "header", "oneline", "use-bitmap-index") || g.Has("count"), mark.Atom)
	case "log", "show", "whatchanged", "reflog":
		return g.printsLog()
	}
	return ""
}

func (g *gitCall) namesOnly() bool { return g.Has("name-only", "name-status", "numstat") }

// fourColumns is a line of a tree or of the index: a mode, a type or a hash, a
// hash or a number, and behind a tab the name.
const fourColumns = mark.Atom + " " + mark.Atom + " " + mark.Atom + "\t" + mark.Inside

func (g *gitCall) printsTree() string {
	switch {
	case g.Has("format", "z", "object-only", "l", "long"):
		return ""
	case g.Has("name-only", "name-status"):
		return mark.Inside
	}
	return fourColumns
}

// printsMatches is what grep prints: names, or lines that begin with them.
func (g *gitCall) printsMatches() string {
	numbers := 0
	if g.Has("n", "line-number") {
		numbers++
	}
	switch {
	case g.Has("l", "files-with-matches", "name-only", "L", "files-without-match"):
		return mark.Inside
	case g.Has("q", "quiet", "O", "open-files-in-pager", "h", "A", "B", "C", "after-context", "before-context", "context", "heading", "break", "z",
		"null", "W", "function-context", "p", "show-function", "no-index", "column"):
		return ""
	case g.Has("c", "count"):
		return argtext.Found(mark.Inside, 0, mark.Atom)
	}
	return argtext.Found(mark.Inside, numbers, mark.Any)
}

// printsStatus is what status prints for scripts: two letters and a name, or two
// names for what was renamed.
func (g *gitCall) printsStatus() string {
	o, _ := g.Given("porcelain")
	switch {
	case !g.Has("s", "short", "porcelain", "z"):
		return ""
	case o.Value == "v2" || o.Value == "2":
		return strings.Repeat(mark.Atom+" ", 8) + mark.Inside + "\n" + mark.Atom + " " + mark.Inside + "\n"
	case g.Has("z"):
		return mark.Atom + mark.Atom + " " + mark.Inside + "\x00"
	}
	return mark.Atom + mark.Atom + " " + mark.Inside + "\n"
}

// printsNames is what the lists of changed files have before the names.
func (g *gitCall) printsNames() string {
	switch {
	case g.Has("p", "patch", "u", "raw", "shortstat", "summary", "dirstat", "graph", "line-prefix"), g.Has("z") && !g.Has("name-only"):
		return ""
	case g.Has("numstat"):
		return mark.Atom + "\t" + mark.Atom + "\t" + mark.Inside + "\n"
	case g.Has("name-status"):
		return mark.Atom + "\t" + mark.Inside + "\n"
	case g.Has("name-only"):
		return mark.Inside
	}
	return ""
}

// printsLog is what a list of commits prints: names of files when the format is
// empty, hashes and dates when it has nothing else.
func (g *gitCall) printsLog() string {
	format, ok := g.Given("format", "pretty")
	if !ok || !format.Has {
		return argtext.When(g.Has("oneline") && g.name != "show" && !g.diffs() && !g.namesOnly(), mark.Atom+" "+mark.Any+"\n")
	}
	text := strings.TrimPrefix(strings.TrimPrefix(format.Value, "t"), "format:")
	text = strings.TrimSpace(text)
	switch {
	case g.namesOnly() && text == "":
		return g.printsNames()
	case g.namesOnly() && onlyHashes(text):
		return argtext.When(g.printsNames() != "", hashLine(text)+"\n"+g.printsNames())
	case g.diffs(), g.namesOnly():
		return ""
	case g.name == "show" && !g.Has("s", "no-patch", "q", "quiet"):
		return ""
	}
	return argtext.When(onlyHashes(text), hashLine(text))
}

func (g *gitCall) diffs() bool {
	return g.Has("p", "patch", "stat", "u", "shortstat", "raw", "graph", "c", "cc", "summary", "dirstat")
}

// hashLine is a line of a format that is only hashes and times.
func hashLine(format string) string {
	return strings.TrimSuffix(strings.Repeat(mark.Atom+" ", len(strings.Fields(format))), " ")
}

// onlyHashes reports whether a format prints hashes and times, with blanks
// between them.
func onlyHashes(format string) bool {
	if format == "" {
		return false
	}
	for _, f := range strings.Fields(format) {
		switch f {
		case "%H", "%h", "%T", "%t", "%P", "%p", "%at", "%ct", "%as", "%cs":
		default:
			return false
		}
	}
	return true
}

// printsParsed is what rev-parse prints: each of its questions on a line.
func (g *gitCall) printsParsed() {
	var asked string
	count := 0
	for _, o := range g.Options {
		switch name := strings.TrimLeft(o.First(), "-"); name {
		case "verify", "q", "quiet", "short", "abbrev-ref", "path-format", "revs-only", "end-of-options":
		default:
			asked = name
			count++
		}
	}
	switch {
	case count == 0 && g.Tail < 0:
		g.printsRevision()
	case count == 1 && len(g.Operands) == 0:
		g.printsPlace(asked)
	}
}

// printsPlace is the answer to one question of rev-parse.
func (g *gitCall) printsPlace(asked string) {
	switch asked {
	case "show-toplevel":
		g.tells(commands.TopWorktree)
	case "git-dir", "absolute-git-dir":
		g.tells(commands.TopGitDir)
	case "git-common-dir":
		g.tells(commands.TopCommon)
	case "show-cdup":
		g.tells(commands.TopUp)
	case "show-prefix":
		g.use.Out = mark.Inside
	}
}

// printsRevision is the hash of a revision, or the name of the branch. What is
// no revision is printed as it is.
func (g *gitCall) printsRevision() {
	for _, o := range g.Operands {
		if onlyPath(o) || mark.Has(o, mark.Any) && !g.Has("verify") {
			return
		}
	}
	switch {
	case g.Has("abbrev-ref") && len(g.Operands) == 1 && (g.nth(0) == "HEAD" || g.nth(0) == "@"):
		g.tells(commands.TopBranch)
	case g.Has("abbrev-ref"):
	case len(g.Operands) > 0:
		g.use.Out = mark.Atom
	}
}
