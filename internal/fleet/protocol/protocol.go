// Package protocol is what a home and its nodes say to each other, and what each believes.
//
// Every message names the version of the protocol and of the program, and its fleet, and is
// signed with the sender's key (nkeys, ed25519). An answer names the question that it
// answers. So a broker in between can lose, repeat and reorder messages, but it cannot make a
// node run anything, forge a result or pass an old answer off as a new one.
//
//	home  Offer   the terms of a stage, to whoever takes it
//	node  Ask     for the grant of an offer; the answer has the fence
//	node  Beat    it still works on the stage; the answer may be to stop
//	node  Result  the manifest of a pack; the answer says whether the home took it
//	node  Want    a pack of the base, without what it has; the answer names the pack
//	node  Fetch   a piece of that pack
//	node  Put     a piece of the pack of its result, before the manifest
//	node  Report  more of what the stage prints, what its worker asks and which rate limits it meets; the answer has the operator's answers
//	node  Listen  for what the operator types on the stage's terminal
//	node  Hello   it is there; the answer says how it stands
//	node  Join    with a proof of the token that the operator gave it
//
// A home decides with Judge from what its journal says (Stage, Member). The number of the
// journal's event that records a grant is the fence: only the holder of the newest fence may
// return a result, and only once. A node decides with Accept and Heed.
//
// The test of a merged tree is a stage too, with an order instead of a command and a verdict instead of a pack. It is
// granted to no node that made the result.
//
// The package is pure. It refuses to append, to send, to read a clock, and to believe a name
// that the engine gives to a sender.
package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/packname"
	"cordon/internal/fleet/trial"
)

// Version is the version of the protocol. A home and a node of other versions tell each
// other so, and do nothing else.
const Version = 1

// Kind is what a message is for.
type Kind string

// The kinds.
const (
	OfferKind  Kind = "offer"
	AskKind    Kind = "ask"
	BeatKind   Kind = "beat"
	ResultKind Kind = "result"
	JoinKind   Kind = "join"
	HelloKind  Kind = "hello"
	WantKind   Kind = "want"
	FetchKind  Kind = "fetch"
	PutKind    Kind = "put"
	ReportKind Kind = "report"
	ListenKind Kind = "listen"
	AnswerKind Kind = "answer"
)

// Questions are the kinds that a node may send.
var Questions = []Kind{AskKind, BeatKind, ResultKind, JoinKind, HelloKind, WantKind, FetchKind, PutKind, ReportKind, ListenKind}

// Header begins every message. Its form never changes: every version reads it.
type Header struct {
	Version int    `json:"version"` // of the protocol
	Program string `json:"program"` // version of the sender's program, for people
	Fleet   string `json:"fleet"`
	Kind    Kind   `json:"kind"`
	Number  string `json:"number"` // random: no two questions are the same
}

// Offer is what a home offers to nodes.
type Offer struct {
	Header
	Lease  string          `json:"lease"`  // the worker's name
	Terms  json.RawMessage `json:"terms"`  // as the home sealed them
	Hash   string          `json:"hash"`   // of the terms
	Until  time.Time       `json:"until"`  // nobody asks for it later
	Repeat int             `json:"repeat"` // how often it was offered before
}

// Ask is a node's question for the grant of an offer.
type Ask struct {
	Header
	Lease string `json:"lease"`
	Hash  string `json:"hash"` // of the terms that it was offered
	Can   Can    `json:"can"`
}

// Beat says that a node still works on a stage.
type Beat struct {
	Header
	Lease string `json:"lease"`
	Fence uint64 `json:"fence"`
	Count uint64 `json:"count"` // of this node's beats for this fence, from 1
}

// Result is the manifest of what a node returns.
type Result struct {
	Header
	Lease  string `json:"lease"`
	Fence  uint64 `json:"fence"`
	Hash   string `json:"hash"`             // of the terms
	Base   string `json:"base"`             // the commit of the terms
	Commit string `json:"commit,omitempty"` // its one commit on top of the base; "": it changed nothing
	Pack   Pack   `json:"pack,omitzero"`
	Exit   int    `json:"exit"`   // of the command
	Ending string `json:"ending"` // in the node's words
	Chain  string `json:"chain"`  // the hash of the lease that the node sealed
	// Verdict is that about a tree that was to be tested. Without one, the node could not test it, and Ending says why.
	Verdict *trial.Verdict `json:"verdict,omitempty"`
	// Limited: the command failed because its provider is asked too often. Older nodes do not say so.
	Limited bool `json:"limited,omitempty"`
}

// Pack names a pack by its content.
type Pack = packname.Name

// Want asks for a pack of the stage's base.
type Want struct {
	Header
	Lease string   `json:"lease"`
	Fence uint64   `json:"fence"`
	Have  []string `json:"have"` // commits that the node has
}

// Fetch asks for a piece of the pack that the answer to Want named.
type Fetch struct {
	Header
	Lease  string `json:"lease"`
	Fence  uint64 `json:"fence"`
	Pack   Pack   `json:"pack"`
	Offset int64  `json:"offset"`
}

// Put brings a piece of the pack of a result.
type Put struct {
	Header
	Lease  string `json:"lease"`
	Fence  uint64 `json:"fence"`
	Pack   Pack   `json:"pack"`
	Offset int64  `json:"offset"`
	Piece  []byte `json:"piece"`
}

// Report brings what a stage printed since the last one, all questions of its worker so far, and all rate limits of its
// provider that its client has met so far.
type Report struct {
	Header
	Lease     string     `json:"lease"`
	Fence     uint64     `json:"fence"`
	Offset    int64      `json:"offset"` // of the piece, in everything that the stage printed
	Piece     []byte     `json:"piece,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	Limits    []string   `json:"limits,omitempty"` // in the client's words
}

// Question is a question of a worker to the operator.
type Question struct {
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
}

// Listen asks for what the operator has typed on the terminal of a stage. The answer is signed and names this
// question, and the count says where it goes on: so nothing is typed that the operator did not type, or twice, or for
// another grant.
type Listen struct {
	Header
	Lease string `json:"lease"`
	Fence uint64 `json:"fence"`
	Heard uint64 `json:"heard"` // strokes that the node has, of this fence
}

// Stroke is what was typed at once, or the size of the terminal on which it is.
type Stroke struct {
	Keys    []byte `json:"keys,omitempty"`
	Rows    uint16 `json:"rows,omitempty"`
	Columns uint16 `json:"columns,omitempty"`
}

// Hello says that a node is there.
type Hello struct {
	Header
	Can Can `json:"can"`
}

// Join asks to become a node.
type Join struct {
	Header
	Name   string `json:"name"`
	Ticket string `json:"ticket"` // which token
	Proof  string `json:"proof"`  // that the sender has it
}

// Answer is what a home answers.
type Answer struct {
	Header
	To      string  `json:"to"` // the hash of the question
	Verdict Verdict `json:"verdict"`
	Say     string  `json:"say"`             // for a person
	Fence   uint64  `json:"fence,omitempty"` // of a grant
	Pack    Pack    `json:"pack,omitzero"`   // to Want
	Piece   []byte  `json:"piece,omitempty"` // to Fetch
	Next    int64   `json:"next,omitempty"`  // to Put and Report: the offset of the next piece
	// Answers are to Report: one for each question, or "" where there is none yet.
	Answers []string `json:"answers,omitempty"`
	// Strokes are to Listen: the next ones.
	Strokes []Stroke `json:"strokes,omitempty"`
}

// Signed is a message as it travels.
type Signed struct {
	Body      json.RawMessage `json:"body"`
	Key       string          `json:"key"`
	Signature []byte          `json:"signature"`
}

// domain keeps signatures of messages apart from those for anything else.
const domain = "cordon fleet message\n"

// Sign encodes and signs a message.
func Sign(message any, key nkeys.KeyPair) ([]byte, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	sig, err := key.Sign(append([]byte(domain), body...))
	if err != nil {
		return nil, err
	}
	return json.Marshal(Signed{Body: body, Key: public, Signature: sig})
}

// Digest names a message as it travels.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// opened is a message whose signature was verified. Nothing else of it is believed yet.
type opened struct {
	Header
	body []byte
	key  string
}

var errUnsigned = errors.New("the message is not signed by the key that it names")

// open verifies the signature of a message and reads its header.
func open(raw []byte) (opened, error) {
	var s Signed
	if err := strict(raw, &s); err != nil {
		return opened{}, err
	}
	if !nkeys.IsValidPublicUserKey(s.Key) {
		return opened{}, errUnsigned
	}
	public, err := nkeys.FromPublicKey(s.Key)
	if err != nil {
		return opened{}, errUnsigned
	}
	if public.Verify(append([]byte(domain), s.Body...), s.Signature) != nil {
		return opened{}, errUnsigned
	}
	o := opened{body: s.Body, key: s.Key}
	return o, json.Unmarshal(s.Body, &o.Header)
}

// strict reads one JSON value with no field that is not known, and nothing after it.
func strict(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("the message cannot be read: %w", err)
	}
	if d.More() {
		return errors.New("something follows the message")
	}
	return nil
}
