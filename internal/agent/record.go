package agent

import "bytes"

// Record is how a client writes its conversation down, below Order.State. An interactive
// client may wait for its person before it reports through its hooks; its record shows
// when that wait is over. What a person types stands in it as a string of JSON, whose
// quotes are escaped: the texts here have quotes that are not.
type Record struct {
	Files []string // patterns of path.Match, below Order.State
	// Quiet are texts of lines that are written without a prompt; one that begins with a brace begins
	// its line, so that no argument of a call looks like it. Every other line tells of a prompt: a
	// line of a kind that nobody knows starts the clock.
	Quiet []string
	Calls []string // texts of lines that tell of a tool call
	// Prompts are the texts that tell of a prompt in a record that has no lines.
	Prompts []string
}

// Sign is what a part of a record tells.
type Sign int

// The signs, by weight.
const (
	NoSign   Sign = iota
	Prompted      // a person or an argument has given the client something to do
	CallMade      // the model has called a tool
)

// Lines reports whether the record consists of lines.
func (r *Record) Lines() bool { return len(r.Prompts) == 0 }

// Read tells what new text of a record means: whole lines, or bytes of one without lines.
func (r *Record) Read(text []byte) (seen Sign) {
	if !r.Lines() {
		switch {
		case containsAny(text, r.Calls):
			return CallMade
		case containsAny(text, r.Prompts):
			return Prompted
		}
		return NoSign
	}
	for line := range bytes.Lines(text) {
		switch {
		case len(bytes.TrimSpace(line)) == 0, r.isQuiet(line):
		case containsAny(line, r.Calls):
			return CallMade
		default:
			seen = Prompted
		}
	}
	return seen
}

func (r *Record) isQuiet(line []byte) bool {
	for _, s := range r.Quiet {
		if bytes.HasPrefix(line, []byte(s)) || s[0] != '{' && bytes.Contains(line, []byte(s)) {
			return true
		}
	}
	return false
}

func containsAny(text []byte, list []string) bool {
	for _, s := range list {
		if bytes.Contains(text, []byte(s)) {
			return true
		}
	}
	return false
}
