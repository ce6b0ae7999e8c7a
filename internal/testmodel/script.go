package testmodel

import (
	"encoding/json"
	"time"
)

// Script is what a model says.
type Script struct {
	// Turns are those of the main conversation. After the last one the model has
	// only "done" to say.
	Turns []Turn `json:"turns"`
	// Sub are the turns of sub-agents: of every conversation in which the user's
	// words contain the key. A sub-agent without one would play Turns again.
	Sub map[string][]Turn `json:"sub,omitempty"`
	// Limit is how many requests are answered first with the limit of a provider.
	Limit int `json:"limit,omitempty"`
}

// Turn is one answer of the model: calls of tools, or words when there are none.
type Turn struct {
	Calls []Call   `json:"calls,omitempty"`
	Text  string   `json:"text,omitempty"`
	Delay Duration `json:"delay,omitempty"` // before the answer
	// Await is the key of a sub-agent: the answer waits until that one has played
	// its last turn. Some clients let their sub-agents work beside the conversation.
	Await string `json:"await,omitempty"`
	// Before runs once, when the turn is asked for and the client waits for it; the
	// answer waits for its return. Then runs once, after the first answer went out.
	Before func() `json:"-"`
	Then   func() `json:"-"`
}

// Call is one call of a tool of the client's. A tool that takes free text, not an
// object, gets the text of "input".
type Call struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input"`
}

// Do is a turn that calls tools.
func Do(calls ...Call) Turn { return Turn{Calls: calls} }

// Say is a turn of words.
func Say(text string) Turn { return Turn{Text: text} }

// Duration is a time.Duration that JSON writes as "2s".
type Duration time.Duration

func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	*d = Duration(v)
	return err
}
