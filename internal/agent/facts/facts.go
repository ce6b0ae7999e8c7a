// Package facts holds what policy, audit and worktree have to know about each agent
// client that cordon can start: the names it obeys, the files it signs in with, the
// variables it reads and the servers it needs. One file for each client.
//
// It is data and imports nothing, because the packages that use it stand below
// everything that runs a client. How a client is started, what its hooks say and
// what it prints is code, and lies in the client's folder next to this one.
package facts

// Client is one client.
type Client struct {
	Name   string // the word after cordon run
	Title  string // as its maker writes it
	Models Models
	// AnyProvider is whether the client uses the models of any provider, and names them PROVIDER/MODEL.
	AnyProvider bool

	// Protected are files and directories of a repository that make the client run
	// commands on the operator's machine, at any depth. The first is the best known.
	Protected []string
	// Obeyed are files and directories of a repository, beside those, that the client takes for instructions, at any depth:
	// memory, skills, agents and commands.
	Obeyed []string
	// Logins are files of the home that sign in, with the sessions and settings in
	// which people leave keys. No other program sees them.
	Logins []string
	// Trusted are files of the home that the client runs or believes, as patterns.
	Trusted []string
	// Variables are those of the operator's that a worker gets. A * at the end makes a
	// family; members that look secret are left out.
	Variables []string
	// AskedKey is the variable with a key that the client asks a person about before it
	// uses it; "" if it does not ask.
	AskedKey string
	// Kept are members of the families that no worker gets, as patterns over capitals.
	Kept []Kept
	// Moved are variables that move what is in Logins.
	Moved []Moved
	// Asks are names that the client asks for by itself, whatever it is told, and works without.
	Asks []Domain
}

// Models is a preset of the domains that the client's models are reached by.
type Models struct {
	Preset  string
	Version string // the day it was last held against what its owner documents
	What    string
	Domains []Domain
}

// Domain is an entry of a preset, and what it is needed for.
type Domain struct{ Name, Why string }

// Kept is a variable that stays with the operator, and why.
type Kept struct{ Name, Why string }

// Moved is a variable, with what follows below its value, and the usual place below the home.
type Moved struct{ Variable, Usual string }

const (
	// ownSession is why a variable of the session that started cordon is kept.
	ownSession = "describes the operator's own session"
)

// all is the order in which clients are listed.
var all = []*Client{&claude, &codex, &gemini, &copilot, &openCode, &qwen, &pi}

// Named is the client that is started by a word, or nil.
func Named(word string) *Client {
	for _, c := range all {
		if c.Name == word {
			return c
		}
	}
	return nil
}

// All are the clients.
func All() []*Client { return all }
