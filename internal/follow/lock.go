package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// Move is a branch that goes from one commit to another.
type Move struct {
	Ref  string  `json:"ref"`
	From git.OID `json:"from"`
	To   git.OID `json:"to"`
}

const (
	indexLock = "index.lock"     // git's own name: while it exists, no git changes the index
	lockDraft = "cordon-landing" // the lock before it has that name
	lockMagic = "cordon landing 1\n"
)

// LockedError says that somebody holds the index of a checkout.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s exists: another git process is running there, or a killed one left it behind", e.Path)
}

// lock is the index lock of a checkout. The file says which move it is for, and an
// flock on it says whether the process that made it is alive: a lock of ours that
// nobody holds was left by a cordon that was killed.
type lock struct {
	dir  *dir
	file *os.File
	left *Move // the move that a killed cordon was at; nil for a new lock
}

// patience is how long a git process of the operator's is waited for.
const patience = 2 * time.Second

// acquire waits a moment for whoever holds the index, and gives up with a
// *LockedError.
func acquire(ctx context.Context, gitDir string, m Move) (*lock, error) {
	d, err := openDir(gitDir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gitDir, err)
	}
	for end := time.Now().Add(patience); ; {
		l, err := d.lock(m)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, errHeld) || time.Now().After(end) || ctx.Err() != nil {
			d.close()
			if errors.Is(err, errHeld) {
				err = &LockedError{Path: filepath.Join(gitDir, indexLock)}
			}
			return nil, errors.Join(err, ctx.Err())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// errHeld says that another process has the lock, or had it a moment ago.
var errHeld = errors.New("held")

// lock takes over a lock that a killed cordon left, or makes one. It is written and
// held before it gets the name that counts, so that it is recognisable at any
// instant.
func (d *dir) lock(m Move) (*lock, error) {
	switch l, err := d.abandoned(); {
	case err == nil:
		return l, nil
	case !errors.Is(err, unix.ENOENT):
		return nil, err
	}
	f, err := d.draft()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = f.WriteString(lockMagic + string(text) + "\n")
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = d.publish(f)
	}
	if err != nil {
		_ = d.remove(lockDraft, f)
		_ = f.Close()
		return nil, err
	}
	return &lock{dir: d, file: f}, nil
}

// draft makes the file, held. One that nobody holds is from a killed cordon.
func (d *dir) draft() (*os.File, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL
	f, err := d.open(lockDraft, flags, 0o600)
	if errors.Is(err, unix.EEXIST) {
		old, err := d.held(lockDraft)
		if errors.Is(err, unix.ENOENT) {
			return nil, errHeld // it was there a moment ago
		}
		if err != nil {
			return nil, err
		}
		err = d.remove(lockDraft, old)
		_ = old.Close()
		return nil, errors.Join(errHeld, err) // and once more
	}
	if err != nil {
		return nil, err
	}
	// Until it is held, it looks like one of a killed cordon, and another one may remove it.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil || !d.has(lockDraft, f) {
		_ = f.Close()
		return nil, errHeld
	}
	return f, nil
}

// publish gives the lock its name, if nothing else has it.
func (d *dir) publish(f *os.File) error {
	if !d.has(lockDraft, f) {
		return errHeld
	}
	err := unix.Linkat(d.fd, lockDraft, d.fd, indexLock, 0)
	switch {
	case err == nil:
		return d.remove(lockDraft, f)
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP): // no hard links here
		err = renameExclusive(d.fd, lockDraft, d.fd, indexLock)
	}
	if errors.Is(err, unix.EEXIST) {
		return errHeld
	}
	return err
}

// abandoned takes over a lock that a killed cordon left.
func (d *dir) abandoned() (*lock, error) {
	f, err := d.held(indexLock)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<16))
	var m Move
	rest, ours := strings.CutPrefix(string(text), lockMagic)
	if err == nil && ours {
		err = json.Unmarshal([]byte(rest), &m)
	}
	if err != nil || !ours {
		_ = f.Close()
		return nil, errHeld
	}
	return &lock{dir: d, file: f, left: &m}, nil
}

// Abandoned returns the move for which a cordon that was killed left the lock of a git
// directory.
func Abandoned(gitDir string) (Move, bool) {
	d, err := openDir(gitDir)
	if err != nil {
		return Move{}, false
	}
	l, err := d.abandoned()
	if err != nil {
		d.close()
		return Move{}, false
	}
	l.abandon()
	return *l.left, true
}

// held opens a file and holds it, if nobody does and it still has its name.
func (d *dir) held(name string) (*os.File, error) {
	f, err := d.open(name, unix.O_RDWR, 0)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.ELOOP) {
		return nil, errHeld // not ours
	}
	if err != nil {
		return nil, err
	}
	mine, err := identify(f)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil || !d.has(name, f) || !mine.regular() {
		_ = f.Close()
		return nil, errHeld
	}
	return f, nil
}

// has reports whether a name still leads to a file.
func (d *dir) has(name string, f *os.File) bool {
	mine, err := identify(f)
	now, serr := d.stat(name)
	return err == nil && serr == nil && now.inode == mine.inode
}

// remove removes a name that leads to a file of ours. Somebody may have removed it, and
// git may have made another of that name since.
func (d *dir) remove(name string, f *os.File) error {
	if !d.has(name, f) {
		return nil
	}
	return d.unlink(name)
}

// check refuses to go on when somebody took the lock away.
func (l *lock) check() error {
	if !l.dir.has(indexLock, l.file) {
		return errors.New(indexLock + " was removed or replaced while cordon held it: do not remove it while a landing runs")
	}
	return nil
}

// release gives the index back.
func (l *lock) release() error {
	err := l.dir.remove(indexLock, l.file)
	l.abandon()
	return err
}

// abandon leaves the lock for the next cordon, as if this one had been killed: the
// branch moved, and until the index has followed nobody may commit it.
func (l *lock) abandon() {
	_ = l.file.Close()
	l.dir.close()
}
