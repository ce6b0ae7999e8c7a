package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"cordon/internal/strictyaml"
)

// Form is how the commits of a worker land.
type Form string

const (
	AsPolicy Form = "policy"  // gate.as of the worker's policy
	Squash   Form = "squash"  // one commit
	History  Form = "history" // the worker's own commits, and a merge
	Rebase   Form = "rebase"  // the worker's own commits, replayed in a line
)

// Author says who is the author of a landed commit.
type Author string

const (
	AgentAuthor    Author = "agent"
	OperatorAuthor Author = "operator"
)

// Signing says whether landed commits are signed.
type Signing string

const (
	SignAuto Signing = "auto" // as the operator's git does: where commit.gpgsign is on
	SignOff  Signing = "off"
)

// Hooks says what becomes of the operator's own git hooks that guard a branch.
type Hooks string

const (
	SkipHooks Hooks = "skip" // cordon names those that it skipped
	RunHooks  Hooks = "run"
)

// oneOf reads one of a few words.
func oneOf[W ~string](words ...W) func(*yaml.Node) (W, error) {
	return func(n *yaml.Node) (W, error) {
		var names []string
		for _, w := range words {
			if n.Kind == yaml.ScalarNode && n.Value == string(w) {
				return w, nil
			}
			names = append(names, string(w))
		}
		last := len(names) - 1
		hint := ""
		if near := strictyaml.Nearest(n.Value, names); n.ShortTag() == "!!str" && near != "" {
			hint = "did you mean " + near + "?"
		}
		return "", strictyaml.Fault("expected "+strings.Join(names[:last], ", ")+" or "+names[last]+", not "+strictyaml.Describe(n), hint)
	}
}

func showWord[W ~string](w W) string { return string(w) }

// CoAuthor is the form of the Co-authored-by trailer of a landed commit, a name and an
// address with placeholders for those of the agent. The empty form means no trailer.
type CoAuthor string

// The placeholders of a CoAuthor.
const (
	placeName   = "{name}"   // of the agent, git.identity of the policy
	placeEmail  = "{email}"  // of the agent, git.identity of the policy
	placeClient = "{client}" // the agent client, or the word command
	placeWorker = "{id}"     // the worker
)

// Agent is who a CoAuthor is filled in with.
type Agent struct{ Name, Email, Client, Worker string }

// For is the value of the trailer for an agent, or "".
func (c CoAuthor) For(a Agent) string {
	return strings.NewReplacer(placeName, a.Name, placeEmail, a.Email, placeClient, a.Client, placeWorker, a.Worker).Replace(string(c))
}

// WithClient puts the default client in front of a prompt that stands alone: one argument
// with a blank in it. A single word is a client, or a mistake.
func (c Config) WithClient(args []string) []string {
	if c.Client == "" || len(args) != 1 || !strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n") {
		return args
	}
	return []string{c.Client, "--", args[0]}
}
