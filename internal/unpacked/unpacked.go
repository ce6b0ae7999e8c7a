// Package unpacked keeps the files that an agent client unpacks from its own program: once for each
// program, shared by the workers of a repository. A directory is made by the supervisor outside of
// every cell, and workers see it read-only.
//
// It refuses to hand out a directory in which one inode differs from what was made, and to know what
// a client is: the caller runs the program that fills a directory.
package unpacked

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"cordon/internal/base"
	"cordon/internal/plainfile"
	"cordon/internal/state"
)

// Store is what is kept in the state of a repository.
type Store struct{ State state.Dir }

// record says what a directory was when it was made.
type record struct {
	Sum   string    `json:"sum"` // of its files; see base.Look
	Bytes int64     `json:"bytes"`
	Made  time.Time `json:"made"`
}

const (
	filesDir   = "files"
	recordFile = "record.json"
	maxRecord  = 64 << 10
	unfinished = ".new"
)

var errDamaged = errors.New("it changed since it was made")

// key is what a directory may be called.
var key = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+-[0-9.]+-[0-9a-f]+$`) })

// Use returns the directory of a name, which fill has filled now or before. It stays until release is
// called or this process ends.
func (s Store) Use(ctx context.Context, name string, fill func(dir string) error) (dir string, release func(), err error) {
	if !key().MatchString(name) {
		return "", nil, fmt.Errorf("%q is no name for unpacked files", name)
	}
	if release, err = s.State.Share(usedLock(name)); err != nil {
		return "", nil, err
	}
	if err = s.sound(ctx, name); err != nil && ctx.Err() == nil {
		err = s.make(ctx, name, fill)
	}
	if err != nil {
		release()
		return "", nil, err
	}
	now := time.Now()
	if err := os.Chtimes(s.State.Unpacked(name), now, now); err != nil {
		release()
		return "", nil, err
	}
	return s.files(name), release, nil
}

func (s Store) files(name string) string { return filepath.Join(s.State.Unpacked(name), filesDir) }

func makeLock(name string) string { return filepath.Join("unpacked", name+".lock") }
func usedLock(name string) string { return filepath.Join("unpacked", name+".used.lock") }

// sound compares the files with what was made.
func (s Store) sound(ctx context.Context, name string) error {
	r, err := s.read(name)
	if err != nil {
		return err
	}
	now, err := base.Look(ctx, s.files(name))
	if err == nil && now.Sum != r.Sum {
		err = fmt.Errorf("%s: %w", name, errDamaged)
	}
	return err
}

func (s Store) read(name string) (record, error) {
	var r record
	text, err := plainfile.Read(filepath.Join(s.State.Unpacked(name), recordFile), maxRecord)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Sum == "" {
		err = fmt.Errorf("%s: its record has no sum", name)
	}
	return r, err
}

// make fills the directory, unless somebody else has done so meanwhile. Whoever uses what was there keeps
// it: it moves out of the way and is deleted later.
func (s Store) make(ctx context.Context, name string, fill func(dir string) error) error {
	unlock, err := s.State.Await(ctx, makeLock(name))
	if err != nil {
		return err
	}
	defer unlock()
	if s.sound(ctx, name) == nil {
		return nil
	}
	draft := s.State.Unpacked(name + unfinished)
	if err := errors.Join(s.State.Erase(draft), s.State.Drop(s.State.Unpacked(name), time.Now())); err != nil {
		return err
	}
	at := filepath.Join(draft, filesDir)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	if err := s.finish(ctx, draft, at, fill); err != nil {
		return errors.Join(err, s.State.Erase(draft))
	}
	return os.Rename(draft, s.State.Unpacked(name))
}

func (s Store) finish(ctx context.Context, draft, at string, fill func(dir string) error) error {
	if err := fill(at); err != nil {
		return err
	}
	made, err := base.Look(ctx, at)
	if err != nil {
		return err
	}
	text, err := json.Marshal(record{made.Sum, made.Bytes, time.Now().UTC()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(draft, recordFile), text, 0o600)
}

// Kept is a directory on disk.
type Kept struct {
	Name  string
	Of    string // the client
	Bytes int64
	Used  time.Time
	Held  bool // somebody uses it
}

// List returns the directories on disk, those that were left unfinished among them.
func (s Store) List() ([]Kept, error) {
	entries, err := os.ReadDir(filepath.Dir(s.State.Unpacked("x")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Kept
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), unfinished)
		fi, err := e.Info()
		if err != nil || !e.IsDir() || !key().MatchString(name) {
			continue // a lock, or gone meanwhile
		}
		k := Kept{Name: e.Name(), Used: fi.ModTime()}
		k.Of, _, _ = strings.Cut(name, "-")
		if name != e.Name() {
			k.Held = s.State.Held(makeLock(name))
		} else {
			r, _ := s.read(name) // what is damaged has no size
			k.Bytes, k.Held = r.Bytes, s.held(name)
		}
		list = append(list, k)
	}
	return list, err
}

// Unfinished reports whether a process was killed while it made a directory.
func (k Kept) Unfinished() bool { return strings.HasSuffix(k.Name, unfinished) }

func (s Store) held(name string) bool {
	release, err := s.State.Unshared(usedLock(name))
	if err != nil {
		return true
	}
	release()
	return false
}

// Remove moves a directory out of the way, for good. One that somebody uses or makes stays.
func (s Store) Remove(k Kept, now time.Time) error {
	name := strings.TrimSuffix(k.Name, unfinished)
	making, err := s.State.Lock(makeLock(name), false)
	if errors.Is(err, state.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer making()
	if !k.Unfinished() {
		using, err := s.State.Unshared(usedLock(name))
		if errors.Is(err, state.ErrLocked) {
			return nil
		}
		if err != nil {
			return err
		}
		defer using()
	}
	return s.State.Drop(s.State.Unpacked(k.Name), now)
}
