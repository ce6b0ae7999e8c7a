package copilot

import (
	"strings"
	"time"

	"cordon/internal/agent"
)

const (
	// keyVariable has a command that prints the key of the operator's own provider. The client
	// runs it before each request.
	keyVariable = "COPILOT_PROVIDER_API_KEY_COMMAND"
	// keyRenewed is how often it is run instead, and keyLimit how long it may take.
	keyRenewed = time.Minute
	keyLimit   = 30 * time.Second
)

// keyCommands is the operator's command. A key or a token in a variable is used instead of it.
func keyCommands(s agent.KeySources) ([]agent.KeyCommand, error) {
	line := strings.TrimSpace(s.Variable(keyVariable))
	if line == "" || s.Variable("COPILOT_PROVIDER_BEARER_TOKEN") != "" {
		return nil, nil
	}
	return []agent.KeyCommand{{ID: keyVariable, Noun: "the command in " + keyVariable, Line: line, Limit: keyLimit, Every: keyRenewed}}, nil
}
