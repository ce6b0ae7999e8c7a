// Package lease binds a policy to one worker, one worktree, one branch, one base
// commit, one target and an expiry.
//
// A lease is sealed once, before anything runs, and written to the journal;
// every later step reads it from there. The package refuses to change a lease
// and to read one from anywhere a worker can write: there is no function that
// takes a path. Amending a policy (quarantine release) makes a new lease.
package lease

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/additive"
	"cordon/internal/git"
	"cordon/internal/policy"
)

// Schema names the encoding of a lease.
const Schema = "cordon.lease/1"

// Lease is what a worker was given. Its canonical encoding is the compact JSON
// of these fields in this order.
type Lease struct {
	Schema   string        `json:"schema"`
	ID       ID            `json:"id"`
	Worktree string        `json:"worktree"` // absolute, symlinks resolved
	Adopted  bool          `json:"adopted"`  // the worktree was made by another tool
	Branch   string        `json:"branch"`   // short name, in the worker's own repository
	Base     git.OID       `json:"base"`
	Target   string        `json:"target"` // full ref name in the host repository
	Created  time.Time     `json:"created"`
	Expires  time.Time     `json:"expires"`
	Home     string        `json:"home"`     // what ~ stands for in the policy
	Fold     bool          `json:"fold"`     // the worktree's file system folds case
	Executed []string      `json:"executed"` // tracked paths that the operator's git runs or reads: denied
	Source   string        `json:"policy_source"`
	Policy   policy.Policy `json:"policy"`
	Tree     Tree          `json:"tree,omitempty"`

	// ExecutedBy says of paths in Executed which setting of the operator's names them.
	ExecutedBy map[string]string `json:"executed_by,omitempty"`
}

// Tree is the kind of a worktree.
type Tree string

// The kinds. Leases of an older cordon name none: theirs are plain directories.
const (
	Plain   Tree = ""        // a directory of its own
	Layered Tree = "overlay" // copied on write, above a checkout that many share
)

// Sealed is a lease with its canonical bytes and their SHA-256. Only Seal, Open
// and Recall make one.
type Sealed struct {
	lease Lease
	bytes []byte
	hash  string
	rules policy.Rules
}

// Lease returns the terms. Changing the copy changes nothing.
func (s Sealed) Lease() Lease {
	l := s.lease
	p := &l.Policy
	for _, list := range []*[]string{
		&p.Filesystem.WriteRoots, &p.Filesystem.ReadRoots, &p.Filesystem.DenyRead, &p.Filesystem.DenyWrite,
		&l.Executed, &p.Filesystem.Scratch, &p.Network.AllowedDomains, &p.Secrets, &p.Acceptance, &p.Setup,
	} {
		*list = slices.Clone(*list)
	}
	p.Network.HostPorts = slices.Clone(p.Network.HostPorts)
	l.ExecutedBy = maps.Clone(l.ExecutedBy)
	return l
}

// Bytes is the canonical encoding.
func (s Sealed) Bytes() []byte { return bytes.Clone(s.bytes) }

// Hash is the hexadecimal SHA-256 of Bytes.
func (s Sealed) Hash() string { return s.hash }

// Rules are the lease's policy, compiled for its worktree.
func (s Sealed) Rules() policy.Rules { return s.rules }

// PolicyHash is the hexadecimal SHA-256 of the policy alone.
func (s Sealed) PolicyHash() string {
	sum := sha256.Sum256(s.lease.Policy.YAML())
	return hex.EncodeToString(sum[:])
}

// Expired reports whether the lease has run out.
func (s Sealed) Expired(now time.Time) bool { return !now.Before(s.lease.Expires) }

// Seal checks a lease and fixes it. What its policy says by the name of a preset is
// written out: a later cordon, whose preset may be another list, must not read
// another lease from the same bytes.
func Seal(l Lease) (Sealed, error) {
	l.Policy.Network = l.Policy.Network.Expanded()
	return fix(l)
}

// fix checks a lease and fixes it as it is.
func fix(l Lease) (Sealed, error) {
	l.Schema = Schema
	l.Created, l.Expires = l.Created.UTC(), l.Expires.UTC()
	if err := l.check(); err != nil {
		return Sealed{}, err
	}
	if err := l.Policy.Validate(); err != nil {
		return Sealed{}, fmt.Errorf("lease %s: %w", l.ID, err)
	}
	rules, err := l.compile()
	if err != nil {
		return Sealed{}, err
	}
	b, err := encode(l)
	if err != nil {
		return Sealed{}, err
	}
	sum := sha256.Sum256(b)
	s := Sealed{lease: l, bytes: b, hash: hex.EncodeToString(sum[:]), rules: rules}
	s.lease = s.Lease() // the caller keeps slices of l
	return s, nil
}

// check holds the terms to what a lease may say, but for its policy.
func (l Lease) check() error {
	for _, check := range checks {
		if err := check(l); err != nil {
			return fmt.Errorf("lease %s: %w", l.ID, err)
		}
	}
	return nil
}

// compile makes the rules that hold for the worktree.
func (l Lease) compile() (policy.Rules, error) {
	rules, err := policy.Compile(l.effective(), policy.Location{Worktree: l.Worktree, Home: l.Home, Fold: l.Fold})
	if err != nil {
		return policy.Rules{}, fmt.Errorf("lease %s: %w", l.ID, err)
	}
	return rules.Explained(l.ExecutedBy), nil
}

// effective is the policy with what the host adds to its denies.
func (l Lease) effective() policy.Policy {
	p := l.Policy
	p.Filesystem.DenyWrite = slices.Concat(p.Filesystem.DenyWrite, l.Executed)
	return p
}

// Open reads a sealed lease back and refuses it unless its bytes are canonical
// and have the given hash.
func Open(b []byte, hash string) (Sealed, error) {
	l, known, err := decode(b, hash)
	if err != nil {
		return Sealed{}, err
	}
	s, err := fix(l)
	if err != nil {
		return Sealed{}, err
	}
	if !bytes.Equal(s.bytes, known) {
		return Sealed{}, errors.New("the lease is not in canonical form")
	}
	s.bytes, s.hash = bytes.Clone(b), hash
	return s, nil
}

// decode reads the bytes that have the hash. They hold one lease, of this schema, and
// nothing after it. Fields that are not known must be additive (package additive): those
// are kept in the bytes and left out of known.
func decode(b []byte, hash string) (l Lease, known []byte, err error) {
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != hash {
		return Lease{}, nil, errors.New("the lease does not have the hash it was sealed with")
	}
	if !bytes.HasPrefix(b, []byte("{")) || !bytes.HasSuffix(b, []byte("}")) {
		return Lease{}, nil, errors.New("something comes before the lease or follows it")
	}
	if known, err = additive.Known(b, &l); err != nil {
		return Lease{}, nil, fmt.Errorf("the lease cannot be read: %w", err)
	}
	if l.Schema != Schema {
		return Lease{}, nil, fmt.Errorf("the lease is in the form %q, not %s", l.Schema, Schema)
	}
	return l, known, nil
}

func encode(l Lease) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

var checks = []func(Lease) error{
	func(l Lease) error { return l.ID.check() },
	func(l Lease) error {
		for _, p := range []string{l.Worktree, l.Home} {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p {
				return fmt.Errorf("%q is not an absolute, clean path", p)
			}
		}
		return nil
	},
	// The encoding would replace what is not UTF-8, so that the lease that is
	// read back is another one.
	func(l Lease) error {
		for _, text := range []string{l.Worktree, l.Home, l.Branch, l.Target, l.Source} {
			if !utf8.ValidString(text) {
				return fmt.Errorf("%q is not valid UTF-8: cordon cannot record it", text)
			}
		}
		return nil
	},
	func(l Lease) error { _, err := git.ParseOID(string(l.Base)); return err },
	func(l Lease) error {
		if !strings.HasPrefix(l.Target, "refs/heads/") {
			return fmt.Errorf("target %q is not a branch", l.Target)
		}
		return nil
	},
	func(l Lease) error {
		if l.Branch == "" {
			return errors.New("no branch")
		}
		return nil
	},
	func(l Lease) error {
		if !l.Expires.After(l.Created) {
			return errors.New("it expires before it begins")
		}
		return nil
	},
	func(l Lease) error {
		if l.Tree != Plain && (l.Tree != Layered || l.Adopted || l.Policy.Isolation == policy.None) {
			return fmt.Errorf("a worktree of the kind %q cannot be had here", l.Tree)
		}
		return nil
	},
}
