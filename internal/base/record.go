package base

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// formatVersion is the version of what is kept. Another one is not read but made again.
const formatVersion = 1

// record is base.json: what a base is.
type record struct {
	Format     int       `json:"format"`
	Key        string    `json:"key"`
	Below      string    `json:"below,omitempty"`     // the base that it lies on
	BelowSum   string    `json:"below_sum,omitempty"` // the sum of that base's record: made again, it is another
	From       string    `json:"from,omitempty"`      // the base that it began as a snapshot of
	Depth      int       `json:"depth"`               // how many layers there are in all
	Files      int       `json:"files"`               // of the whole tree, without submodules
	Changes    int       `json:"changes,omitempty"`   // against the base below, or the one that it began as
	Submodules [][]byte  `json:"submodules,omitempty"`
	Tree       string    `json:"tree"`   // the sum of tree/
	Index      string    `json:"index"`  // the sum of index/
	Bytes      int64     `json:"bytes"`  // on disk, with what a snapshot shares
	Newest     int64     `json:"newest"` // the latest time of a file in any layer, in seconds
	Made       time.Time `json:"made"`
	Sum        string    `json:"sum"` // of all of the above
}

// encode seals a record and writes it in the only form in which it is read.
func (r *record) encode() ([]byte, error) {
	r.Sum = ""
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	r.Sum = hex.EncodeToString(sum[:])
	text, err = json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// decode reads a record that encode wrote, and no other.
func decode(text []byte) (record, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, err
	}
	if r.Format != formatVersion {
		return record{}, fmt.Errorf("format %d, want %d", r.Format, formatVersion)
	}
	again := r
	want, err := again.encode()
	if err != nil {
		return record{}, err
	}
	if !bytes.Equal(text, want) {
		return record{}, errors.New("its checksum is wrong")
	}
	return r, nil
}

// read returns the record of a base.
func (s Store) read(key string) (record, error) {
	if _, err := git.ParseOID(key); err != nil {
		return record{}, err
	}
	dir := s.State.Base(key)
	if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() || fi.Mode().Perm() != 0o700 {
		return record{}, broken(key, "it is missing, or is not a directory that only you can write", err)
	}
	text, err := plainfile.Read(filepath.Join(dir, "base.json"), plainfile.Text)
	if err != nil {
		return record{}, broken(key, "its record", err)
	}
	r, err := decode(text)
	if err != nil {
		return record{}, &DamageError{key, fmt.Sprintf("its record: %v", err)}
	}
	if r.Key != key {
		return record{}, &DamageError{key, "its record belongs to another base"}
	}
	return r, nil
}

// chain is a base and all that it lies on, topmost first.
type chain []record

// load reads the records of a base and of all that it lies on.
func (s Store) load(key string) (chain, error) {
	top, err := s.read(key)
	if err != nil {
		return nil, err
	}
	c := chain{top}
	for last := top; last.Below != ""; last = c[len(c)-1] {
		below, err := s.read(last.Below)
		if err != nil {
			return nil, err
		}
		if below.Sum != last.BelowSum || below.Depth != last.Depth-1 {
			return nil, &DamageError{last.Key, "the base below it was rebuilt"}
		}
		c = append(c, below)
	}
	if top.Depth != len(c) || top.Depth > maxDepth {
		return nil, &DamageError{key, fmt.Sprintf("it has %d layers, but its record says %d", len(c), top.Depth)}
	}
	return c, nil
}

// broken turns an error of looking at a base into damage, except where it says
// something about this process and nothing about the base.
func broken(key, what string, err error) error {
	for _, ours := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM} {
		if errors.Is(err, ours) {
			return err
		}
	}
	if err == nil {
		return &DamageError{key, what}
	}
	return &DamageError{key, fmt.Sprintf("%s: %v", what, err)}
}
