// Package lease binds a policy to one worker, one worktree, one branch, one base
// commit, one target and an expiry.
//
// A lease has two parts. Its Terms hold everywhere: policy, base, target, expiry,
// worker. Its Place is one machine's: paths, home, kind of tree. Each part is encoded and
// hashed by itself. The place names the hash of the terms, so the hash of the place is
// the hash of the lease: there is one lease that has it.
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
	"slices"
	"time"

	"cordon/internal/additive"
	"cordon/internal/policy"
)

// Schema names the encoding of a lease: that of its terms, followed by that of its place.
const Schema = "cordon.lease/2"

// Lease is what a worker was given.
type Lease struct {
	Terms `json:"terms"`
	Place `json:"place"`
}

// Sealed is a lease with its canonical bytes and their hash. Only Seal, Open and
// Recall make one.
type Sealed struct {
	lease Lease
	bytes []byte
	hash  string
	rules policy.Rules
}

// Lease returns both parts. Changing the copy changes nothing.
func (s Sealed) Lease() Lease { return Lease{s.lease.Terms.clone(), s.lease.Place.clone()} }

// Bytes is the canonical encoding.
func (s Sealed) Bytes() []byte { return bytes.Clone(s.bytes) }

// Hash is the hexadecimal SHA-256 of the encoded place, which names that of the terms.
// Leases of an older cordon have no parts: theirs is that of Bytes.
func (s Sealed) Hash() string { return s.hash }

// Rules are the lease's policy, compiled for its worktree.
func (s Sealed) Rules() policy.Rules { return s.rules }

// PolicyHash is the hexadecimal SHA-256 of the policy alone.
func (s Sealed) PolicyHash() string { return sum(s.lease.Policy.YAML()) }

// Expired reports whether the lease has run out.
func (s Sealed) Expired(now time.Time) bool { return !now.Before(s.lease.Expires) }

// Seal checks a lease and fixes it. What its policy says by the name of a preset is
// written out: a later cordon, whose preset may be another list, must not read
// another lease from the same bytes.
func Seal(l Lease) (Sealed, error) {
	l.Policy.Network = l.Policy.Network.Expanded()
	l.Terms.Schema, l.Place.Schema = TermsSchema, PlaceSchema
	terms, err := encode(l.Terms.inUTC())
	if err != nil {
		return Sealed{}, err
	}
	l.Place.Terms = sum(terms)
	return fix(l)
}

// fix checks a lease and fixes it as it is.
func fix(l Lease) (Sealed, error) {
	l.Terms = l.Terms.inUTC()
	if err := l.check(); err != nil {
		return Sealed{}, err
	}
	if err := validate(l.Policy); err != nil {
		return Sealed{}, fmt.Errorf("lease %s: %w", l.ID, err)
	}
	rules, err := l.compile()
	if err != nil {
		return Sealed{}, err
	}
	s := Sealed{lease: l, rules: rules}
	s.lease = s.Lease() // the caller keeps slices of l
	if l.inOneForm() {
		s.bytes, err = encode(l.older())
		s.hash = sum(s.bytes)
		return s, err
	}
	terms, err := encode(l.Terms)
	if err != nil {
		return Sealed{}, err
	}
	place, err := encode(l.Place)
	if err != nil {
		return Sealed{}, err
	}
	s.bytes, s.hash = envelope{Terms: terms, Place: place}.joined(), sum(place)
	return s, nil
}

// inUTC are the terms with their times as they are encoded.
func (t Terms) inUTC() Terms {
	t.Created, t.Expires = t.Created.UTC(), t.Expires.UTC()
	return t
}

// check holds both parts to what they may say, but for the policy.
func (l Lease) check() error {
	if err := l.Terms.check(); err != nil {
		return err
	}
	if err := l.Place.check(l.Policy.Isolation); err != nil {
		return fmt.Errorf("lease %s: %w", l.ID, err)
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

// Open reads a sealed lease back and refuses it unless its bytes are canonical
// and have the given hash.
func Open(b []byte, hash string) (Sealed, error) {
	if s, ok := opened.find(b, hash); ok {
		return s, nil
	}
	s, err := open(b, hash)
	if err == nil {
		opened.keep(s)
	}
	return s, err
}

func open(b []byte, hash string) (Sealed, error) {
	l, known, err := decode(b, hash)
	if err != nil {
		return Sealed{}, err
	}
	s, err := fix(l)
	if err != nil {
		return Sealed{}, err
	}
	if !bytes.Equal(s.bytes, known) {
		return Sealed{}, errNotCanonical
	}
	s.bytes, s.hash = bytes.Clone(b), hash
	return s, nil
}

// envelope is a lease as it is recorded: its two parts, and nothing else.
type envelope struct {
	Schema string          `json:"schema"`
	Terms  json.RawMessage `json:"terms"`
	Place  json.RawMessage `json:"place"`
}

// joined is the encoding of a lease, made of its encoded parts.
func (e envelope) joined() []byte {
	return slices.Concat([]byte(begins+`"terms":`), e.Terms, []byte(`,"place":`), e.Place, []byte("}"))
}

// begins is how the encoding of every lease with two parts begins.
const begins = `{"schema":"` + Schema + `",`

var (
	errNotSealed    = errors.New("the lease does not have the hash it was sealed with")
	errNotCanonical = errors.New("the lease is not in canonical form")
)

// decode reads the bytes that have the hash. They hold one lease, with two parts or as an
// older cordon wrote it, and nothing else. Fields of a part that are not known must be
// additive (package additive): those are kept in the bytes and left out of known.
func decode(b []byte, hash string) (l Lease, known []byte, err error) {
	if !bytes.HasPrefix(b, []byte(begins)) {
		return decodeOlder(b, hash)
	}
	var whole, stripped envelope
	if err := json.Unmarshal(b, &whole); err != nil {
		return Lease{}, nil, fmt.Errorf("the lease cannot be read: %w", err)
	}
	if !bytes.Equal(whole.joined(), b) {
		return Lease{}, nil, errors.New("something comes before the parts of the lease, between them or after them")
	}
	if sum(whole.Place) != hash {
		return Lease{}, nil, errNotSealed
	}
	if stripped.Terms, err = additive.Known(whole.Terms, &l.Terms); err != nil {
		return Lease{}, nil, fmt.Errorf("the terms of the lease cannot be read: %w", err)
	}
	if stripped.Place, err = additive.Known(whole.Place, &l.Place); err != nil {
		return Lease{}, nil, fmt.Errorf("the place of the lease cannot be read: %w", err)
	}
	if l.Terms.Schema != TermsSchema || l.Place.Schema != PlaceSchema {
		return Lease{}, nil, fmt.Errorf("the parts of the lease are in the forms %q and %q, not %s and %s",
			l.Terms.Schema, l.Place.Schema, TermsSchema, PlaceSchema)
	}
	if l.Place.Terms != sum(whole.Terms) {
		return Lease{}, nil, errors.New("the place of the lease names other terms than it comes with")
	}
	known = stripped.joined()
	if len(known) != len(b) { // the additive fields must be in canonical form too
		if exact, err := encode(whole); err != nil || !bytes.Equal(exact, b) {
			return Lease{}, nil, errNotCanonical
		}
	}
	return l, known, nil
}

// encode is the canonical encoding of a value.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
