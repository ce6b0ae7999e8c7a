// Package known says what is known of a call: it asks packages git, wrap and code,
// and does for every other command what its row in the table says. Commands whose
// arguments are a small language of their own have code here.
package known

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/code"
	"cordon/internal/commands/git"
	"cordon/internal/commands/table"
	"cordon/internal/commands/wrap"
	"cordon/internal/mark"
)

// Of returns what a call does. Those that it asks first, git and what runs or is
// other code, get Args[0] without its directory, and without a version if nobody
// knows the name with one.
func Of(c commands.Call) commands.Use {
	if len(c.Args) == 0 {
		return commands.Use{Out: mark.Any}
	}
	called := c.Args[0]
	u, ok := byName(c, argtext.CommandName(called))
	if !ok {
		u, ok = byName(c, argtext.Unversioned(argtext.CommandName(called)))
	}
	if !ok {
		u = generic(c)
	}
	if ownProgram(called) {
		addDoubt(&u, c)
	}
	if len(u.Runs) == 0 && activates(called, c.Args) {
		u.Out = ""
	}
	addChanges(&u, called, c.Args)
	addEnvironment(&u, c, argtext.CommandName(called))
	return withCalled(u, called)
}

// byName asks everybody who may know a command.
func byName(c commands.Call, name string) (commands.Use, bool) {
	if name == "" {
		return commands.Use{}, false
	}
	args := append([]string{name}, c.Args[1:]...)
	c.Args = args
	switch rest, ok := strings.CutPrefix(name, "git-"); {
	case ok && rest != "":
		c.Args = append([]string{"git", rest}, args[1:]...)
		return withLineEnd(git.Use(c)), true
	case name == "hub":
		c.Args[0] = "git"
		return withLineEnd(git.Use(c)), true
	case name == "git":
		return withLineEnd(git.Use(c)), true
	case name == "apply_patch" || name == "applypatch":
		return applyPatch(c), true
	}
	if u, ok := beyond(c); ok {
		return u, true
	}
	r := table.Lookup(name)
	if r == nil {
		return commands.Use{}, false
	}
	return tabled(c, r), true
}

// beyond is what calls do that no row can say.
func beyond(c commands.Call) (commands.Use, bool) {
	if u, ok := wrap.Use(c); ok {
		return u, true
	}
	if compiles(c) {
		return commands.Use{}, false
	}
	u, ok := code.Use(c, tabled)
	if ok && strings.HasSuffix(c.Stdin, "\n") {
		u = withLineEnd(u)
	}
	return u, ok
}

// withLineEnd ends what is printed with the end of a line, lest what somebody else
// prints after it be taken for part of a name.
func withLineEnd(u commands.Use) commands.Use {
	if _, ok := argtext.Single(u.Out); ok && u.Out != mark.Any && !strings.HasSuffix(u.Out, "\n") {
		u.Out += "\n"
	}
	return u
}

// compiles reports whether a command that both compiles and runs code is not
// given any: its operands are then subcommands and sources.
func compiles(c commands.Call) bool {
	switch c.Args[0] {
	case "ghc", "kotlinc", "lein", "nim", "nimble", "swift":
		return !slices.Contains(c.Args, "-") && !slices.Contains(c.Args, "-e") && !slices.Contains(c.Args, "--eval") && len(c.Args) > 1
	}
	return false
}

// ownProgram reports whether a program is called by a path that is not one of
// the system's: it may be anything, whatever it is called.
func ownProgram(called string) bool {
	switch argtext.Parent(called) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin":
		return false
	}
	return strings.Contains(called, "/")
}

// addDoubt takes back what is only certain of the command that usually has this
// name. The tools of projects are called by a path as a rule, and are believed
// to be what they are called; others may use their arguments in any way.
func addDoubt(u *commands.Use, c commands.Call) {
	u.Out = mark.Any
	if r := table.Lookup(argtext.CommandName(c.Args[0])); r != nil && r.Style&table.System != 0 {
		u.Access = append(u.Access, generic(c).Access...)
	}
}

// withCalled adds what the name itself says: a path is a file that is run, and a
// name that nobody knows is not judged by its arguments.
func withCalled(u commands.Use, name string) commands.Use {
	switch {
	case strings.Contains(name, "/"):
		u.Access = append(u.Access, commands.Access{Role: commands.Execute, Path: name, Why: "command"})
	case mark.Has(name, mark.Any+mark.Outside):
		u.Findings = append(u.Findings, commands.Finding{
			Weight:  commands.Ask,
			Reason:  "which command this runs is not known",
			Instead: "write the command's name out",
		})
	}
	return u
}

// generic is what may be said of a command that nobody knows: that it may read
// whatever looks like a path in its arguments.
func generic(c commands.Call) commands.Use {
	u := commands.Use{Out: mark.Any}
	for i, a := range c.Args[1:] {
		if i >= argtext.MaxLoose {
			break
		}
		for _, p := range argtext.LooseArgument(a) {
			u.Access = append(u.Access, commands.Access{Role: commands.Read, Path: p, Why: "argument"})
		}
	}
	return u
}
