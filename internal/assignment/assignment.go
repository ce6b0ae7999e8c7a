// Package assignment is the stage of a worker as a home gives it to a node: the terms that the
// home has sealed, and the command or client that is to run under them, or that the acceptance
// commands of these terms are to test their base. The home signs its bytes, and a node reads them back.
//
// It holds no path of the home's, no login and no key. It refuses a worker whose client needs
// one: such values do not leave the machine that has them.
package assignment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
)

// Schema names the encoding.
const Schema = "cordon.assignment/1"

// Assignment is what a node is to run.
type Assignment struct {
	Schema  string        `json:"schema"`
	Terms   string        `json:"terms"` // as the home sealed them: a text, so that no encoder changes a byte
	Command []string      `json:"command"`
	Agent   *ledger.Agent `json:"agent,omitempty"` // nil: a command
	// Trial says that the acceptance commands of the terms are to run on their base, and nothing else.
	Trial bool `json:"trial,omitempty"`
	// Interactive says that it runs on a terminal, which the operator can join from home.
	Interactive bool `json:"interactive,omitempty"`
	// Feedback is what the worker is told about its earlier attempt, and what the operator has answered since.
	Feedback string `json:"feedback,omitempty"`
	// Signal is the place of the worker in a plan, for its briefing.
	Signal string `json:"signal,omitempty"`
}

// Of encodes the stage of a worker. The hash names all of it.
func Of(w *ledger.Worker) (text []byte, hash string, err error) {
	if err := local(w.Agent); err != nil {
		return nil, "", err
	}
	terms, err := w.Lease.EncodedTerms()
	if err != nil {
		return nil, "", err
	}
	return encode(Assignment{
		Terms: string(terms), Command: w.Command, Agent: w.Agent, Feedback: w.NewAnswers() + w.Feedback, Signal: w.Signal,
		Interactive: w.Options.Interactive,
	})
}

// OfTrial encodes the trial of a worker's result: the terms of the worker, with the commit that is to be tested as their base.
func OfTrial(w *ledger.Worker, commit git.OID) (text []byte, hash string, err error) {
	l := w.Lease.Lease()
	l.Base = commit
	sealed, err := lease.Seal(l)
	if err != nil {
		return nil, "", err
	}
	terms, err := sealed.EncodedTerms()
	if err != nil {
		return nil, "", err
	}
	return encode(Assignment{Terms: string(terms), Command: []string{}, Trial: true})
}

func encode(a Assignment) (text []byte, hash string, err error) {
	a.Schema = Schema
	if text, err = json.Marshal(a); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(text)
	return text, hex.EncodeToString(sum[:]), nil
}

// local refuses a client that needs something of the operator's.
func local(a *ledger.Agent) error {
	if a != nil && (len(a.Servers) > 0 || a.Kept || len(a.Hooks) > 0) {
		return errors.New("MCP servers and hooks of the operator's stay on their machine")
	}
	return nil
}

// Open reads an assignment and its terms.
func Open(text []byte) (a Assignment, terms lease.Terms, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, terms, fmt.Errorf("the assignment cannot be read: %w", err)
	}
	if d.More() {
		return a, terms, errors.New("something follows the assignment")
	}
	if a.Schema != Schema {
		return a, terms, fmt.Errorf("the assignment is in the form %q, not %s", a.Schema, Schema)
	}
	switch {
	case a.Trial && (len(a.Command) > 0 || a.Agent != nil || a.Interactive):
		return a, terms, errors.New("the assignment has a command and a tree to test")
	case !a.Trial && len(a.Command) == 0:
		return a, terms, errors.New("the assignment has no command")
	}
	if err := local(a.Agent); err != nil {
		return a, terms, err
	}
	terms, err = lease.OpenTerms([]byte(a.Terms))
	if err == nil && a.Trial && len(terms.Policy.Acceptance) == 0 {
		err = errors.New("the terms have no acceptance commands")
	}
	return a, terms, err
}
