package known

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
)

// changes are what programs change that is neither in the tree nor named on their
// command line.
//
//go:embed changes.txt
var changes string

const (
	changesHooks   = "it installs hooks, which every worktree of the repository shares"
	changesSystem  = "it changes the system, not the worktree"
	changesHome    = "it changes settings in the home directory"
	installsGlobal = "it installs for the whole machine"
)

// addChanges adds why a person is asked about what a program changes unseen.
func addChanges(u *commands.Use, called string, args []string) {
	name := argtext.CommandName(called)
	other := name
	if r := table.Lookup(name); r != nil {
		other = r.Name
	}
	for program, row := range table.TableRows(changes) {
		if words := strings.Fields(row); (program == name || program == other) && applies(words, args[1:]) {
			u.Findings = append(u.Findings, commands.Finding{Weight: commands.Ask, Reason: cmp.Or(whyChanged[words[0]], changesSystem)})
			return
		}
	}
	if why := installation(other, args); why != "" {
		u.Findings = append(u.Findings, commands.Finding{Weight: commands.Ask, Reason: why})
	}
}

// whyChanged is why a person is asked, by the first word of a row.
var whyChanged = map[string]string{"hooks": changesHooks, "home": changesHome, "global": installsGlobal, "system": changesSystem}

// applies reports whether arguments are those of a row: reason, verbs, second
// words and the options that make it harmless.
func applies(row, args []string) bool {
	if len(row) != 4 {
		return false
	}
	holds := func(list, word string) bool { return slices.Contains(strings.Split(list, ","), word) }
	for _, a := range args {
		option, _, _ := strings.Cut(a, "=")
		if a == "--help" || a == "-h" || a == "--version" || option != "-" && holds(row[3], option) {
			return false
		}
	}
	rest := args
	if !strings.HasPrefix(row[1], "-") {
		rest = plainWords(args)
	}
	if asks, ok := strings.CutPrefix(row[1], "!"); ok {
		return len(rest) > 0 && !holds(asks, rest[0])
	}
	return row[1] == "-" || len(rest) > 0 && holds(row[1], rest[0]) && (row[2] == "-" || len(rest) > 1 && holds(row[2], rest[1]))
}

// plainWords are the arguments that are no options.
func plainWords(args []string) []string {
	var list []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			list = append(list, a)
		}
		if len(list) == 3 {
			break
		}
	}
	return list
}

// installation is what fits no row.
func installation(name string, args []string) string {
	rest := plainWords(args[1:])
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	switch {
	case name == "go" && nthOf(rest, 0) == "install" && strings.Contains(nthOf(rest, 1), "@"):
		return installsGlobal
	case name == "bun" && has("-g", "--global"):
		return installsGlobal
	case name == "ninja" && has("install", "uninstall"):
		return installsGlobal
	case name == "hostname" && len(rest) > 0, name == "service" && len(rest) > 1 && rest[1] != "status":
		return changesSystem
	case name == "sysctl" && (has("-w", "-p", "--load", "--system") || strings.Contains(nthOf(rest, 0), "=")):
		return changesSystem
	case argtext.CommandName(args[0]) == "pacman" && strings.ContainsAny(nthOf(args, 1)[:min(2, len(nthOf(args, 1)))], "SRU"):
		return installsGlobal
	case name == "husky" && len(args) == 1:
		return changesHooks
	case name == "gpg" && !has("--homedir") && has("--import", "--gen-key", "--full-gen-key", "--generate-key", "--full-generate-key",
		"--quick-gen-key", "--quick-generate-key", "--delete-key", "--delete-keys", "--delete-secret-keys", "--edit-key", "--recv-keys",
		"--receive-keys", "--sign-key", "--import-ownertrust"):
		return changesHome
	case argtext.Unversioned(name) == "python" || name == "python":
		if argtext.LastName(nthOf(rest, 0)) == "setup.py" && has("install", "develop") && !has("--prefix", "--root", "--home", "--help") {
			return installsGlobal
		}
	}
	return ""
}
