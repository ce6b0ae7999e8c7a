// Package claude is what cordon knows about Claude Code: how its hooks speak, what its tools do,
// how it is started with the guard in place, and how its output is read.
//
// It is data and pure functions. It refuses to start anything, to read a file and to
// judge a call. What policy has to know about the client is in package facts.
package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"cordon/internal/client"
)

// dialect is the hook protocol of Claude Code. The operator's hooks are written in its
// words.
var dialect = client.Dialect{
	Form: "settings for --settings",
	Name: "claude", Keys: client.UsualKeys, Native: true, Tools: tools, Family: family, Say: say, Config: hookSettings,
	Refusal: refusal, IsRefusal: isRefusal,
}

func family(tool string) (client.Kind, bool) { return client.Schedule, strings.HasPrefix(tool, "Cron") }

// output is what Claude reads on stdout.
type output struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// refusal is what Claude shows its model, beside the code that refuses: of a text on stderr
// it would show the command line of the hook first, which is long and full of paths.
func refusal(text string) []byte {
	return encode(output{Event: "PreToolUse", Decision: "deny", Reason: text})
}

func isRefusal(stdout []byte) bool {
	return bytes.HasPrefix(stdout, []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",`))
}

// say passes a warning on to the model, or has the client ask its user.
func say(v client.Verdict) []byte {
	o := output{Event: "PreToolUse", Decision: "ask", Reason: v.Message}
	if v.Decision == client.Warn {
		o = output{Event: "PreToolUse", Context: v.Message}
	}
	return encode(o)
}

func encode(o output) []byte {
	b, err := json.Marshal(struct {
		Output output `json:"hookSpecificOutput"`
	}{o})
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// hookSettings is for --settings, on the command line: Claude ignores a file that
// is broken, and stops at broken JSON in its arguments. A project cannot switch
// off what stands here; EnterWorktree would make a worktree in the host's checkout.
func hookSettings(w client.Wiring, hooks client.Hooks) ([]byte, error) {
	var rendered client.Object
	for _, e := range hooks {
		matcher := e.Matcher
		if client.MatchesAll(matcher) {
			matcher = "*"
		}
		if _, err := e.Pattern(w.Client); err != nil {
			return nil, err
		}
		rendered.Add(e.Event, client.Object{{"matcher", matcher}, {"hooks", e.Handlers}})
	}
	return client.Compact(client.Object{
		{"disableAllHooks", false},
		{"disableSkillShellExecution", true},
		{"permissions", client.Object{{"deny", []string{"EnterWorktree"}}}},
		{"hooks", rendered},
	})
}
