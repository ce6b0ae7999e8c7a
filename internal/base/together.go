package base

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/plainfile"
)

// Whoever uses a base needs a look at all of it that began after they asked. One such look serves
// everybody who had asked before it began: twenty workers that start at once do not look at the
// same files twenty times.
//
// Looks are numbered, and a number is written before the look begins. Whoever asks reads the last
// number first, so a look with a higher one began later. No clock decides. A file that was written
// anew begins another series, and numbers of two series are never compared.
type looks struct {
	series string
	begun  int    // the number of the last look that began
	found  int    // the number of the last look that found the base sound
	as     string // the record that it compared the base with, and the mounts that it saw
}

// lookTime is how long a process waits for another one that looks: that one may be stopped.
const lookTime = 3 * time.Second

// verifyTogether is verify, by this process or by another one after this was called.
func (s Store) verifyTogether(ctx context.Context, c chain) error {
	asked, known := s.readLooks(c[0].Key)
	if !known {
		asked = looks{} // of no series
	}
	return s.verifySince(ctx, c, asked)
}

// verifySince is verify, unless a look that began after a question has found the base sound.
func (s Store) verifySince(ctx context.Context, c chain, asked looks) error {
	key, as := c[0].Key, c[0].Sum+"@"+mounts()
	wait, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	release, err := s.State.Await(wait, s.looksOf(key)+".lock")
	if err != nil {
		return s.verify(ctx, c)
	}
	defer release()
	now, readable := s.readLooks(key)
	if !readable {
		now = looks{series: rand.Text()}
	}
	if now.series == asked.series && now.found > asked.begun && now.as == as {
		return nil
	}
	now.begun++
	noted := s.writeLooks(key, now)
	if err := s.verify(ctx, c); err != nil {
		return err
	}
	if noted {
		now.found, now.as = now.begun, as
		s.writeLooks(key, now)
	}
	return nil
}

// mounts tells processes apart that may see other files in the same place.
func mounts() string {
	namespace, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return rand.Text() // like no other
	}
	return namespace
}

const looksForm = "%s %d %d %s\n"

func (s Store) looksOf(key string) string { return filepath.Join("bases", key+".looks") }

func (s Store) readLooks(key string) (l looks, ok bool) {
	text, err := plainfile.Read(filepath.Join(s.State.Path(), s.looksOf(key)), 1<<10)
	if err != nil {
		return l, false
	}
	_, err = fmt.Sscanf(string(text), looksForm, &l.series, &l.begun, &l.found, &l.as)
	return l, err == nil && string(text) == fmt.Sprintf(looksForm, l.series, l.begun, l.found, l.as)
}

// writeLooks replaces the file whole. Where that fails, nobody is served by the look.
func (s Store) writeLooks(key string, l looks) bool {
	at := filepath.Join(s.State.Path(), s.looksOf(key))
	f, err := os.CreateTemp(filepath.Dir(at), filepath.Base(at)+"-*")
	if err != nil {
		return false
	}
	_, err = fmt.Fprintf(f, looksForm, l.series, l.begun, l.found, l.as)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), at) != nil {
		_ = os.Remove(f.Name()) // made just now
		return false
	}
	return true
}
