// Package engine carries messages between a home, the machine that has the operator's
// repository, and its nodes, the machines that run stages. There are three engines: Local for
// one process, and two of package jetstream: a server inside the home's process, and a
// cluster of servers.
//
// An engine is a transport that may lose everything at any moment. It may also repeat
// messages and deliver them in another order. A home offers again what its journal says is
// not granted, a node asks again until it has an answer, and both verify signatures
// (package protocol). Therefore the package refuses to decide anything, to remember
// anything that is needed later, and to vouch for a sender.
package engine

import (
	"context"
	"errors"
	"regexp"
	"sync"
)

// Home is the side of the machine that has the repository.
type Home interface {
	// Offer puts an offer into the queue of a class, unless an offer with that name waits
	// there already; one that was just taken may count as waiting for a moment. A home
	// therefore offers again what no node has, also after an error. ErrFull says that too many
	// wait.
	Offer(ctx context.Context, class, name string, offer []byte) error
	// Waiting counts the offers that no node has taken.
	Waiting(ctx context.Context) (int, error)
	// Answer begins to answer the questions of nodes, many at a time, until the engine is
	// closed. The name of the node is what the engine believes; only a signature proves it.
	Answer(answer func(node string, question []byte) []byte) error
	Close() error
}

// Node is the side of a machine that runs stages.
type Node interface {
	// Next waits for an offer of a class and takes it out of the queue.
	Next(ctx context.Context, class string) ([]byte, error)
	// Ask waits for the home's answer to one question. ErrNoAnswer says that there is none
	// at the moment: ask again.
	Ask(ctx context.Context, question []byte) ([]byte, error)
	Close() error
}

var (
	// ErrFull says that a home has more offers waiting than an engine keeps.
	ErrFull = errors.New("too many offers wait for nodes")
	// ErrNoAnswer says that the home did not answer in time.
	ErrNoAnswer = errors.New("the home does not answer")
	// ErrStranger says that the other side does not let this side in.
	ErrStranger = errors.New("the home does not know this machine")
	// ErrClosed says that this side has closed the engine.
	ErrClosed = errors.New("the engine is closed")
)

const (
	// MaxMessage bounds an offer, a question and an answer.
	MaxMessage = 768 << 10
	// MaxWaiting bounds the offers that wait.
	MaxWaiting = 10000
)

var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`) })

// CheckWord refuses a class or a name that an engine could read as more than one word.
func CheckWord(words ...string) error {
	for _, w := range words {
		if !word().MatchString(w) {
			return errors.New("an engine carries no class, node or offer with the name " + shown(w))
		}
	}
	return nil
}

// CheckSize refuses a message that an engine does not carry.
func CheckSize(message []byte) error {
	if len(message) > MaxMessage {
		return errors.New("a message is longer than an engine carries")
	}
	return nil
}

func shown(w string) string {
	const most = 80
	return "'" + w[:min(len(w), most)] + "'"
}
