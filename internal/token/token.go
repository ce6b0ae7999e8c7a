// Package token keeps the tokens of the HTTP interface in a file of the state directory, which
// no cell sees. Only their SHA-256 is kept: who reads the file cannot use them.
//
// It refuses a file that others can read, and a token whose scopes it does not know.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/fault"
	"cordon/internal/plainfile"
	"cordon/internal/state"
	"cordon/internal/view"
)

// File is the name of the file in the directory of the server.
const File = "tokens.json"

// Prefix begins every token, so that a scanner for secrets knows it.
const Prefix = "cordon_"

const (
	secretBytes = 32
	mostTokens  = 1000
	mostName    = 64
)

// Token is one of the file.
type Token struct {
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created"`
	Hash    string    `json:"sha256"`
}

// May reports whether the token is good for something.
func (t Token) May(scope string) bool { return slices.Contains(t.Scopes, scope) }

// Store holds the tokens of a repository.
type Store struct {
	State state.Dir
	Dir   string // in the state
}

func (s Store) file() string { return filepath.Join(s.Dir, File) }

// List reads all tokens.
func (s Store) List() ([]Token, error) {
	f, err := plainfile.Open(s.file(), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Mode().Perm()&0o077 != 0 {
		return nil, errors.Join(err, fmt.Errorf("%s can be read by others: chmod 600, and make new tokens", s.file()))
	}
	text, err := plainfile.Bounded(f, 1<<20)
	if err != nil {
		return nil, err
	}
	var list []Token
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", s.file(), err)
	}
	return list, nil
}

// Find is the token that a caller shows, if it is one.
func (s Store) Find(secret string) (Token, bool, error) {
	list, err := s.List()
	if err != nil || !strings.HasPrefix(secret, Prefix) {
		return Token{}, false, err
	}
	sum := []byte(hash(secret))
	for _, t := range list {
		if subtle.ConstantTimeCompare(sum, []byte(t.Hash)) == 1 {
			return t, true, nil
		}
	}
	return Token{}, false, nil
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// New makes a token. Its secret is returned and not kept.
func (s Store) New(name string, scopes []string, now time.Time) (Token, string, error) {
	if err := check(name, scopes); err != nil {
		return Token{}, "", err
	}
	raw := make([]byte, secretBytes)
	if _, err := rand.Read(raw); err != nil {
		return Token{}, "", err
	}
	secret := Prefix + base64.RawURLEncoding.EncodeToString(raw)
	t := Token{Name: name, Scopes: scopes, Created: now.UTC(), Hash: hash(secret)}
	err := s.change(func(list []Token) ([]Token, error) {
		switch {
		case slices.ContainsFunc(list, func(o Token) bool { return o.Name == name }):
			return nil, mistake("there is already a token %s: cordon token rm %s removes it", name, name)
		case len(list) >= mostTokens:
			return nil, mistake("there are already %d tokens", len(list))
		}
		return append(list, t), nil
	})
	return t, secret, err
}

// check refuses a name that is not a plain word, and scopes that do not exist.
func check(name string, scopes []string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
	}
	if name == "" || len(name) > mostName || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return mistake("%q is no name for a token: letters, digits, dots and dashes, at most %d", name, mostName)
	}
	if len(scopes) == 0 {
		return mistake("a token needs a scope: %s", strings.Join(view.Scopes(), ", "))
	}
	for i, scope := range scopes {
		if !slices.Contains(view.Scopes(), scope) {
			return mistake("there is no scope %q: %s", scope, strings.Join(view.Scopes(), ", "))
		}
		if slices.Contains(scopes[:i], scope) {
			return mistake("the scope %s is named twice", scope)
		}
	}
	return nil
}

func mistake(format string, args ...any) error {
	return &fault.MistakeError{Err: fmt.Errorf(format, args...)}
}

// Remove ends a token. Requests with it are refused from then on.
func (s Store) Remove(name string) error {
	return s.change(func(list []Token) ([]Token, error) {
		rest := slices.DeleteFunc(slices.Clone(list), func(o Token) bool { return o.Name == name })
		if len(rest) == len(list) {
			return nil, mistake("there is no token %q: cordon token ls lists them", name)
		}
		return rest, nil
	})
}

// change writes the file anew while nobody else does.
func (s Store) change(act func([]Token) ([]Token, error)) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	name, err := filepath.Rel(s.State.Path(), filepath.Join(s.Dir, "tokens.lock"))
	if err != nil {
		return err
	}
	release, err := s.State.Lock(name, true)
	if err != nil {
		return err
	}
	defer release()
	list, err := s.List()
	if err != nil {
		return err
	}
	if list, err = act(list); err != nil {
		return err
	}
	return s.write(list)
}

// write replaces the file at once. It is private from its first moment on.
func (s Store) write(list []Token) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Dir, File+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), s.file())
	}
	if err != nil {
		_ = os.Remove(f.Name()) // made just now
	}
	return err
}
