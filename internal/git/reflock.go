package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"cordon/internal/plainfile"
)

// RefLockedError says that a lock file keeps git from moving a ref.
type RefLockedError struct{ Path string }

func (e *RefLockedError) Error() string {
	return fmt.Sprintf("%s exists: another git process is running there, or a killed one left it behind; remove it if no git process is running", e.Path)
}

var lockExists = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`cannot lock ref '.*': Unable to create '(.*\.lock)': File exists`)
})

// refLocked recognises git's words for a lock that is there; nil for others.
func refLocked(stderr string) error {
	if m := lockExists().FindStringSubmatch(stderr); m != nil {
		return &RefLockedError{Path: m[1]}
	}
	return nil
}

// lockAge is how old the lock of a ref is before it counts as one that a killed git left.
const lockAge = 2 * time.Second

// DropRefLock removes the lock that PrepareRef left on a ref when git was killed together
// with cordon, and the empty lock on HEAD that git makes right after it. The lock of the
// ref is known by the value that the ref was to get; without it nothing is removed. The
// caller knows that the git of that move has ended.
func (r Repo) DropRefLock(name string, new OID) error {
	lock, head := filepath.Join(r.Dir, name+".lock"), filepath.Join(r.Dir, "HEAD.lock")
	made, err := leftLock(lock, string(new)+"\n")
	if made == nil || err != nil {
		return err
	}
	above, err := leftLock(head, "")
	if err == nil && above != nil && rightAfter(made, above) {
		err = removeSame(head, above)
	}
	return errors.Join(err, removeSame(lock, made))
}

// rightAfter reports whether one git process can have made the second lock after the first.
func rightAfter(first, second fs.FileInfo) bool {
	between := second.ModTime().Sub(first.ModTime())
	return between >= 0 && between < lockAge
}

// leftLock looks at a lock file that holds a text, once it is old enough: nobody holds
// the lock of a ref for seconds. It is nil when there is none, or one with other content.
func leftLock(path, text string) (fs.FileInfo, error) {
	for {
		fi, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		got, err := plainfile.Read(path, plainfile.Line)
		if err != nil || string(got) != text {
			return nil, nil // it is not ours, or went meanwhile
		}
		wait := lockAge - time.Since(fi.ModTime())
		if wait <= 0 {
			return fi, nil
		}
		time.Sleep(min(wait, lockAge))
	}
}

// removeSame removes a file that is still the one that was looked at.
func removeSame(path string, was fs.FileInfo) error {
	now, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !os.SameFile(now, was) {
		return err
	}
	return os.Remove(path)
}
