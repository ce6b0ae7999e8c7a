package deskweb

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"sync"
	"time"
)

// inviteTime is how long a one-time token is good.
const inviteTime = time.Minute

// keys are the tokens of a desk. They are in memory only, as hashes.
type keys struct {
	now func() time.Time

	mu      sync.Mutex
	invites map[[sha256.Size]byte]time.Time // until when
	bearers [][sha256.Size]byte
}

func newKeys(now func() time.Time) *keys {
	return &keys{now: now, invites: map[[sha256.Size]byte]time.Time{}}
}

// secret is 128 bits as text.
func secret() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// invite makes a token that is good once.
func (k *keys) invite() string {
	token := secret()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.invites[sha256.Sum256([]byte(token))] = k.now().Add(inviteTime)
	return token
}

// admit takes a one-time token and makes the bearer token of a page.
func (k *keys) admit(token string) (bearer string, ok bool) {
	sum := sha256.Sum256([]byte(token))
	k.mu.Lock()
	defer k.mu.Unlock()
	until, known := k.invites[sum]
	delete(k.invites, sum)
	if !known || !k.now().Before(until) {
		return "", false
	}
	bearer = secret()
	k.bearers = append(k.bearers, sha256.Sum256([]byte(bearer)))
	return bearer, true
}

// knows reports whether a bearer token is one of a page.
func (k *keys) knows(bearer string) bool {
	sum := sha256.Sum256([]byte(bearer))
	k.mu.Lock()
	defer k.mu.Unlock()
	found := 0
	for _, b := range k.bearers {
		found |= subtle.ConstantTimeCompare(b[:], sum[:])
	}
	return found == 1
}
