package state

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// sumKey is what the sum of a file is kept under, beside the versions of programs.
func sumKey(path string) string { return "sha256 " + path }

// Sum is the SHA-256 of a file. That of a file which is the same as when it was last read is
// remembered: a program is large, and every launch wants to know its sum.
func Sum(path string) (string, error) {
	return remembered(sumKey(path), path, func() (string, error) { return SumOf(path) })
}

// KeepSum says that a file still has a sum, after its caller gave it another name: that changes one of
// the times by which a file is known.
func KeepSum(path, sum string) {
	at, known := saidAt(), map[string]said{}
	if file := identity(path); file != "" && at != "" {
		readSaid(at, &known)
		known[sumKey(path)] = said{file, sum}
		keepSaid(at, known)
	}
}

// SumOf reads a file for its SHA-256.
func SumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
