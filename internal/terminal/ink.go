package terminal

import (
	"io"
	"strconv"

	"cordon/internal/ledger"
)

// Ink colours a word.
type Ink func(word string) string

// The colours of terminals.
const (
	red    = 31
	green  = 32
	yellow = 33
	cyan   = 36
)

// stateColours are those of states and verdicts; no other word has one.
var stateColours = map[string]int{
	string(ledger.MergedIn): green, string(ledger.Finished): cyan, string(ledger.NoChange): green,
	string(ledger.InQuarantine): red, string(ledger.Failed): red, string(ledger.Lost): red,
	string(ledger.Conflicted): yellow, string(ledger.WaitingFor): yellow, string(ledger.Asking): yellow, string(ledger.InReview): yellow,
	string(ledger.Stopped): yellow,
	string(ledger.Running): cyan,
	"ok":                   green, "warn": yellow, "fail": red, // of doctor
	"allow": green, "deny": red, "ask": yellow,
}

// inkFor colours states and verdicts where a person reads them and wants it.
func InkFor(w io.Writer) Ink {
	if !Is(w) || !colours() {
		return func(word string) string { return word }
	}
	return func(word string) string {
		if c, ok := stateColours[word]; ok {
			return "\x1b[" + strconv.Itoa(c) + "m" + word + "\x1b[0m"
		}
		return word
	}
}
