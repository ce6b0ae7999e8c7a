// Package cache keeps what landed runs wrote into caches, for the next worker of the same
// repository, policy and client: directories that are shown below the layers of that
// worker, and that nobody writes again.
//
// Each landing makes a generation of its own, complete or not at all: the files that the
// run left in its caches, and those that it found there and did not remove. It shares
// their data with what it was made from. The newest generation is given to the next
// worker. Whoever uses one holds it; the others are removed.
//
// In the same way it carries what setup commands left in a tree to the trees of acceptance commands.
//
// A worker wrote the files. The package follows no link among them, and takes only
// directories, links and plain files without special bits. It refuses to decide which runs
// land, and whether their caches are wanted: that is up to session and the policy.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/state"
)

// Store is where the caches of a repository are kept.
type Store struct{ State state.Dir }

// Name is one generation of the caches for one purpose, KEY-NUMBER; "" is none.
type Name string

// Key is a name for everything that two runs must have in common to share caches.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Valid reports whether a name is one that this package gives.
func (n Name) Valid() bool {
	key, number, ok := strings.Cut(string(n), "-")
	g, err := strconv.Atoi(number)
	raw, herr := hex.DecodeString(key)
	return ok && err == nil && g > 0 && strconv.Itoa(g) == number && herr == nil && len(raw) == 12
}

func (n Name) key() string { key, _, _ := strings.Cut(string(n), "-"); return key }

func (n Name) number() int {
	_, number, _ := strings.Cut(string(n), "-")
	g, _ := strconv.Atoi(number) // of a valid name
	return g
}

func named(key string, number int) Name { return Name(key + "-" + strconv.Itoa(number)) }

func (s Store) path(n Name) string { return s.State.Cache(string(n)) }

func lockOf(n Name) string { return filepath.Join("caches", string(n)+".lock") }

func turnOf(key string) string { return filepath.Join("caches", key+".lock") }

// Nothing is an empty directory, to lie below a cache that the host does not have.
func (s Store) Nothing() (string, error) {
	dir := s.State.Cache("empty")
	return dir, os.MkdirAll(dir, 0o700)
}

// Newest is the newest generation of a key.
func (s Store) Newest(key string) Name {
	numbers := s.numbers(key)
	if len(numbers) == 0 {
		return ""
	}
	return named(key, numbers[len(numbers)-1])
}

// numbers are the generations that are complete, oldest first.
func (s Store) numbers(key string) []int {
	found, err := filepath.Glob(s.State.Cache(key + "-*"))
	if err != nil {
		return nil
	}
	var list []int
	for _, path := range found {
		if n := Name(filepath.Base(path)); n.Valid() {
			list = append(list, n.number())
		}
	}
	slices.Sort(list)
	return list
}

// Hold keeps a generation from being removed for as long as this process lives, and
// returns its directory. There is none where it was removed before: caches can be missed.
func (s Store) Hold(n Name, now time.Time) (dir string, release func(), err error) {
	if !n.Valid() {
		return "", nil, fmt.Errorf("%q is not the name of a cache", n)
	}
	dir = s.path(n)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", func() {}, nil
	}
	if release, err = s.State.Share(lockOf(n)); err != nil {
		return "", nil, err
	}
	if _, err := os.Lstat(dir); err != nil { // removed before it was held
		release()
		return "", func() {}, nil
	}
	_ = os.Chtimes(dir, now, now) // for Kept.Used
	return dir, release, nil
}

// Kept is a generation in the store.
type Kept struct {
	Name   Name
	Newest bool
	Used   time.Time // when somebody held it last, or it was made
}

// List lists all generations.
func (s Store) List() ([]Kept, error) {
	entries, err := os.ReadDir(s.State.Cache(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Kept
	for _, e := range entries {
		n := Name(e.Name())
		if fi, err := e.Info(); err == nil && n.Valid() {
			list = append(list, Kept{Name: n, Newest: n == s.Newest(n.key()), Used: fi.ModTime()})
		}
	}
	return list, err
}

// Endings of generations that do not count: those that are made, and those that are removed.
const (
	unfinished = ".new"
	removed    = ".gone"
)

// Unfinished lists what processes left that were killed while they made or removed a generation.
func (s Store) Unfinished() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(s.State.Cache(""), "*"+unfinished))
	half, herr := filepath.Glob(filepath.Join(s.State.Cache(""), "*"+removed))
	found, err = append(found, half...), errors.Join(err, herr)
	return slices.DeleteFunc(found, func(path string) bool { return s.State.Held(turnOf(Name(filepath.Base(path)).key())) }), err
}

// Remove removes a generation unless somebody holds it, and reports whether it did. Half of
// one is never found.
func (s Store) Remove(n Name) (bool, error) {
	if !n.Valid() {
		return false, fmt.Errorf("%q is not the name of a cache", n)
	}
	release, err := s.State.Unshared(lockOf(n))
	if errors.Is(err, state.ErrLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer release()
	half := s.path(n) + removed
	if err := s.State.Erase(half); err != nil { // of a process that was killed
		return false, err
	}
	if err := os.Rename(s.path(n), half); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, errors.Join(s.State.Erase(half), os.Remove(filepath.Join(s.State.Path(), lockOf(n))))
}

// Prune removes the generations of a key before the newest that nobody needs.
func (s Store) Prune(key string, needed func(Name) bool) error {
	newest := s.Newest(key)
	var failed error
	for _, g := range s.numbers(key) {
		if n := named(key, g); n != newest && !needed(n) {
			_, err := s.Remove(n)
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
