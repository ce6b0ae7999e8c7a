// Package trial is the test of a merged tree on a node: what is to be tested, and what a node says about it.
//
// A node's verdict is its word. The package decides only whether a verdict answers what was asked: this tree, these
// commands, and no node that made the result itself. It refuses a verdict that leaves a command out, goes on after one
// that failed, or comes from an author. It refuses to run anything, and to decide what becomes of a result: the gate does.
package trial

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Order is what is to be tested.
type Order struct {
	Tree     string   `json:"tree"`            // hash of the merged tree
	Commands []string `json:"commands"`        // of the policy's acceptance, in the order in which they run
	Setup    []string `json:"setup,omitempty"` // what prepares the tree before
	Authors  []string `json:"authors"`         // keys of the nodes that made the result: none of them tests it
}

// Verdict is what a node says about a tree.
type Verdict struct {
	Tree   string  `json:"tree"`
	Checks []Check `json:"checks"`
}

// Check is one command that ran.
type Check struct {
	Command string        `json:"command"`
	Code    int           `json:"code"`
	Ended   string        `json:"ended,omitempty"` // the limit that ended it, in words; "": it ended by itself
	Took    time.Duration `json:"took_ns"`
	Output  string        `json:"output,omitempty"` // its end
	Reused  bool          `json:"reused,omitempty"` // it looks at some paths, and passed there on the same before
}

// Prepares begins the name of a command that was to prepare the tree and failed, as the gate names it.
const Prepares = "setup: "

// The bounds of a verdict.
const (
	MaxOutput = 64 << 10 // bytes of all outputs together
	maxEnded  = 200
)

// The reasons to refuse a verdict.
var (
	ErrAuthor  = errors.New("it comes from a node that made the result")
	ErrTree    = errors.New("it is about another tree")
	ErrAnswers = errors.New("it does not answer what was asked")
)

// MayTest reports whether a node may test the tree.
func (o Order) MayTest(node string) bool { return !slices.Contains(o.Authors, node) }

// Check refuses a verdict of a node that is not an answer to the order.
func (o Order) Check(node string, v Verdict) error {
	switch {
	case !o.MayTest(node):
		return ErrAuthor
	case v.Tree != o.Tree || o.Tree == "":
		return ErrTree
	case len(v.Checks) == 0 || len(v.Checks) > len(o.Commands):
		return fmt.Errorf("%w: %d of %d commands", ErrAnswers, len(v.Checks), len(o.Commands))
	}
	size := 0
	for i, c := range v.Checks {
		if err := o.checkOne(i, c, i == len(v.Checks)-1); err != nil {
			return err
		}
		size += len(c.Output)
	}
	if size > MaxOutput {
		return fmt.Errorf("%w: too much output", ErrAnswers)
	}
	return nil
}

// checkOne refuses a command that is not the next one. Only the last may have failed, and all have run unless it has.
func (o Order) checkOne(i int, c Check, last bool) error {
	failed := c.Code != 0
	setup, prepares := strings.CutPrefix(c.Command, Prepares)
	prepares = prepares && failed && slices.Contains(o.Setup, setup)
	switch {
	case c.Command != o.Commands[i] && !prepares:
		return fmt.Errorf("%w: command %d is another one", ErrAnswers, i+1)
	case !failed && c.Ended != "", len(c.Ended) > maxEnded, c.Took < 0:
		return fmt.Errorf("%w: command %d cannot have ended so", ErrAnswers, i+1)
	case failed && !last:
		return fmt.Errorf("%w: it goes on after a failure", ErrAnswers)
	case !failed && last && i != len(o.Commands)-1:
		return fmt.Errorf("%w: %d of %d commands", ErrAnswers, i+1, len(o.Commands))
	}
	return nil
}

// Trimmed is a verdict whose outputs fit. The last command is the one that may have failed: its output is kept longest.
func (v Verdict) Trimmed() Verdict {
	v.Checks = slices.Clone(v.Checks)
	left := MaxOutput
	for i := len(v.Checks) - 1; i >= 0; i-- {
		c := &v.Checks[i]
		if left -= len(c.Output); left < 0 {
			c.Output, left = "", 0
		}
		c.Ended = c.Ended[:min(len(c.Ended), maxEnded-len("\ufffd"))] // what a cut leaves of a character is replaced
	}
	return v
}

// suffix is not part of any worker's name.
const suffix = "_trial"

// Name names the trial of a worker's result among the stages of a home.
func Name(worker string) string { return worker + suffix }

// Worker is the worker whose result a stage tests; ok is false if the stage runs its command.
func Worker(stage string) (worker string, ok bool) { return strings.CutSuffix(stage, suffix) }
