// Package stream reads what an agent client prints about its own work, one JSON
// object on each line, and tells it in one form for all clients: what it said,
// which tools it called and how that ended, what it used. From that it makes a
// transcript for a person, and holds the calls that ran against what the hooks were
// asked.
//
// It is the client's word and nothing more. The package refuses to decide by it,
// and it refuses to fail: a line that it does not understand is kept as text, and
// counted.
//
// How each client says it is a Form, which lies in the client's own folder
// (internal/agent/NAME). What is known of each was read off real streams, which are in testdata
// with what the hooks of the same run were asked.
package stream

// Kind is what an item is.
type Kind string

// The kinds.
const (
	Said    Kind = "said"    // the agent's words
	Thought Kind = "thought" // the agent's reasoning, where the client shows it
	Called  Kind = "called"  // a tool call begins
	Told    Kind = "told"    // a tool call has ended
	Used    Kind = "used"    // tokens, cost
	Began   Kind = "began"   // the session: Session and Model
	Over    Kind = "over"    // the run: Reason
	Noted   Kind = "noted"   // anything else worth a line: an error, a retry
	Unknown Kind = "unknown" // not understood
)

// Item is one thing that a stream says.
type Item struct {
	Kind    Kind
	Text    string // of Told: what the tool answered, or why it failed
	Call    Call
	Usage   Usage // of Used: all that was used so far
	Session string
	Model   string
	Reason  string // of Over: the client's word for it
	Failed  bool   // of Told, Over and Noted
	Under   string // the call of the sub-agent whose item this is; "": the agent itself
}

// Call is a tool call. ID is what the client calls it in its stream, which is what
// its hook is told for some clients and not for others.
type Call struct {
	ID    string
	Tool  string // the name that the client's hooks have for it
	Input string // in a line
	// Ran says that the tool has begun to act. It is false for a call that was
	// refused, whose tool does not exist or does not take such an input, and as long
	// as nothing is known. A client that does not say why a call failed is taken to
	// have run it.
	Ran bool
	// Failed says that it ended with an error, a refusal among them. Ended is false
	// while nothing has been told of its end.
	Ended, Failed bool
	// Own says that the client made the call by itself, and not its model.
	Own bool
}

// Usage is what a client says it used.
type Usage struct {
	Input, Output, Cached int     // tokens; Input has the cached ones too
	Cost                  float64 // in US dollars; 0: it does not say
	Turns                 int
}

// Reported is when a client says how much it used.
type Reported int

const (
	Never  Reported = iota
	AtEnd           // when its run is over
	During          // after each answer of its model too
)

// Tokens are all that were used, read from a cache or not. A number below zero is none.
func (u Usage) Tokens() int64 { return int64(max(0, u.Input)) + int64(max(0, u.Output)) }

// Summary is what a whole stream has said.
type Summary struct {
	Calls   []Call
	More    int // calls that are not among these: there were too many
	Usage   Usage
	Session string
	Model   string
	Reason  string
	Failed  bool
	Unknown int    // lines that were not understood
	Unread  int    // of them those that are the client's by their form, and were too much to be read
	Last    string // the last words of the agent itself
}

// Parser is one client's way of saying it.
type Parser interface {
	// line returns the items of a line. ok is false if it is none of the client's.
	Line(b []byte) (items []Item, ok bool)
	// end returns what was held back.
	End() []Item
}

// Repeater is a parser of a client that says things again in lines without a bound.
type Repeater interface {
	// Repeats returns the items of a line by its beginning. ok is false if it may say something new.
	Repeats(line []byte) (items []Item, ok bool)
}

// nobody understands nothing.
type nobody struct{}

func (nobody) Line([]byte) ([]Item, bool) { return nil, false }
func (nobody) End() []Item                { return nil }
