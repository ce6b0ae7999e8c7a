package claude

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordon/internal/agent"
)

const (
	// keyHelper is the setting with a command that prints a key, and helperTTL the variable
	// that says for how many milliseconds its answer is used.
	keyHelper = "apiKeyHelper"
	helperTTL = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"
	// usualTTL is how long the client uses an answer unless it is told otherwise.
	usualTTL = 5 * time.Minute
	// helperLimit is shorter than the client's own, which is ten minutes: a person waits.
	helperLimit = 2 * time.Minute
)

// otherLogins are variables that the client signs in with rather than with a helper.
var otherLogins = []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"}

// keyCommands is the operator's apiKeyHelper, or that of the machine, which wins. A project's
// is none: the client runs that as soon as the directory is trusted.
func keyCommands(s agent.KeySources) ([]agent.KeyCommand, error) {
	for _, name := range otherLogins {
		if s.Variable(name) != "" {
			return nil, nil
		}
	}
	own, err := s.Settings(ownSettings)
	if err != nil {
		return nil, fmt.Errorf("~/%s: %w", ownSettings, err)
	}
	machine, err := agent.JSONObject(s.Machine[Managed])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Managed, err)
	}
	c := agent.KeyCommand{ID: keyHelper, Limit: helperLimit, Every: interval(machine, own, s.Variable(helperTTL))}
	if line, ok := machine[keyHelper].(string); ok && strings.TrimSpace(line) != "" {
		c.Line, c.Noun = line, keyHelper+" in "+Managed
	} else if line, ok := own[keyHelper].(string); ok && strings.TrimSpace(line) != "" {
		c.Line, c.Noun, c.File = line, keyHelper+" in ~/"+ownSettings, ownSettings
	} else {
		return nil, nil
	}
	return []agent.KeyCommand{c}, nil
}

// interval is how often the client would run the helper.
func interval(machine, own map[string]any, variable string) time.Duration {
	for _, v := range []any{agent.Inside(machine, "env", helperTTL), agent.Inside(own, "env", helperTTL), variable} {
		if text := fmt.Sprint(v); v != nil && text != "" {
			if ms, err := strconv.ParseInt(text, 10, 40); err == nil && ms >= 0 {
				return max(time.Duration(ms)*time.Millisecond, time.Second)
			}
		}
	}
	return usualTTL
}

// helperSettings let the client read the key where the supervisor writes it.
func helperSettings(o agent.Order, s settings) {
	if line := o.PrintKey(keyHelper); line != "" {
		s[keyHelper] = line
	}
}

// helperVariables make the client look often enough for a renewed key.
func helperVariables(o agent.Order) []string {
	if o.PrintKey(keyHelper) == "" || o.KeyEvery == 0 {
		return nil
	}
	return []string{helperTTL + "=" + strconv.FormatInt(o.KeyEvery.Milliseconds(), 10)}
}
