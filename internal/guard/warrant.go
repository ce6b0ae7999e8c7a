package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"cordon/internal/lease"
)

// WarrantSchema names the encoding of a warrant.
const WarrantSchema = "cordon.warrant/1"

// Warrant is what a hook is started with: a sealed lease, and what only the
// operator's side knows about the machine. It lies where the worker cannot write;
// the guard believes nothing else.
type Warrant struct {
	Schema   string          `json:"schema"`
	Lease    json.RawMessage `json:"lease"`
	Hash     string          `json:"hash"`
	Hosts    []string        `json:"hosts"`              // the operator's checkout and git directory
	State    string          `json:"state"`              // cordon's own state
	Private  bool            `json:"private_git"`        // the tree's git state is the worker's alone
	Confined bool            `json:"confined"`           // it is for a worker in a cell
	Journal  string          `json:"journal,omitempty"`  // where decisions are written, one line each
	Packages []string        `json:"packages,omitempty"` // where package managers keep what they download, but for the usual places
	Post     string          `json:"post,omitempty"`     // or the directory of the socket that they are sent to instead
}

// NewWarrant is a warrant for a lease.
func NewWarrant(s lease.Sealed) Warrant {
	return Warrant{Schema: WarrantSchema, Lease: s.Bytes(), Hash: s.Hash(), Hosts: []string{}}
}

// ReadWarrant reads a warrant back, strictly: it must be what is written for the
// same terms. encoding/json takes the last of two equal keys, and HOSTS for hosts;
// who could add one would have a warrant that says something else to a reader.
func ReadWarrant(b []byte) (Warrant, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var w Warrant
	if err := dec.Decode(&w); err != nil {
		return Warrant{}, fmt.Errorf("the warrant cannot be read: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Warrant{}, errors.New("the warrant has extra text after its end")
	}
	if err := w.check(b); err != nil {
		return Warrant{}, err
	}
	return w, nil
}

// check holds a warrant to its schema and to the bytes it was read from. Where
// decisions go is checked here already: a lease that has run out is recorded too.
func (w Warrant) check(b []byte) error {
	if w.Schema != WarrantSchema {
		return fmt.Errorf("the warrant is a %q, not a %q", w.Schema, WarrantSchema)
	}
	var given, ours bytes.Buffer
	enc := json.NewEncoder(&ours)
	enc.SetEscapeHTML(false)
	if err := errors.Join(json.Compact(&given, b), enc.Encode(w)); err != nil {
		return fmt.Errorf("the warrant cannot be read: %w", err)
	}
	if !bytes.Equal(given.Bytes(), bytes.TrimSuffix(ours.Bytes(), []byte("\n"))) {
		return errors.New("the warrant is not in the form that cordon writes: a field is repeated or spelled differently")
	}
	for _, p := range []string{w.Journal, w.Post} {
		if p == "" {
			continue
		}
		if err := plainPlace(p); err != nil {
			return err
		}
	}
	return nil
}

func plainPlace(p string) error {
	if !path.IsAbs(p) || path.Clean(p) != p || p == "/" {
		return fmt.Errorf("the warrant names %q, which is not an absolute, clean path", p)
	}
	return nil
}

// clockSlack is how far two clocks that matter to a lease may differ.
const clockSlack = 5 * time.Minute

// Scope is where the lease of a warrant lets a worker be, now.
func (w Warrant) Scope(now time.Time) (*Scope, error) {
	sealed, err := lease.Recall(w.Lease, w.Hash)
	if err != nil {
		return nil, err
	}
	if sealed.Expired(now) {
		return nil, fmt.Errorf("the lease of %s has expired", sealed.Lease().ID)
	}
	l := sealed.Lease()
	if now.Before(l.Created.Add(-clockSlack)) {
		return nil, fmt.Errorf("the lease of %s has not begun", l.ID)
	}
	for _, p := range slices.Concat([]string{w.State}, w.Hosts, w.Packages) {
		if err := plainPlace(p); err != nil {
			return nil, err
		}
	}
	return &Scope{
		Worktree: l.Worktree, Hosts: w.Hosts, State: w.State, Home: l.Home, Branch: l.Branch, Target: l.Target,
		Post: w.Post, Private: w.Private, Confined: w.Confined, Fold: l.Fold, Packages: w.Packages,
		Web: l.Policy.Agent.Web, Guard: l.Policy.Guard, Rules: sealed.Rules(),
	}, nil
}
