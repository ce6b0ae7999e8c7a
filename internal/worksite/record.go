package worksite

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"cordon/internal/additive"
	"cordon/internal/lease"
)

// Store writes a record about a worker and returns its hash, which goes into the
// journal. The hash is part of the file's name: a record that the journal does
// not name yet must not take the place of one that it names.
func (s *Site) Store(id lease.ID, name string, value any) (string, error) {
	b, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.State.Worker(string(id)), 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:])
	path := s.recordFile(id, name, hash)
	if err := WriteSynced(path+".new", b); err != nil {
		return "", err
	}
	return hash, os.Rename(path+".new", path)
}

// Load reads a record back and refuses it unless it has the hash that the
// journal gives.
func (s *Site) Load(id lease.ID, name, hash string, into any) error {
	b, err := os.ReadFile(s.recordFile(id, name, hash))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != hash {
		return fmt.Errorf("%s of %s is not what the journal says it was", name, id)
	}
	if err := additive.Decode(b, into); err != nil {
		return fmt.Errorf("%s of %s cannot be read, perhaps because a newer cordon wrote it: %w", name, id, err)
	}
	return nil
}

func (s *Site) recordFile(id lease.ID, name, hash string) string {
	return s.WorkerFile(id, fmt.Sprintf("%s-%.16s.json", strings.TrimSuffix(name, ".json"), hash))
}
