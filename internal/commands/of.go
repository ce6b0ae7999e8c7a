package commands

import (
	"slices"
	"strings"

	"cordon/internal/mark"
)

// Of returns what a call does. Those that it asks first, git and what runs or is
// other code, get Args[0] without its directory, and without a version if nobody
// knows the name with one.
func Of(c Call) Use {
	if len(c.Args) == 0 {
		return Use{Out: mark.Any}
	}
	called := c.Args[0]
	u, ok := byName(c, commandName(called))
	if !ok {
		u, ok = byName(c, unversioned(commandName(called)))
	}
	if !ok {
		u = generic(c)
	}
	if ownProgram(called) {
		u.doubt(c)
	}
	if len(u.Runs) == 0 && activates(called, c.Args) {
		u.Out = ""
	}
	u.settle(called, c.Args)
	u.surroundings(c, commandName(called))
	return u.calledBy(called)
}

// byName asks everybody who may know a command.
func byName(c Call, name string) (Use, bool) {
	if name == "" {
		return Use{}, false
	}
	args := append([]string{name}, c.Args[1:]...)
	c.Args = args
	switch rest, ok := strings.CutPrefix(name, "git-"); {
	case ok && rest != "":
		c.Args = append([]string{"git", rest}, args[1:]...)
		return gitUse(c).lined(), true
	case name == "hub":
		c.Args[0] = "git"
		return gitUse(c).lined(), true
	case name == "git":
		return gitUse(c).lined(), true
	case name == "apply_patch" || name == "applypatch":
		return applyPatch(c), true
	}
	if u, ok := beyond(c); ok {
		return u, true
	}
	r := lookup(name)
	if r == nil {
		return Use{}, false
	}
	return tabled(c, r), true
}

// beyond is what calls do that no row can say.
func beyond(c Call) (Use, bool) {
	if u, ok := wrapped(c); ok {
		return u, true
	}
	if compiles(c) {
		return Use{}, false
	}
	u, ok := coded(c, tabled)
	if ok && strings.HasSuffix(c.Stdin, "\n") {
		u = u.lined()
	}
	return u, ok
}

// lined ends what is printed with the end of a line, lest what somebody else
// prints after it be taken for part of a name.
func (u Use) lined() Use {
	if _, ok := single(u.Out); ok && u.Out != mark.Any && !strings.HasSuffix(u.Out, "\n") {
		u.Out += "\n"
	}
	return u
}

// compiles reports whether a command that both compiles and runs code is not
// given any: its operands are then subcommands and sources.
func compiles(c Call) bool {
	switch c.Args[0] {
	case "ghc", "kotlinc", "lein", "nim", "nimble", "swift":
		return !slices.Contains(c.Args, "-") && !slices.Contains(c.Args, "-e") && !slices.Contains(c.Args, "--eval") && len(c.Args) > 1
	}
	return false
}

// ownProgram reports whether a program is called by a path that is not one of
// the system's: it may be anything, whatever it is called.
func ownProgram(called string) bool {
	switch parent(called) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin":
		return false
	}
	return strings.Contains(called, "/")
}

// doubt takes back what is only certain of the command that usually has this
// name. The tools of projects are called by a path as a rule, and are believed
// to be what they are called; others may use their arguments in any way.
func (u *Use) doubt(c Call) {
	u.Out = mark.Any
	if r := lookup(commandName(c.Args[0])); r != nil && r.style&system != 0 {
		u.Access = append(u.Access, generic(c).Access...)
	}
}

// calledBy adds what the name itself says: a path is a file that is run, and a
// name that nobody knows is not judged by its arguments.
func (u Use) calledBy(name string) Use {
	switch {
	case strings.Contains(name, "/"):
		u.Access = append(u.Access, Access{Role: Execute, Path: name, Why: "command"})
	case mark.Has(name, mark.Any+mark.Outside):
		u.Findings = append(u.Findings, Finding{
			Weight:  Ask,
			Reason:  "which command this runs is not known",
			Instead: "write the command's name out",
		})
	}
	return u
}

// generic is what may be said of a command that nobody knows: that it may read
// whatever looks like a path in its arguments.
func generic(c Call) Use {
	u := Use{Out: mark.Any}
	for i, a := range c.Args[1:] {
		if i >= maxLoose {
			break
		}
		for _, p := range looseArgument(a) {
			u.Access = append(u.Access, Access{Role: Read, Path: p, Why: "argument"})
		}
	}
	return u
}
