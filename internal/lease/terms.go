package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/additive"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// TermsSchema names the encoding of terms.
const TermsSchema = "cordon.terms/1"

// Terms say who may do what, from where, for which branch and until when. They hold on
// every machine. Their canonical encoding is the compact JSON of these fields in this order.
type Terms struct {
	Schema   string        `json:"schema"`
	ID       ID            `json:"id"`
	Branch   string        `json:"branch"` // short name, in the worker's own repository
	Base     git.OID       `json:"base"`
	Target   string        `json:"target"` // full ref name in the host repository
	Created  time.Time     `json:"created"`
	Expires  time.Time     `json:"expires"`
	Executed []string      `json:"executed"` // tracked paths that the operator's git runs or reads: denied
	Source   string        `json:"policy_source"`
	Policy   policy.Policy `json:"policy"`

	// ExecutedBy says of paths in Executed which setting of the operator's names them.
	ExecutedBy map[string]string `json:"executed_by,omitempty"`
}

// clone shares no list with the terms that it is a copy of.
func (t Terms) clone() Terms {
	p := &t.Policy
	for _, list := range []*[]string{
		&p.Filesystem.WriteRoots, &p.Filesystem.ReadRoots, &p.Filesystem.DenyRead, &p.Filesystem.DenyWrite,
		&t.Executed, &p.Filesystem.Scratch, &p.Network.AllowedDomains, &p.Secrets, &p.Acceptance, &p.Setup,
		&p.Agent.Instructions, &p.Agent.Skills, &p.Agent.Agents, &p.Agent.Commands, &p.Agent.MCP,
	} {
		*list = slices.Clone(*list)
	}
	p.Network.HostPorts, p.Network.Publish = slices.Clone(p.Network.HostPorts), slices.Clone(p.Network.Publish)
	p.Agent.Args, p.AcceptancePaths = maps.Clone(p.Agent.Args), maps.Clone(p.AcceptancePaths)
	t.ExecutedBy = maps.Clone(t.ExecutedBy)
	return t
}

// effective is the policy with what the host adds to its denies.
func (t Terms) effective() policy.Policy {
	p := t.Policy
	p.Filesystem.DenyWrite = slices.Concat(p.Filesystem.DenyWrite, t.Executed)
	return p
}

// check holds the terms to what they may say, but for their policy.
func (t Terms) check() error {
	for _, check := range termChecks {
		if err := check(t); err != nil {
			return fmt.Errorf("lease %s: %w", t.ID, err)
		}
	}
	return nil
}

var termChecks = []func(Terms) error{
	func(t Terms) error { return t.ID.check() },
	func(t Terms) error { return recordable(t.Branch, t.Target, t.Source) },
	func(t Terms) error { _, err := git.ParseOID(string(t.Base)); return err },
	func(t Terms) error {
		if !strings.HasPrefix(t.Target, "refs/heads/") {
			return fmt.Errorf("target %q is not a branch", t.Target)
		}
		return nil
	},
	func(t Terms) error {
		if t.Branch == "" {
			return errors.New("no branch")
		}
		return nil
	},
	func(t Terms) error {
		if !t.Expires.After(t.Created) {
			return errors.New("it expires before it begins")
		}
		return nil
	},
}

// recordable refuses texts that are not UTF-8: the encoding would replace them, so that
// the lease that is read back is another one.
func recordable(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not valid UTF-8: cordon cannot record it", text)
		}
	}
	return nil
}

// EncodedTerms are the terms of a lease as they were sealed. Leases of an older cordon have
// none.
func (s Sealed) EncodedTerms() ([]byte, error) {
	if s.lease.inOneForm() {
		return nil, errors.New("the lease was sealed before terms were apart from their place")
	}
	var parts envelope
	if err := json.Unmarshal(s.bytes, &parts); err != nil {
		return nil, err
	}
	return parts.Terms, nil
}

// OpenTerms reads terms that another machine has sealed. They name no place yet.
func OpenTerms(b []byte) (Terms, error) {
	var t Terms
	known, err := additive.Known(b, &t)
	switch {
	case err != nil:
		return Terms{}, fmt.Errorf("the terms cannot be read: %w", err)
	case t.Schema != TermsSchema:
		return Terms{}, fmt.Errorf("the terms are in the form %q, not %s", t.Schema, TermsSchema)
	}
	if exact, err := encode(t.inUTC()); err != nil || !bytes.Equal(exact, known) {
		return Terms{}, errors.New("the terms are not in canonical form")
	}
	if err := t.check(); err != nil {
		return Terms{}, err
	}
	return t, t.Policy.Validate()
}
