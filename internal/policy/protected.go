package policy

import (
	"slices"
	"strings"
	"sync"

	"cordon/internal/agent/facts"
)

// ProtectedName is a row of the built-in table: a file or directory that may
// not land, at any depth and in any case, unless a write root names it.
type ProtectedName struct {
	Group  string // what it belongs to
	Name   string // one or more components, which may be globs
	Reason string // continues a sentence that begins with the name
	Never  bool   // not even a root that names it lifts this row
}

const (
	groupGit      = "git"
	groupCordon   = "cordon"
	groupAgent    = "agent clients"
	groupShell    = "environment managers"
	groupEditor   = "editors"
	groupPackages = "package managers"
	groupHooks    = "hook managers"

	isGitState      = "is git's own state"
	entersDir       = "runs on the operator's machine when a shell enters the directory"
	startsAgent     = "configures commands an agent client runs on the operator's machine"
	believedByTools = "decides which programs and servers a package manager or an editor uses on the operator's machine"
	opensEditor     = "runs on the operator's machine when an editor opens the directory"
	runsOnGit       = "runs on the operator's machine when git does something"
	governsCordon   = "decides what cordon allows"
)

// protectedTable is what runs, or decides what runs, on the operator's machine
// without being asked to: opening a directory or using git is enough. Files
// that run only when someone builds or tests the project are its code, and are
// not here.
//
// Rows of the clients that cordon can start come from package facts.
var protectedTable = []ProtectedName{
	{groupGit, ".git", isGitState, true},
	{groupGit, "git~1", isGitState + " under its short Windows name", true},
	{groupGit, ".gitmodules", "tells git what to clone and where to", false},
	{groupGit, ".hg", "is another system's own state, and names hooks that run", false},
	{groupGit, ".jj", "is another system's own state, and names commands that run", false},
	{groupGit, ".sl", "is another system's own state, and names hooks that run", false},
	{groupGit, ".lfsconfig", "tells git-lfs where to send and fetch content", false},
	{groupGit, ".mailmap", "decides under whose name git shows commits on the operator's machine", false},
	{groupGit, ".gitreview", "tells git-review where to send the operator's commits", false},
	{groupGit, ".arcconfig", "names code that Arcanist runs and the server it sends changes to", false},

	{groupCordon, "cordon.yaml", governsCordon, false},
	{groupCordon, ".cordon", governsCordon, false},
	{groupCordon, ".worktreeinclude", "decides which of the operator's files a worker is given", false},

	{groupAgent, ".cursor", startsAgent, false},
	{groupAgent, ".windsurf", startsAgent, false},
	{groupAgent, ".aider.conf.yml", startsAgent, false},
	{groupAgent, ".mcp.json", startsAgent, false},
	{groupAgent, ".vscode/mcp.json", startsAgent, false},
	{groupAgent, ".agents", "holds skills that agent clients obey on the operator's machine", false},
	{groupAgent, ".amazonq", startsAgent, false},
	{groupAgent, ".amp", startsAgent, false},
	{groupAgent, ".antigravity", startsAgent, false},
	{groupAgent, ".augment", startsAgent, false},
	{groupAgent, ".cline", startsAgent, false},
	{groupAgent, ".clinerules", startsAgent, false},
	{groupAgent, ".codebuddy", startsAgent, false},
	{groupAgent, ".continue", startsAgent, false},
	{groupAgent, ".crush", startsAgent, false},
	{groupAgent, ".crush.json", startsAgent, false},
	{groupAgent, "crush.json", startsAgent, false},
	{groupAgent, ".factory", startsAgent, false},
	{groupAgent, ".goose", startsAgent, false},
	{groupAgent, ".iflow", startsAgent, false},
	{groupAgent, ".junie", startsAgent, false},
	{groupAgent, ".kilocode", startsAgent, false},
	{groupAgent, ".kimi", startsAgent, false},
	{groupAgent, ".kiro", startsAgent, false},
	{groupAgent, ".openhands", startsAgent, false},
	{groupAgent, ".roo", startsAgent, false},
	{groupAgent, ".roomodes", startsAgent, false},
	{groupAgent, ".rovodev", startsAgent, false},
	{groupAgent, ".serena", startsAgent, false},
	{groupAgent, ".tabnine", startsAgent, false},
	{groupAgent, ".trae", startsAgent, false},
	{groupAgent, ".zencoder", startsAgent, false},
	{groupAgent, ".aider.model.settings.yml", startsAgent, false},

	{groupShell, ".envrc", entersDir, false},
	{groupShell, "mise.toml", entersDir, false},
	{groupShell, "mise.*.toml", entersDir, false},
	{groupShell, ".mise.toml", entersDir, false},
	{groupShell, ".mise.*.toml", entersDir, false},
	{groupShell, ".mise", entersDir, false},
	{groupShell, "mise/config.toml", entersDir, false},
	{groupShell, ".config/mise", entersDir, false},
	{groupShell, ".config/mise.toml", entersDir, false},

	{groupPackages, ".cargo/config", believedByTools, false},
	{groupPackages, ".cargo/config.toml", believedByTools, false},
	{groupPackages, ".yarnrc", believedByTools, false},
	{groupPackages, ".yarnrc.yml", believedByTools, false},
	{groupPackages, ".npmrc", believedByTools, false},
	{groupPackages, ".pnpmfile.*", believedByTools, false},
	{groupPackages, ".bundle/config", believedByTools, false},

	{groupEditor, ".vscode/tasks.json", opensEditor, false},
	{groupEditor, ".vscode/settings.json", opensEditor, false},
	{groupEditor, ".vscode/launch.json", opensEditor, false},
	{groupEditor, "*.code-workspace", opensEditor, false},
	{groupEditor, ".idea", opensEditor, false},
	{groupEditor, ".zed", opensEditor, false},
	{groupEditor, ".helix", opensEditor, false},
	{groupEditor, ".devcontainer", opensEditor, false},
	{groupEditor, ".devcontainer.json", opensEditor, false},
	{groupEditor, ".dir-locals.el", opensEditor, false},
	{groupEditor, ".dir-locals-2.el", opensEditor, false},
	{groupEditor, ".exrc", opensEditor, false},
	{groupEditor, ".vimrc", opensEditor, false},
	{groupEditor, ".lvimrc", opensEditor, false},
	{groupEditor, ".nvimrc", opensEditor, false},
	{groupEditor, ".nvim.lua", opensEditor, false},

	{groupHooks, ".husky", runsOnGit, false},
	{groupHooks, ".huskyrc*", runsOnGit, false},
	{groupHooks, ".githooks", runsOnGit, false},
	{groupHooks, ".git-hooks", runsOnGit, false},
	{groupHooks, ".lefthook", runsOnGit, false},
	{groupHooks, ".lefthook-local", runsOnGit, false},
	{groupHooks, "lefthook.{yml,yaml,toml,json,jsonc}", runsOnGit, false},
	{groupHooks, ".lefthook.{yml,yaml,toml,json,jsonc}", runsOnGit, false},
	{groupHooks, "lefthook-local.{yml,yaml,toml,json,jsonc}", runsOnGit, false},
	{groupHooks, ".lefthook-local.{yml,yaml,toml,json,jsonc}", runsOnGit, false},
	{groupHooks, ".config/lefthook*", runsOnGit, false},
	{groupHooks, ".pre-commit-config.{yaml,yml}", runsOnGit, false},
	{groupHooks, "prek.toml", runsOnGit, false},
	{groupHooks, ".overcommit.yml", runsOnGit, false},
	{groupHooks, ".simple-git-hooks.*", runsOnGit, false},
	{groupHooks, "simple-git-hooks.{js,cjs,mjs,json}", runsOnGit, false},
	{groupHooks, ".lintstagedrc*", runsOnGit, false},
	{groupHooks, "lint-staged.config.*", runsOnGit, false},
	{groupHooks, "captainhook.json", runsOnGit, false},
}

// Protected returns the built-in table, with the rows of the clients that cordon
// can start before those of the others.
func Protected() []ProtectedName {
	var started []ProtectedName
	for _, c := range facts.All() {
		for _, name := range c.Protected {
			started = append(started, ProtectedName{Group: groupAgent, Name: name, Reason: startsAgent})
		}
	}
	others := slices.IndexFunc(protectedTable, func(row ProtectedName) bool { return row.Group == groupAgent })
	return slices.Concat(protectedTable[:others], started, protectedTable[others:])
}

// protectedRow is a row with its components compiled.
type protectedRow struct {
	ProtectedName
	parts []part
}

var protectedRows = sync.OnceValue(func() []protectedRow {
	var rows []protectedRow
	for _, name := range Protected() {
		row := protectedRow{ProtectedName: name}
		for glob := range strings.SplitSeq(name.Name, "/") {
			row.parts = append(row.parts, globPart(glob).widened())
		}
		rows = append(rows, row)
	}
	return rows
})

// protectedBy returns the first row that the path falls under and that no root
// covering the path names.
func (r Rules) protectedBy(names []spelling) (ProtectedName, bool) {
	for _, row := range protectedRows() {
		if row.occurs(names) && !r.lifted(row, names) {
			return row.ProtectedName, true
		}
	}
	return ProtectedName{}, false
}

// occurs reports whether the row's components follow each other in the path.
func (row protectedRow) occurs(names []spelling) bool {
	for i := range names {
		if startsWith(names[i:], row.parts) {
			return true
		}
	}
	return false
}

// lifted reports whether a root that covers the path names the row.
func (r Rules) lifted(row protectedRow, names []spelling) bool {
	if row.Never {
		return false
	}
	named := func(candidate root) bool { return candidate.names(row) && candidate.cover.covers(names) }
	return slices.ContainsFunc(r.writeRoots, named) || slices.ContainsFunc(r.scratch, named)
}

// names reports whether the row's components follow each other in the root as
// it is written. A glob names nothing, however much it covers, except the glob
// of the row itself.
func (w root) names(row protectedRow) bool {
	for i := range w.parts {
		if len(w.parts)-i >= len(row.parts) && namesAll(w.parts[i:], row.parts) {
			return true
		}
	}
	return false
}

func namesAll(written []string, parts []part) bool {
	for i, p := range parts {
		if written[i] != p.text && (isGlob(written[i]) || !p.matches(folding(false).spell(written[i : i+1])[0])) {
			return false
		}
	}
	return true
}

// protectedBelow returns the first row of which the path holds the beginning
// and not the end: whatever is linked there supplies the end.
func protectedBelow(names []spelling) (ProtectedName, bool) {
	for _, row := range protectedRows() {
		for n := 1; n < len(row.parts) && n <= len(names); n++ {
			if startsWith(names[len(names)-n:], row.parts[:n]) {
				return row.ProtectedName, true
			}
		}
	}
	return ProtectedName{}, false
}

// gitTexts are the files that git reads while it checks out, adds or shows others. Of a link it takes the
// target for the text (git 2.39, from the index), or the file that the target names (git 2.17).
var gitTexts = sync.OnceValue(func() map[string]part {
	texts := map[string]part{}
	for _, name := range []string{".gitattributes", ".gitignore", ".gitmodules", ".mailmap"} {
		texts[name] = globPart(name).widened()
	}
	return texts
})

// gitText reports whether a path has a name of these, in any spelling.
func gitText(names []spelling) (string, bool) {
	for name, text := range gitTexts() {
		if len(names) > 0 && text.matches(names[len(names)-1]) {
			return name, true
		}
	}
	return "", false
}
