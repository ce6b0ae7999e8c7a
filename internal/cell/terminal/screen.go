// Package terminal connects the operator's terminal to the worker's own, and lets other
// terminals join it.
//
// It refuses to hand a descriptor of the operator's terminal to a worker, to let
// anybody join but the operator, and to leave a terminal in a state that a worker chose.
// It starts no command and knows nothing of cells.
package terminal

import (
	"errors"
	"regexp"
	"sync"
)

// A worker that has a terminal shows it on a screen. Other terminals of the
// operator's can join it: each sees the last of what was shown and then what is shown,
// types into the same terminal, and gives it its size. The way is
//
//	terminal → a socket in a place that no cell sees → cordon → the worker's terminal
//
// Nothing of a terminal that joins enters the cell but what is typed and its size, and
// nobody waits for one that does not read.

// ErrNoScreen says that no worker shows its terminal at a place.
var ErrNoScreen = errors.New("no worker shows its terminal there")

// Parting is how a terminal came to be no longer joined.
type Parting string

// The partings.
const (
	Detached Parting = "detached" // by its operator
	Finished Parting = "finished" // the worker has ended
	Behind   Parting = "behind"   // it did not read what was shown
	Gone     Parting = "gone"     // cordon has ended, and the worker with it
)

// screenName is the socket in the directory that a screen is opened in.
const screenName = "terminal"

// maxJoined is how many terminals may be joined to a worker's at once.
const maxJoined = 8

// screenKept is how much of what was shown a terminal sees that joins.
const screenKept = 64 << 10

// lagRoom is how much of what is shown is kept for a terminal that does not read.
const lagRoom = 1 << 20

// keyboard is what is typed on.
type keyboard interface {
	enter(keys []byte) bool
	resize(rows, cols uint16)
}

// tail keeps the end of what was shown. Where it has to cut, it begins with a line: half
// a control sequence would garble what follows.
func tail(shown []byte) []byte {
	if len(shown) <= screenKept {
		return shown
	}
	shown = shown[len(shown)-screenKept:]
	for i, b := range shown[:screenKept/4] {
		if b == '\n' {
			return shown[i+1:]
		}
	}
	return shown
}

// asking finds what a terminal answers as if it were typed: who it is, where its cursor
// is, its modes, its size, its colours.
var asking = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x05|` +
		`\x1b\[(?:[>=?]?[0-9;]*c|\??[0-9;]*n|\??[0-9;]*\$p|>[0-9;]*q|\?u|(?:1[1-9]|2[01])[0-9;]*t)|` +
		`\x1b\][0-9;]*\?(?:\x07|\x1b\\)|` +
		`\x1bP[+$]q[^\x1b]*\x1b\\`)
})

// answered is what was shown without what was asked: a terminal that joins later would
// answer, and nobody waits for that any more.
func answered(shown []byte) []byte { return asking().ReplaceAll(shown, nil) }

// detachKeys are what ctrl-\ sends: as a control character, and in the two forms that
// a terminal uses when the worker has asked for keys that can be told apart.
var detachKeys = []string{"\x1c", "\x1b[92;5u", "\x1b[27;5;92~"}

// NotAdmittedError is why a cell did not let a visitor in.
type NotAdmittedError struct{ Why string }

func (e *NotAdmittedError) Error() string { return e.Why }
