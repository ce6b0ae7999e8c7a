package state

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// The reserve is space on the state's disk that cordon keeps for itself. Removing
// something needs space too: an event in the journal, refs, a lock. On a full disk
// that space comes from the reserve. Several files also keep inodes.
const (
	reserveFiles = 16
	reserveSize  = 64 << 10 // of each
	// reserveRoom is what must be free besides before a reserve is made.
	reserveRoom = 16 << 20
)

func (d Dir) reserve() string { return filepath.Join(d.path, "reserve") }

// KeepReserve makes the reserve where it is missing and the disk has room for it.
// Where it cannot be made, a full disk may need room that the operator makes.
func (d Dir) KeepReserve() {
	var fs unix.Statfs_t
	last := filepath.Join(d.reserve(), strconv.Itoa(reserveFiles-1))
	if _, err := os.Lstat(last); err == nil {
		return
	}
	if unix.Statfs(d.path, &fs) != nil || int64(fs.Bavail)*int64(fs.Bsize) < reserveRoom || os.MkdirAll(d.reserve(), 0o700) != nil {
		return
	}
	block := make([]byte, reserveSize)
	_, _ = rand.Read(block) // never fails; what a file system cannot make smaller
	for i := range reserveFiles {
		if os.WriteFile(filepath.Join(d.reserve(), strconv.Itoa(i)), block, 0o600) != nil {
			return
		}
	}
}

// SpendReserve gives the reserve to whoever clears up, where the disk is full. The
// caller keeps a new one when it has finished.
func (d Dir) SpendReserve() error {
	if !d.full() {
		return nil
	}
	return os.RemoveAll(d.reserve()) // cordon's own, with nothing in it
}

// full reports whether nothing can be written, for want of space, inodes or quota.
func (d Dir) full() bool {
	if d.Room() != nil {
		return true
	}
	f, err := os.CreateTemp(d.path, ".room-")
	if err == nil {
		defer os.Remove(f.Name())
		_, err = f.Write(make([]byte, 4*reserveSize))
		err = errors.Join(err, f.Sync(), f.Close())
	}
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
