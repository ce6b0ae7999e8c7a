// Package decide carries out what a person decided at a desk: it makes the command line of a
// decision, which is the one that the desk shows, and runs it with a cordon in a session of its
// own. Ending the desk, even with SIGKILL, does not stop a landing midway.
//
// Every decision is about one worker and names what was seen of it. The package refuses a
// decision without that, a release without a reason, and a wider lease whose grave roots nobody
// typed a second time. It acts on nothing itself. Neither the MCP server nor a cell can reach it.
package decide

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/seen"
	"cordon/internal/view"
)

// Decision is what a person decided about a worker.
type Decision struct {
	Worker string // its whole name
	Choice string // one of the names of view.Choice
	Seen   string // digests.seen of the review that was shown
	Face   string // through which the person decided: tui, web or api:NAME; "": the command line

	Question string   // of an answer
	Text     string   // the answer, or what the worker is told when it is sent back
	Reason   string   // of a release or a discard, for the journal
	Roots    []string // of a release: paths that are added to the write_roots, each by its name
	Repeated []string // those of Roots that are grave, typed a second time
	Accepts  []string // of a release: options that name a kind of fault, such as --accept-host
	Comments bool     // send the collected comments with it
}

// Command is the command line of a decision, without the program's own options.
func Command(d Decision) []string {
	seen := "--seen=" + d.Seen
	switch d.Choice {
	case view.ChooseAnswer:
		return []string{"cordon", "answer", seen, "--", d.Worker, d.Question, d.Text}
	case view.ChooseMerge:
		return []string{"cordon", "merge", d.Worker, seen}
	case view.ChooseInside:
		return []string{"cordon", "merge", "--inside", d.Worker, seen}
	case view.ChooseWait:
		return []string{"cordon", "merge", "--when-clean", d.Worker, seen}
	case view.ChooseRelease:
		words := []string{"cordon", "quarantine", "release", d.Worker}
		for _, root := range d.Roots {
			words = append(words, "--write="+root)
		}
		return slices.Concat(words, d.Accepts, []string{"--reason=" + d.Reason, seen})
	case view.ChooseBack, view.ChooseResume:
		words := []string{"cordon", "resume", d.Worker}
		if d.Comments {
			words = append(words, "--comments")
		}
		if d.Text != "" {
			words = append(words, "--say="+d.Text)
		}
		return append(words, seen)
	case view.ChooseRetry:
		return []string{"cordon", "retry", d.Worker, seen}
	case view.ChooseStop:
		return []string{"cordon", "stop", d.Worker, seen}
	case view.ChooseDiscard:
		words := []string{"cordon", "discard", "--yes", d.Worker}
		if d.Reason != "" {
			words = append(words, "--reason="+d.Reason)
		}
		return append(words, seen)
	}
	return nil
}

// Line is a command line as a person can paste it into a shell.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=+:,@%-") != "" {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// MustRepeat says why a root has to be typed a second time before it is added to a lease; "": it
// has not.
func MustRepeat(root string) string { return policy.Grave(root) }

// Check refuses a decision that is not complete.
func Check(d Decision) error {
	for _, check := range []func(Decision) error{checkSubject, checkFace, checkWords, checkRoots, checkAccepts} {
		if err := check(d); err != nil {
			return &fault.MistakeError{Err: err}
		}
	}
	return nil
}

func checkSubject(d Decision) error {
	if !lease.ID(d.Worker).Valid() {
		return fmt.Errorf("%q is not the whole name of a worker", d.Worker)
	}
	if Command(d) == nil {
		return fmt.Errorf("%q is nothing that can be decided", d.Choice)
	}
	_, err := seen.Parse(d.Seen)
	return err
}

func checkFace(d Decision) error {
	if d.Face != "" && !ValidFace(d.Face) {
		return fmt.Errorf("%q is no name of a desk", d.Face)
	}
	return nil
}

func checkWords(d Decision) error {
	has := func(s string) bool { return strings.TrimSpace(s) != "" }
	switch {
	case strings.ContainsRune(strings.Join(Command(d), " "), 0):
		return fmt.Errorf("a decision has no zero bytes")
	case len(strings.Join(Command(d), " ")) > mostWords:
		return fmt.Errorf("a decision has at most %d bytes", mostWords)
	case d.Choice == view.ChooseAnswer && (!has(d.Text) || !has(d.Question)):
		return fmt.Errorf("an answer needs a question and a text")
	case d.Choice == view.ChooseBack && !has(d.Text) && !d.Comments:
		return fmt.Errorf("say what is to change: it goes to the worker")
	case d.Choice == view.ChooseRelease && !has(d.Reason):
		return fmt.Errorf("a release needs a reason: it goes into the journal")
	}
	return nil
}

// mostWords is how long a command line may be: an argument of a program has at most 128 KiB.
const mostWords = 100 << 10

func checkRoots(d Decision) error {
	if len(d.Roots) > 0 && d.Choice != view.ChooseRelease {
		return fmt.Errorf("only a release widens a lease")
	}
	for _, root := range d.Roots {
		why := MustRepeat(root)
		switch {
		case strings.TrimSpace(root) == "":
			return fmt.Errorf("a root needs a name")
		case why != "" && !slices.Contains(d.Repeated, root):
			return fmt.Errorf("%s %s: type it once more to add it to the lease", root, why)
		}
	}
	return nil
}

// accepts are the options of a release that a desk may choose.
var accepts = []string{"--accept-host", "--accept-unproven", "--accept-failed", "--accept-unjudged", "--leave-behind"}

func checkAccepts(d Decision) error {
	for _, option := range d.Accepts {
		if d.Choice != view.ChooseRelease || !slices.Contains(accepts, option) {
			return fmt.Errorf("%q is no option of a release", option)
		}
	}
	return nil
}
