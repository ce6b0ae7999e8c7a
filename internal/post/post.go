// Package post carries requests from inside a cell to the cordon that watches it,
// over one socket: what the guard decided, a question for the operator, word that
// the work is done, a look at the lease; of a verifier, what it thinks of a claim; of a
// reviewer, what it thinks of the result that its lease names.
//
// Everything that comes in is a request of something untrusted. There is no verb
// here that decides, merges, answers a question or names another worker, and the
// package refuses to grow one: whoever can write to this socket is the worker. An
// opinion is evidence, and a worker has none about its own result.
package post

import (
	"encoding/json"
	"time"
)

// Variable names the socket's directory in the environment of a worker.
const Variable = "CORDON_POST"

// Socket is the name of the socket in its directory.
const Socket = "sock"

// The verbs.
const (
	Decided = "decided" // the guard has judged a call: Record, Said
	Ask     = "ask"     // a question for the operator: Text, Options; waits up to Wait
	Await   = "await"   // waits for the answer to Question up to Wait
	Done    = "done"    // the agent says that it has finished: Text
	Look    = "status"  // what the lease says, and what was answered
	Truth   = "truth"   // a verifier's answer to the claim of a Number: Yes, Text
	Review  = "review"  // a reviewer's opinion of the result that it looks at: Verdict, Text
)

// Request is one line from inside.
type Request struct {
	Verb     string          `json:"verb"`
	Record   json.RawMessage `json:"record,omitempty"` // a guard.Record
	Text     string          `json:"text,omitempty"`
	Options  []string        `json:"options,omitempty"` // that an answer may choose from
	By       string          `json:"by,omitempty"`      // the tool of the client's own that asks; "": cordon ask
	Question string          `json:"question,omitempty"`
	Wait     int             `json:"wait,omitempty"` // seconds
	Number   int             `json:"number,omitempty"`
	Yes      bool            `json:"yes,omitempty"`
	Verdict  string          `json:"verdict,omitempty"`
	Said     []string        `json:"said,omitempty"` // the words behind cordon, of a call that is one command of cordon's and nothing else
}

// Reply is one line back. A reply with an Error has nothing else.
type Reply struct {
	Error    string  `json:"error,omitempty"`
	Question string  `json:"question,omitempty"` // the name that it got
	Answered bool    `json:"answered,omitempty"`
	Answer   string  `json:"answer,omitempty"`
	Status   *Status `json:"status,omitempty"`
}

// Status is what a worker may know of itself.
type Status struct {
	Worker    string     `json:"worker"`
	Branch    string     `json:"branch"`
	Base      string     `json:"base"`
	Write     []string   `json:"write_roots"`
	Domains   []string   `json:"allowed_domains"`
	Expires   time.Time  `json:"expires"`
	Ends      time.Time  `json:"ends,omitzero"` // when limits.time is over
	Questions []Question `json:"questions"`
	Done      bool       `json:"done"`
}

// Question is one that was asked, and its answer once there is one.
type Question struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Options  []string `json:"options,omitempty"`
	Answered bool     `json:"answered"`
	Answer   string   `json:"answer,omitempty"`
}
