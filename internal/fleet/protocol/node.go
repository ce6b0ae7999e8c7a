package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Node is what a node believes: the key of its home, which came with the token that the
// operator gave it.
type Node struct {
	Fleet string
	Home  string // the home's key
	Key   string // its own
}

// Accept reads an offer. It refuses one that its home did not sign, that is for another fleet
// or of another version, that has run out, or whose terms are not those that it names.
func (n Node) Accept(raw []byte, now time.Time) (Offer, error) {
	o, err := n.fromHome(raw, OfferKind)
	if err != nil {
		return Offer{}, err
	}
	var offer Offer
	if err := strict(o.body, &offer); err != nil {
		return Offer{}, err
	}
	sum := sha256.Sum256(offer.Terms)
	switch {
	case hex.EncodeToString(sum[:]) != offer.Hash:
		return Offer{}, errors.New("the offer has other terms than it names")
	case !now.Before(offer.Until):
		return Offer{}, errors.New("the offer has run out")
	}
	return offer, nil
}

// Heed reads the answer to a question. It refuses one that its home did not sign, and one
// to another question.
func (n Node) Heed(raw, question []byte) (Answer, error) {
	o, err := n.fromHome(raw, AnswerKind)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if err := strict(o.body, &a); err != nil {
		return Answer{}, err
	}
	switch {
	case a.To != Digest(question):
		return Answer{}, errors.New("the answer is to another question")
	case (a.Verdict == Granted) != (a.Fence != 0):
		return Answer{}, errors.New("a grant without a fence, or a fence without a grant")
	}
	return a, nil
}

// fromHome opens a message of the home's.
func (n Node) fromHome(raw []byte, kind Kind) (opened, error) {
	o, err := open(raw)
	switch {
	case err != nil:
		return o, err
	case o.key != n.Home:
		return o, errors.New("the message is not the home's")
	case o.Fleet != n.Fleet:
		return o, errors.New("the message is for another fleet")
	case o.Version != Version:
		return o, fmt.Errorf("the home speaks version %d of the protocol (cordon-fleet %s), and this node version %d: update the older one",
			o.Version, o.Program, Version)
	case o.Kind != kind:
		return o, fmt.Errorf("the message is of the kind %q, not %q", o.Kind, kind)
	}
	return o, nil
}
