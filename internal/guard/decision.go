package guard

import (
	"strings"

	"cordon/internal/mark"
)

// Verdict is the answer.
type Verdict string

// The verdicts, the strict one first.
const (
	Deny  Verdict = "deny"
	Ask   Verdict = "ask"
	Allow Verdict = "allow"
)

// Decision is what the guard says about one call.
type Decision struct {
	Verdict Verdict `json:"decision"`
	Reason  string  `json:"reason,omitempty"`
	Tried   string  `json:"tried,omitempty"`
	Instead string  `json:"instead,omitempty"`
	Holds   string  `json:"holds"`               // which layer holds if the guard is wrong
	Warned  bool    `json:"warned,omitempty"`    // it would have been refused but for the mode
	Lift    string  `json:"read_root,omitempty"` // the entry of read_roots that would allow the call
	Steps   []Step  `json:"steps,omitempty"`
}

// Step is one thing that the call does.
type Step struct {
	Line    int     `json:"line,omitempty"`
	Dir     string  `json:"dir"`
	Does    string  `json:"does"`
	Path    string  `json:"path,omitempty"`
	Leads   string  `json:"leads_to,omitempty"`
	Place   Place   `json:"place,omitempty"`
	Verdict Verdict `json:"decision"`
	Why     string  `json:"why,omitempty"`
}

// Message is what the worker is told.
func (d Decision) Message() string {
	if d.Verdict == Allow && !d.Warned {
		return ""
	}
	var b strings.Builder
	head := "BLOCKED: "
	if d.Warned {
		head = "WARNING: "
	}
	b.WriteString(head + d.Reason + "\n")
	if d.Tried != "" {
		b.WriteString("You tried to: " + d.Tried + "\n")
	}
	if d.Instead != "" {
		b.WriteString("Instead, you should: " + d.Instead + "\n")
	}
	return b.String()
}

const (
	heldByCell   = "if this is wrong, the cell still stops it and the audit sees it"
	heldByNobody = "if this is wrong, only the audit notices, afterwards: there is no cell"
)

func (s *Scope) holds() string {
	if s.Confined {
		return heldByCell
	}
	return heldByNobody
}

// finding is one reason not to allow a call.
type finding struct {
	verdict                Verdict
	reason, tried, instead string
	lift                   string // the entry of read_roots with which it would not have been found; "" is none
}

// shown is a text for a message: short, on one line, with its marks in words.
func shown(s string) string {
	if len(s) > 2000 {
		s = strings.ToValidUTF8(s[:2000], "")
	}
	s = strings.Join(strings.Fields(mark.Words(s)), " ")
	if r := []rune(s); len(r) > 120 {
		s = string(r[:119]) + "…"
	}
	return s
}
