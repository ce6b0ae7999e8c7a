package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// OID is the full hexadecimal name of an object.
type OID string

// ParseOID accepts a full object name only.
func ParseOID(s string) (OID, error) {
	if len(s) != 40 && len(s) != 64 {
		return "", fmt.Errorf("not an object name: %q", s)
	}
	if strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("not an object name: %q", s)
	}
	return OID(s), nil
}

// Short is for people.
func (o OID) Short() string { return string(o[:min(len(o), 10)]) }

// IsZero reports whether o is empty or the all-zero name.
func (o OID) IsZero() bool { return strings.Trim(string(o), "0") == "" }

// Format is an object format.
type Format string

// The formats git has.
const (
	SHA1   Format = "sha1"
	SHA256 Format = "sha256"
)

// NewHash returns the hash of the format.
func (f Format) NewHash() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// Zero is the all-zero name of the format.
func (f Format) Zero() OID {
	return OID(strings.Repeat("0", 2*f.NewHash().Size()))
}

// BlobHash starts the hash of a blob of size bytes; write the content to it.
func (f Format) BlobHash(size int64) hash.Hash {
	h := f.NewHash()
	h.Write([]byte("blob " + strconv.FormatInt(size, 10) + "\x00"))
	return h
}

// Blob hashes content held in memory.
func (f Format) Blob(content []byte) OID {
	h := f.BlobHash(int64(len(content)))
	h.Write(content)
	return OID(fmt.Sprintf("%x", h.Sum(nil)))
}

// Mode is the mode of a tree entry.
type Mode uint32

// The only modes a tree may hold.
const (
	Absent     Mode = 0
	Regular    Mode = 0o100644
	Executable Mode = 0o100755
	Symlink    Mode = 0o120000
	Gitlink    Mode = 0o160000
	Directory  Mode = 0o040000
)

func (m Mode) String() string { return fmt.Sprintf("%06o", uint32(m)) }

// MarshalText writes the mode as git does.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Mode) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 8, 32)
	*m = Mode(n)
	return err
}

// Entry is what a tree holds at a path.
type Entry struct {
	Mode Mode `json:"mode"`
	OID  OID  `json:"oid,omitempty"`
}

// File is an entry with its path from the top of the tree. Paths are raw bytes:
// nothing says that they are valid UTF-8.
type File struct {
	Path string `json:"path"`
	Entry
}

// Delta is one path that differs between two trees.
type Delta struct {
	Path     string
	Old, New Entry
}

// CommitDelta is what one commit changed against one of its parents.
type CommitDelta struct {
	Commit OID
	Deltas []Delta
}
