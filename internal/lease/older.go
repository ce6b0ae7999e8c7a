package lease

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"cordon/internal/additive"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// olderSchema names the encoding of leases before they had two parts.
const olderSchema = "cordon.lease/1"

// older is a lease as it was encoded then: both parts in one, with these fields in this
// order, and its hash is that of all of it. It is read and never written.
type older struct {
	Schema     string            `json:"schema"`
	ID         ID                `json:"id"`
	Worktree   string            `json:"worktree"`
	Adopted    bool              `json:"adopted"`
	Branch     string            `json:"branch"`
	Base       git.OID           `json:"base"`
	Target     string            `json:"target"`
	Created    time.Time         `json:"created"`
	Expires    time.Time         `json:"expires"`
	Home       string            `json:"home"`
	Fold       bool              `json:"fold"`
	Executed   []string          `json:"executed"`
	Source     string            `json:"policy_source"`
	Policy     policy.Policy     `json:"policy"`
	Tree       Tree              `json:"tree,omitempty"`
	ExecutedBy map[string]string `json:"executed_by,omitempty"`
}

// inOneForm reports whether a lease was read from the older form.
func (l Lease) inOneForm() bool { return l.Terms.Schema == olderSchema }

// older is the lease in that form.
func (l Lease) older() older {
	return older{
		Schema: olderSchema, ID: l.ID, Worktree: l.Worktree, Adopted: l.Adopted, Branch: l.Branch, Base: l.Base, Target: l.Target,
		Created: l.Created, Expires: l.Expires, Home: l.Home, Fold: l.Fold, Executed: l.Executed, Source: l.Source,
		Policy: l.Policy, Tree: l.Tree, ExecutedBy: l.ExecutedBy,
	}
}

// parts are the terms and the place that it held. The place names no terms.
func (o older) parts() Lease {
	return Lease{
		Terms{
			Schema: olderSchema, ID: o.ID, Branch: o.Branch, Base: o.Base, Target: o.Target, Created: o.Created, Expires: o.Expires,
			Executed: o.Executed, Source: o.Source, Policy: o.Policy, ExecutedBy: o.ExecutedBy,
		},
		Place{Schema: olderSchema, Worktree: o.Worktree, Adopted: o.Adopted, Home: o.Home, Fold: o.Fold, Tree: o.Tree},
	}
}

// decodeOlder is decode for the older form.
func decodeOlder(b []byte, hash string) (Lease, []byte, error) {
	if sum(b) != hash {
		return Lease{}, nil, errNotSealed
	}
	if !bytes.HasPrefix(b, []byte("{")) || !bytes.HasSuffix(b, []byte("}")) {
		return Lease{}, nil, errors.New("something comes before the lease or follows it")
	}
	var o older
	known, err := additive.Known(b, &o)
	if err != nil {
		return Lease{}, nil, fmt.Errorf("the lease cannot be read: %w", err)
	}
	if o.Schema != olderSchema {
		return Lease{}, nil, fmt.Errorf("the lease is in the form %q, not %s", o.Schema, Schema)
	}
	return o.parts(), known, nil
}
