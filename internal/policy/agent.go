package policy

import (
	"fmt"
	"time"
)

// Agent says what an agent client that cordon starts gets beside its cell. The zero
// Agent is what a lease says that was sealed before there was this section: no login,
// and hooks that have to prove themselves. Its keys must stay absent when such a
// lease is encoded again.
type Agent struct {
	Login   Login `json:"login,omitempty"`
	Refresh bool  `json:"refresh,omitempty"`
	Proof   Proof `json:"proof,omitempty"`
	// Within is how long the first word of the hooks may take; 0 is DefaultWithin.
	Within Duration `json:"proof_within,omitempty"`
	// Web lets tools search and fetch from the servers of the client's maker.
	Web bool `json:"web,omitempty"`
	// What the client gets of its user's and the project's setup. The operator's own goes in
	// only with their consent for the repository; see package config.
	Instructions []string `json:"instructions,omitempty"`
	Skills       []string `json:"skills,omitempty"`
	Agents       []string `json:"agents,omitempty"`
	Commands     []string `json:"commands,omitempty"`
	MCP          []string `json:"mcp,omitempty"` // names of servers, or PartUser for all that are shared
	// Args are further arguments, by the name of the client that they are for.
	Args map[string][]string `json:"args,omitempty"`
}

// Whose a part of a client's setup is.
const (
	PartUser    = "user"
	PartProject = "project"
)

// DefaultWithin is how long the first word of a client's hooks may take: clients need
// seconds to start, and more on a machine that is busy.
const DefaultWithin = Duration(90 * time.Second)

// Patience is how long the first word of the hooks may take.
func (a Agent) Patience() time.Duration {
	if a.Within <= 0 {
		return time.Duration(DefaultWithin)
	}
	return time.Duration(a.Within)
}

func showWithin(d Duration) string { return Duration(Agent{Within: d}.Patience()).String() }

// Login says how a client gets the files and variables that it signs in with. The
// empty string is NoLogin; anything else that is not a weaker word behaves like it.
type Login string

const (
	NoLogin   Login = "none" // it gets none
	ReadLogin Login = "read" // it can read them
	CopyLogin Login = "copy" // it has a copy that it can change
)

// Logins lists the words a policy may use, strictest first.
func Logins() []Login { return []Login{NoLogin, ReadLogin, CopyLogin} }

// Given reports whether the client signs in as the operator.
func (l Login) Given() bool { return l == ReadLogin || l == CopyLogin }

// String gives the word: "none" for none and for anything unknown.
func (l Login) String() string {
	if l.Given() {
		return string(l)
	}
	return string(NoLogin)
}

func (l Login) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText refuses a word it does not know.
func (l *Login) UnmarshalText(text []byte) error {
	for _, known := range Logins() {
		if string(text) == string(known) {
			*l = known
			return nil
		}
	}
	return fmt.Errorf("login %q is not none, read or copy", text)
}

// Proof says what becomes of an agent whose hooks were not seen alive. The empty
// string is ProofRequired; anything else that is not the weaker word behaves like it.
type Proof string

const (
	ProofRequired Proof = "required" // it is stopped
	ProofReported Proof = "reported" // it is said, and the cell has to hold alone
)

// Proofs lists the words a policy may use, strictest first.
func Proofs() []Proof { return []Proof{ProofRequired, ProofReported} }

// String gives the word: "required" for none and for anything unknown.
func (p Proof) String() string {
	if p == ProofReported {
		return string(p)
	}
	return string(ProofRequired)
}

func (p Proof) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText refuses a word it does not know.
func (p *Proof) UnmarshalText(text []byte) error {
	for _, known := range Proofs() {
		if string(text) == string(known) {
			*p = known
			return nil
		}
	}
	return fmt.Errorf("proof %q is not required or reported", text)
}
