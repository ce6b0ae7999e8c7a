// Package commands is the vocabulary for what commands do: a Call, and the Use that
// it makes of its arguments: what is read, written, entered or run, what it prints,
// and what it does that no path tells.
//
// The packages below it know the commands. Package known takes an argument vector
// and returns a Use, and nothing else; it asks git, wrap and code, which all read
// arguments by the rows of package table. Most of what they know is data, with code
// only where a command's arguments are a language of their own. They look at no
// disk, ask no environment, resolve no path and refuse to judge. Whether a path is
// inside is the guard's business, and what a shell makes of a line before there is
// an argument vector is package shell's. Arguments may hold marks (package mark)
// where they are not known.
package commands

import "cordon/internal/mark"

// Call is one command about to run.
type Call struct {
	Args  []string                         // Args[0] is the name it was called by
	Stdin string                           // what is known of its standard input
	Fed   bool                             // its standard input comes from the script: a pipe, a here-document, a file
	Env   func(name string) (string, bool) // variables that the script itself exported to it; nil is none
	Text  func(path string) (string, bool) // what is known of a file's text, the path being relative to the command's directory; nil is nothing
}

// FileText is what is known of a file's text.
func (c Call) FileText(file string) (string, bool) {
	if c.Text == nil || file == "" || mark.In(file) {
		return "", false
	}
	return c.Text(file)
}

// Variable is a variable that the script itself exported to the command.
func (c Call) Variable(name string) (string, bool) {
	if c.Env == nil {
		return "", false
	}
	return c.Env(name)
}

// Role says what a command does with a path.
type Role int

// The roles.
const (
	Read    Role = iota // reads it, lists it, or asks whether it is there
	Write               // creates, changes or removes it
	Enter               // makes it its directory, or the root of a project it works on
	Execute             // runs it as a program
	Target              // makes a symbolic link that leads there; Dir is the link's own directory
)

// Access is one path and what becomes of it.
type Access struct {
	Role Role
	Path string // as the command was given it
	Dir  string // what a relative Path is relative to; relative itself to the command's directory, which "" is
	Why  string // the option or operand it came from, for a person: "-o", "operand 2"; may be empty
	Link bool   // if Path is a symbolic link, the link itself is meant
	Deep bool   // links that are found below it are followed

	Shallow bool // nothing below its entries is looked at
}

// Run is something else that a command runs: an argument vector, code, or a file
// of code. Exactly one of Args, Code and File is set.
type Run struct {
	Args   []string // a command
	Code   string   // a program's text …
	File   string   // … or the file that holds it, which is not opened unless its text is known
	Lang   Lang     // of Code and File
	Params []string // of Code and File: $0, $1 …; empty is none
	Dir    string   // where it runs, relative to the command's directory, which "" is
	Env    []string // NAME=VALUE it gets besides
	Unset  []string // names it does not get
	Clean  bool     // it gets nothing of the environment but Env
	Stdin  string   // what it reads, when Fed
	Fed    bool     // its input is Stdin; otherwise it is the command's own
	Later  bool     // it may run after the command has ended, or never: what it does to a shell's state is lost
	Why    string   // the option or operand it came from; may be empty
}

// Lang is a language of code. The shell is the zero value.
type Lang string

// The languages. One that is not here is opaque.
const (
	Shell      Lang = ""
	Python     Lang = "python"
	JavaScript Lang = "javascript"
	Perl       Lang = "perl"
	Ruby       Lang = "ruby"
	Awk        Lang = "awk"
	Sed        Lang = "sed"
	SQL        Lang = "sql"
	Make       Lang = "make"
	Opaque     Lang = "opaque"
)

// Weight is how bad a finding is that no path tells.
type Weight int

// The weights.
const (
	Ask  Weight = iota // a person decides
	Deny               // refused
)

// Reasons that do not hold for a worker whose home or repository is its own.
const (
	ChangesHooks    = "it installs hooks, which every worktree of the repository shares"
	InstallsForUser = "it installs into the home directory, for every project"
)

// Finding is something about a call that no path tells.
type Finding struct {
	Weight  Weight
	Reason  string // continues "BLOCKED: "
	Instead string // continues "Instead, you should: "; may be empty
}

// Effect is what a command leaves behind for the commands after it in the same
// script, as far as it is known.
type Effect struct {
	Path string // what it makes, relative to Dir
	Dir  string
	Link string // it is a symbolic link to this …
	Text string // … or a file with this text, which may hold marks …
	From string // … or what was at this path
	Add  bool   // the text is added at the end
	Gone bool   // nothing is there any more, and nothing else is said of it
}

// Use is what one call does, as far as its arguments tell.
type Use struct {
	Known    bool // the command is in the table
	Access   []Access
	Runs     []Run
	Findings []Finding
	Effects  []Effect
	Git      []GitAct
	Out      string // what it prints on standard output; Any where that is not known
	Top      string // Out is Any, but the guard knows it: one of the Top constants; "" is none
	TopDir   string // the directory Top was asked in, relative to the command's; Out stays Any if that is not in the tree
}

// What git prints that only the lease tells.
const (
	TopWorktree = "worktree"  // the root of the working tree
	TopUp       = "up"        // the way there from TopDir: "" or ../ repeated
	TopGitDir   = "gitdir"    // the tree's own git directory
	TopCommon   = "commondir" // the git directory that all its worktrees share
	TopBranch   = "branch"    // the branch HEAD is on, short
)

// GitAct is what a git command does to a repository, beyond the paths it touches.
// Who may do it depends on the lease: on whose branch a ref is, and on whether
// the repository is the worker's alone.
type GitAct struct {
	Kind  GitKind
	Name  string // a ref, a configuration key, a remote's name or address, a path
	Value string // what it is set to: a value, a ref, a revision
	Dir   string // of the repository, as -C and --git-dir leave it, relative to the command's directory
	New   bool   // git refuses if Name is there already: it can be nobody else's
	Maybe bool   // or Name is no branch but a path or a commit
}

// GitKind is a kind of GitAct.
type GitKind int

// The kinds.
const (
	// the full ref Name is made, moved or deleted, HEAD being the branch it is on: update-ref, branch
	// -f/-d/-m, tag, symbolic-ref, fetch into a local ref
	GitMovesRef GitKind = iota
	GitSwitches         // HEAD is attached to the branch Name, short, or detached when it is empty; "-" is the one before
	// a commit is added to the branch HEAD is on: commit, merge, pull, rebase, cherry-pick, revert,
	// reset, am; Value is the revision that comes in, for merge and its like
	GitGrows
	GitPushes     // Name is the remote or address, Value a refspec ("" for what is configured)
	GitFetches    // Name is the remote or address
	GitConfigures // key Name is set to Value in the repository's own configuration
	GitShares     // it changes state that all worktrees of a repository share; Name says what: "the stash", "the remotes"
)
