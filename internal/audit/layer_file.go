package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/legible"
	"cordon/internal/plainfile"
)

func kindOfStat(st *unix.Stat_t) uint32 { return uint32(st.Mode) & unix.S_IFMT }

func typeOf(st *unix.Stat_t) string {
	switch kindOfStat(st) {
	case unix.S_IFREG:
		return "a file"
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	}
	return fileType(uint32(st.Mode))
}

func modeWord(st *unix.Stat_t) string { return fmt.Sprintf("mode %o", st.Mode&0o7777) }

// differs says how mode and owner of a file differ from what they were.
func differs(old, now *unix.Stat_t) string {
	switch {
	case old.Mode&0o7777 != now.Mode&0o7777:
		return fmt.Sprintf("mode %o → %o", old.Mode&0o7777, now.Mode&0o7777)
	case old.Uid != now.Uid || old.Gid != now.Gid:
		return fmt.Sprintf("owner %d:%d → %d:%d", old.Uid, old.Gid, now.Uid, now.Gid)
	}
	return ""
}

// unlock gives a name of a layer the bits that reading it needs, and reports
// whether it had to. What a worker has locked and owns is ours. The link that may
// have taken its place is not followed; where it is refused, opening tells.
func unlock(dir *os.File, name string, mode, need uint32) bool {
	if mode&need == need {
		return false
	}
	setMode(dir, name, mode|need)
	return true
}

func setMode(dir *os.File, name string, mode uint32) {
	_ = plainfile.ChmodAt(int(dir.Fd()), name, mode&0o7777)
}

// unlockTop is unlock for the top of a worker's place, which lies in a directory of
// cordon's. It returns what locks it again.
func unlockTop(top string) func() {
	var st unix.Stat_t
	if unix.Lstat(top, &st) != nil || kindOfStat(&st) != unix.S_IFDIR || st.Mode&0o500 == 0o500 {
		return func() {} // opening tells
	}
	mode := uint32(st.Mode) & 0o7777
	set := func(mode uint32) { _ = plainfile.ChmodAt(unix.AT_FDCWD, top, mode) }
	set(mode | 0o500)
	return func() { set(mode) }
}

// openOwn opens a name of a layer. Its mode is set for as long as it takes, and
// restored.
func openOwn(dir *os.File, name string, st *unix.Stat_t, flags int, need uint32) (*os.File, func(), error) {
	restore := func() {}
	if mode := uint32(st.Mode); unlock(dir, name, mode, need) {
		restore = func() { setMode(dir, name, mode) }
	}
	fd, err := openat(dir, name, unix.O_RDONLY|flags)
	if err != nil {
		restore()
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), name), restore, nil
}

// file compares a regular file with the host's and takes its hash.
func (w *layerWalk) file(e layerEntry, ch *Change) {
	ch.Kind = Modified
	switch {
	case e.old == nil:
		ch.Kind = Added
	case kindOfStat(e.old) != unix.S_IFREG:
		ch.Kind = Retyped
	}
	if len(w.found) >= maxLayerFindings && ch.Kind != Modified {
		return // it is only counted
	}
	f, restore, err := openOwn(e.dir, e.name, &e.st, 0, 0o400)
	if err != nil {
		ch.Detail = fmt.Sprintf("%d bytes that cannot be read: %s", e.st.Size, legible.Line(err.Error()))
		return
	}
	defer restore()
	defer f.Close()
	if ch.SHA256, err = w.sum(f, e.st.Size); err != nil {
		ch.Detail = fmt.Sprintf("%d bytes, not read: %s", e.st.Size, legible.Line(err.Error()))
	} else {
		ch.Detail = fmt.Sprintf("%d bytes, sha256 %s", e.st.Size, ch.SHA256)
		if ch.Kind == Modified && e.old.Size == e.st.Size {
			w.compare(e, f, ch)
		}
	}
	if e.st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		ch.Detail += ", " + modeWord(&e.st)
	}
}

// compare finds out whether a file of the host's size is the host's. Where that
// cannot be read, it is taken for changed.
func (w *layerWalk) compare(e layerEntry, f *os.File, ch *Change) {
	fd, err := openat(e.host, e.name, unix.O_RDONLY)
	if err != nil {
		return
	}
	host := os.NewFile(uintptr(fd), e.name)
	defer host.Close()
	if sum, err := w.sum(host, e.old.Size); err != nil || sum != ch.SHA256 {
		return
	}
	ch.Kind = touched
	what := differs(e.old, &e.st)
	if what == "" && !maps.Equal(attributes(f), attributes(host)) {
		what = "extended attributes"
	}
	if what != "" {
		ch.Kind, ch.Detail = Metadata, what
	}
}

// sum is the SHA-256 of a file of a known size.
func (w *layerWalk) sum(f *os.File, size int64) (string, error) {
	if size > maxLayerFile || w.read+size > maxLayerTotal {
		return "", errors.New("too much for one audit")
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return "", errors.New("it changed while it was read")
	}
	w.read += size
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", errors.New("it changed while it was read")
	}
	return hex.EncodeToString(h.Sum(nil)), w.ctx.Err()
}

// KeptContent opens what a layer keeps of a finding. The directory is the one
// that holds all layers.
func KeptContent(layers string, f Finding) (io.ReadCloser, error) {
	if f.Kept == "" {
		return nil, errors.New("nothing is kept of it")
	}
	return openFile(layers, string(f.Kept), true)
}
