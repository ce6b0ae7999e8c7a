package state

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// agreedFile remembers with which directory the operator agreed to share, by its path. It
// lies beside the repositories, where no worker reads or writes.
const agreedFile = "agreed.json"

// Agree remembers that the directory at a path is the one that the operator means.
func Agree(dir string) error {
	root, err := RealRoot()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	at := filepath.Join(root, agreedFile)
	known := agreedWith(at)
	known[dir] = made(dir)
	return writeOwn(at, known)
}

// Replaced reports whether a path has another directory now than the one that the operator
// meant: another repository was put in its place. One that nobody has asked about before is
// the one that they mean. Where the file system does not say when a directory was made,
// it is known by its path only.
func Replaced(dir string) bool {
	root, err := RealRoot()
	if err != nil {
		return false
	}
	now := made(dir)
	then, ok := agreedWith(filepath.Join(root, agreedFile))[dir]
	if !ok && now != "" {
		_ = Agree(dir) // the next time it is asked about as for the first time
	}
	return ok && then != "" && now != then
}

func agreedWith(at string) map[string]string {
	known := map[string]string{}
	if text, err := readOwn(at); err != nil || json.Unmarshal(text, &known) != nil || known == nil {
		return map[string]string{}
	}
	return known
}
