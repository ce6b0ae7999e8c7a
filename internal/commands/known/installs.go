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
		known := program == name || program == other || program == argtext.Unversioned(other)
		if words := strings.Fields(row); known && applies(words, args[1:]) {
			u.Findings = append(u.Findings, commands.Finding{Weight: commands.Ask, Reason: cmp.Or(whyChanged[words[0]], changesSystem)})
			return
		}
	}
}

// whyChanged is why a person is asked, by the first word of a row.
var whyChanged = map[string]string{"hooks": commands.ChangesHooks, "user": commands.InstallsForUser, "home": changesHome, "global": installsGlobal}

// applies reports whether arguments are those of a row: reason, verbs, second
// words and the options that make it harmless.
func applies(row, args []string) bool {
	if len(row) != 4 {
		return false
	}
	for _, a := range args {
		option, _, _ := strings.Cut(a, "=")
		if a == "--help" || a == "-h" || a == "--version" || option != "-" && listed(row[3], option) {
			return false
		}
	}
	rest := args
	if !strings.HasPrefix(row[1], "-") {
		rest = plainWords(args)
	}
	return hasWord(row[1], rest, args) && hasWord(row[2], rest[min(1, len(rest)):], args)
}

// hasWord reports whether the first word is in a list, or another one after !, or after ?
// any argument.
func hasWord(list string, words, args []string) bool {
	if anywhere, ok := strings.CutPrefix(list, "?"); ok {
		return slices.ContainsFunc(args, func(a string) bool { return listed(anywhere, a) })
	}
	others, not := strings.CutPrefix(list, "!")
	return list == "-" || list == "." && len(args) == 0 || len(words) > 0 && listed(others, words[0]) != not
}

// listed reports whether a word is in a list. A star in the list stands for any text.
func listed(list, word string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		head, tail, star := strings.Cut(entry, "*")
		if entry == word || star && strings.HasPrefix(word, head) && strings.Contains(word, tail) {
			return true
		}
	}
	return false
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
