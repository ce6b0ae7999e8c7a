package protocol

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Ticket is a join token, as the home keeps it.
type Ticket struct {
	Secret  []byte
	Expires time.Time
	Used    bool
}

// Token is what the operator pastes on a machine that is to join. Whoever has it before it is
// used can join instead, and no message holds it: a node proves that it has it.
type Token struct {
	Address string `json:"address"` // of the engine
	Cert    string `json:"cert"`    // hexadecimal SHA-256 of the engine's certificate; "": no TLS
	Home    string `json:"home"`    // the home's key
	Fleet   string `json:"fleet"`
	Ticket  string `json:"ticket"`
	Secret  []byte `json:"secret"`
}

const tokenBegins = "cordon-join-"

// String is the token as it is pasted.
func (t Token) String() string {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // it has only texts and bytes
	}
	return tokenBegins + base64.RawURLEncoding.EncodeToString(text)
}

// ParseToken reads a token.
func ParseToken(text string) (Token, error) {
	var t Token
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), tokenBegins)
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil || strict(raw, &t) != nil {
		return Token{}, errors.New("this is not a token of cordon fleet join, or not all of it")
	}
	switch {
	case !nkeys.IsValidPublicUserKey(t.Home), t.Fleet == "", t.Address == "", t.Ticket == "", len(t.Secret) < 16, t.Cert != "" && !isHex(t.Cert, 64):
		return Token{}, errors.New("the token lacks something: copy all of it")
	}
	return t, nil
}

// Join asks to join with the token, as the node with this key.
func (t Token) Join(header Header, key, name string) Join {
	header.Version, header.Fleet, header.Kind = Version, t.Fleet, JoinKind
	m := Join{Header: header, Name: name, Ticket: t.Ticket}
	m.Proof = proof(t.Secret, key, m)
	return m
}

// proof binds a token to the key and the name that join with it. A broker that sees it cannot
// join with it as anybody else.
func proof(secret []byte, key string, m Join) string {
	mac := hmac.New(sha256.New, secret)
	for _, part := range []string{"cordon fleet join", m.Fleet, m.Ticket, key, m.Name} {
		mac.Write([]byte(part + "\n"))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

func (t Ticket) proves(key string, m Join) bool {
	return len(t.Secret) > 0 && hmac.Equal([]byte(proof(t.Secret, key, m)), []byte(m.Proof))
}
