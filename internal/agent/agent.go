// Package agent knows how each agent client is started so that its hooks are
// cordon's: the arguments, the variables and the files that wire the guard by the
// strongest means the client has, that switch off what would switch the hooks off,
// and that close the tools which never reach one.
//
// It is data and small pure functions: an Order comes in, a Kit goes out. The
// package refuses to start anything, to read a file, to look at the environment,
// and to touch the repository: whoever launches does that. What a client would need
// to be weaker (a flag that turns hooks off) is an error, never dropped in silence.
package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"cordon/internal/agent/clean"
	"cordon/internal/client"
	"cordon/internal/stream"
)

// Order is what is wanted of a client, and what the launch has for it.
type Order struct {
	Client  client.Name
	dialect *client.Dialect // of the client, from its adapter
	Program string          // by an absolute path
	Version Version         // of the program
	Args    []string        // the operator's own
	Prompt  string          // "": it is interactive
	// Interactive hands the terminal over. Again goes on with the conversation of
	// the launch before, which is in State.
	Interactive, Again bool

	Place   string   // the directory of the kit's files, as the client sees it; it cannot write there
	State   string   // the directory for what the client keeps: private, and kept between launches
	Tree    string   // the worktree
	Home    string   // the operator's, as the client sees it
	Guard   []string // what its hook runs: cordon hook --client … --lease …
	Extra   client.Hooks
	Servers []Server
	Items   []Item // skills, agents and commands
	Memory  string // the operator's own instructions; Kit puts them behind the briefing
	// ProjectMemory is the text of Adapter.ProjectMemory at the base commit.
	ProjectMemory string
	Label         string // that nobody guesses: the name of the hook, where one can be named
	Briefing      string // the text
	// Key is the key that the operator's environment signs in with, where the client
	// would ask a person whether to use it.
	Key   string
	Rules Rules
	// Managed says that a file can be shown at a place of the machine that the
	// client reads with the highest rank (/etc/…). Otherwise flags have to do.
	Managed bool
	// Machine is what the operator's machine has at the places of Adapter.Managed;
	// what it says is kept.
	Machine map[string][]byte
	// Own is what the operator has in the files of Adapter.Config, by the same names.
	// A kit takes from it how to sign in and which model to use, and nothing else.
	Own map[string][]byte
	// Chosen are the operator's choices of a model and its like. Arguments win over them.
	Chosen Chosen
	Root   bool // it runs as root
	// Unpacked is where the files of Adapter.Unpacks are, which the client cannot write;
	// "": it makes them itself.
	Unpacked string
	// Keys are files with the answers of KeyCommands, by their IDs; the client cannot write them.
	Keys map[string]string
	// KeyEvery is how often the client has to look at them to send a renewed one in time.
	KeyEvery time.Duration
}

// Rules are what of a lease a client's own permissions can express.
type Rules struct {
	Tree      string   // the worktree, by an absolute path
	Write     []string // write_roots: patterns below Tree; "." is all of it
	DenyWrite []string // patterns below Tree, over Write
	DenyRead  []string // absolute patterns
	Domains   []string // that may be reached
	Web       bool     // the maker's servers may search and fetch for the client
}

// Kit is everything that a launch needs of its client.
type Kit struct {
	Argv   []string
	Env    []string // set, over what the worker has
	Files  []File   // below Order.Place
	Shown  []Shown  // which of them are shown at another place
	Seeds  []File   // below Order.State, where the client has none yet
	Links  []Link   // below Order.State
	Stream bool     // it prints its stream (package stream) on stdout
	// Dialogs are questions of an interactive client that no file and no flag answers in
	// advance without giving it more than cordon does.
	Dialogs []Dialog
	// Private are those of Argv that hold values of servers: no record has them.
	Private []string
}

// Dialog is a question that a client draws before its first prompt, and the keys that
// answer it.
type Dialog struct {
	Shows []string // all of them are on the screen
	Keys  string
}

// Recorded is the command line without values of servers.
func (k Kit) Recorded() []string {
	argv := slices.Clone(k.Argv)
	for i, arg := range argv {
		if slices.Contains(k.Private, arg) {
			name, _, _ := strings.Cut(arg, "=")
			argv[i] = name + "=…"
		}
	}
	return argv
}

// Link is a symbolic link. It stands in the place of whatever has its name.
type Link struct {
	Name string
	To   string
}

// File is a file of a kit. Its name is relative to Order.Place.
type File struct {
	Name string
	Text []byte
}

// Shown puts a file of a kit at a place of the machine, in the cell only.
type Shown struct {
	Name string // of the File
	At   string // absolute
}

// Setting is a member of a settings file.
type Setting struct{ File, Key string }

// Login is a file that a client signs in with.
type Login struct {
	From string // below the home of the operator
	At   string // below Order.State
}

// Adapter is what is known of one client.
type Adapter struct {
	Name    client.Name     // after cordon run
	Dialect *client.Dialect // of its hooks
	Stream  *stream.Form
	Program string // as it is called on PATH
	Package string // where it comes from, for a person who has not got it
	// Oldest is the first version whose hooks were seen to hold, and Tested the one
	// that the tests run. A newer one is said, and its hooks have to prove themselves
	// at each launch like those of every other.
	Oldest, Tested Version
	Preset         string   // of the network: what it needs to reach its models
	Variables      []string // of the operator's, that sign in or choose the model's address; they may be secret
	Addresses      []string // those of Variables that point it at another server than its maker's
	Logins         []Login
	Config         []string // below the home: the operator's own settings, for Order.Own
	KeyFiles       []string // below the home: where a KeyCommand may stand
	// SignIn is what a person types to sign in, after "or" or a colon.
	SignIn        string
	LoginSettings []Setting // of the operator's, that say how to sign in
	LoginArgs     []string  // parts of arguments that do
	Choices       []Choice  // settings of the operator's that go into every worker
	Unused        []Unused  // settings that never do, and are named
	Hidden        []string  // below the home: the state of the operator's own sessions
	User          Places    // below the home
	ProjectParts  Places    // below the top of a project
	ServerFiles   []string  // below the home: where the operator's own MCP servers stand
	Managed       []string  // places of the machine that the kit's files are shown at
	// Project are files below the tree that the client obeys whatever it is told; see
	// Object. A name may be a pattern of path.Match.
	Project []string
	// ProjectServers are files below the tree whose MCP servers the client starts in a terminal,
	// and WithoutServer is the argument that leaves one out.
	ProjectServers []string
	WithoutServer  func(name string) string
	// ProjectAgents are files below the tree, by patterns of path.Match, that the client reads agents from as they are, with
	// the servers that their front matter names.
	ProjectAgents []string
	// Keep is what of Order.State the next launch finds: conversations to go on with,
	// by patterns of path.Match. Everything else in it could be obeyed by the next
	// client, and is removed; see Keeps.
	Keep []string
	// Record is what an interactive client writes down of its conversation while it goes
	// on; nil: it is not known, and its hooks have to report soon after its start.
	Record *Record
	// Starts says that the client reports the start of a session through its hooks
	// before the first call. Where it does not, its first call is the proof.
	Starts bool

	// Helpers are programs that its tools run, and that it would fetch where there are none.
	Helpers []Helper
	// Unpacks says how the client unpacks itself from its program; nil if it does not.
	Unpacks *Unpacking

	Build func(Order) (Kit, error)
	// KeyCommands are the commands of the operator's that print a key, and that this client
	// would run now; nil: it has none.
	KeyCommands func(KeySources) ([]KeyCommand, error)
	// LoginText is a file of Logins with PrintKey in the place of commands; nil: it has none.
	LoginText func(from string, text []byte, keys map[string]string) ([]byte, error)
	// ReadSettings reads a file of the Choices; nil: it is JSON. Adjust changes the choices
	// by what else the file says, and names what it leaves out.
	ReadSettings func([]byte) (map[string]any, error)
	Adjust       func(chosen Chosen, settings map[string]any) (left []string)
	Permissions  func(Rules) ([]byte, error)
	Objects      func(interactive bool, settings map[string]any) (why string)
	NoServers    string      // why it is given no MCP servers, after "it"; "": it may have some
	Forbids      string      // why no file of Project may be there, whatever it says
	Refused      [][2]string // arguments that are not passed on, and why, after "it"
	Passed       []Passed    // all that is passed on; nil: everything that is not refused
	// ReadServers are the servers in ServerFiles that hold in a checkout, and Expand puts
	// the values of variables into what they are given.
	ReadServers func(files map[string][]byte, checkout string) ([]Server, error)
	Expand      func(value string, lookup func(string) (string, bool)) string
	// Fronts say which members of the front matter of a part stay, and CleanCommand cleans a
	// command that is no Markdown.
	Fronts       map[Part]clean.Rule
	CleanCommand func(text []byte) (out []byte, removed []string, err error)
	// MemoryApart says that Build puts the operator's own instructions elsewhere than behind
	// the briefing.
	MemoryApart bool
	// ProjectMemory is a file of the project that Build needs beside the operator's own
	// instructions: the client has one place for both.
	ProjectMemory string
	// KeyVariables are the variables that the files of Config or arguments of the operator's take a key
	// from, beyond Variables.
	KeyVariables func(own map[string][]byte, args []string) []string
}

// Helper is a program that tools of a client run.
type Helper struct {
	Program string
	Below   []string // directories of the home in which the client keeps its own
	Without string   // what happens without it
	Package string   // that has it, for a person
}

// Lacking says that a helper is missing, and what to do.
func (h Helper) Lacking() string {
	return h.Program + " was not found, and without it " + h.Without + " (install " + h.Package + ")"
}

// Unpacking is how a client is made to unpack the files of its program into a directory and to do
// nothing else.
type Unpacking struct {
	Args []string
	Env  func(dir string) []string
	Has  string // a file below the directory that is there when it is done, as a pattern of path.Match
	// Settle are arguments of a second start that does work which each worker would do otherwise, such as compiling what
	// was unpacked. SettleEnv lets it keep the result below the directory. nil: there is no second start.
	Settle    []string
	SettleEnv func(dir string) []string
	// Seeds are files at the top of the directory, as patterns of path.Match: a new worker gets copies in its state. Shown are
	// directories that it sees in its state and cannot write. Without Seeds, the workers see the directory itself.
	Seeds, Shown []string
}

// Kit is what a launch of this client needs.
func (a *Adapter) Kit(o Order) (Kit, error) {
	if err := a.Accept(o.Args); err != nil {
		return Kit{}, err
	}
	if o.Client != a.Name {
		return Kit{}, fmt.Errorf("%s: the order is for %q", a.Name, o.Client)
	}
	if err := a.TakesServers(len(o.Servers)); err != nil {
		return Kit{}, err
	}
	o.dialect = a.Dialect
	if !a.MemoryApart {
		o.Briefing = o.withMemory()
	}
	k, err := a.Build(o)
	if err != nil {
		return Kit{}, fmt.Errorf("%s: %w", a.Name, err)
	}
	return k, nil
}

// TakesServers refuses MCP servers for a client that has none.
func (a *Adapter) TakesServers(n int) error {
	if n == 0 || a.NoServers == "" {
		return nil
	}
	return &ArgumentError{string(a.Name), "--mcp", a.NoServers}
}

// Needs lists the variables of the operator's that the client needs with these settings
// and arguments: they sign in or choose the model's address, and may be secret.
func (a *Adapter) Needs(own map[string][]byte, args []string) []string {
	if a.KeyVariables == nil {
		return a.Variables
	}
	return append(slices.Clone(a.Variables), a.KeyVariables(own, args)...)
}

// Keeps says whether the next launch finds a name of Order.State with all that is
// below it, or some of what is below it.
func (a *Adapter) Keeps(name string) (all, some bool) {
	parts := strings.Split(name, "/")
	for _, pattern := range a.Keep {
		wanted := strings.Split(pattern, "/")
		n := min(len(parts), len(wanted))
		if ok, err := path.Match(path.Join(wanted[:n]...), path.Join(parts[:n]...)); !ok || err != nil {
			continue
		}
		if n == len(wanted) {
			return true, false
		}
		some = true
	}
	return false, some
}

// Object says what stands against a launch in the text of a file of Project.
func (a *Adapter) Object(interactive bool, text []byte) error {
	if a.Forbids != "" {
		return errors.New(a.Forbids)
	}
	if a.Objects == nil {
		return nil
	}
	var settings map[string]any
	if err := json.Unmarshal(plainJSON(text), &settings); err != nil {
		return fmt.Errorf("it is not understood: %w", err)
	}
	if why := a.Objects(interactive, settings); why != "" {
		return errors.New(why)
	}
	return nil
}

// Settings are the permissions of a lease in the client's own form.
func (a *Adapter) Settings(r Rules) ([]byte, error) {
	if a.Permissions == nil {
		return nil, fmt.Errorf("%s has no permission settings: the cell limits what it may do", a.Name)
	}
	return a.Permissions(r)
}
