// Package packname names a pack by its content. It is apart from package pack so that the
// protocol, which is pure, can carry the name, and so that cordon can read a result without
// linking what a fleet needs.
//
// It refuses a name that is not the sum of something, because the name becomes that of a file.
package packname

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Name is what a pack is: everybody who has the name can tell whether they have the pack.
type Name struct {
	Sum  string `json:"sum"` // hexadecimal SHA-256
	Size int64  `json:"size"`
}

// Check refuses what is not the name of a pack.
func (n Name) Check() error {
	raw, err := hex.DecodeString(n.Sum)
	if err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != n.Sum || n.Size <= 0 {
		return errors.New("this is not the name of a pack")
	}
	return nil
}
