package follow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

var (
	errInvalid = error(unix.EINVAL)
	// errSaved says that somebody changed a file at the very moment.
	errSaved = errors.New("it was changed while the branch moved")
)

// put writes a new file beside its place and moves it there.
func (s *Step) put(it item) error {
	if it.done {
		return s.sweep(it)
	}
	p := it.delta.Path
	if it.delta.New.Mode == git.Gitlink {
		d, err := s.root.below(p, true)
		if err == nil {
			d.close()
		}
		return err
	}
	in, err := s.root.below(path.Dir(p), true)
	if err != nil {
		return err
	}
	defer in.close()
	temp, err := s.temporary(in, it)
	if err != nil {
		return err
	}
	mine, err := s.fill(in, temp, p)
	if err != nil {
		_ = in.unlink(temp)
		return err
	}
	if it.old.exists() {
		return in.replace(temp, path.Base(p), mine, it.old)
	}
	in.hollow(path.Base(p))
	err = renameExclusive(in.fd, temp, in.fd, path.Base(p))
	if unsupported(err) {
		if err = unix.Linkat(in.fd, temp, in.fd, path.Base(p), 0); err == nil {
			return in.unlink(temp)
		}
	}
	if err != nil {
		_ = in.unlink(temp)
	}
	if errors.Is(err, unix.EEXIST) {
		return errSaved
	}
	return err
}

// hollow removes a directory in which there are only directories.
func (d *dir) hollow(name string) {
	in, err := d.below(name, false)
	if err != nil {
		return
	}
	names, _ := in.names()
	for _, n := range names {
		in.hollow(n)
	}
	in.close()
	_ = unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR)
}

// fill writes a new file under a temporary name, with the mode that the system gives.
func (s *Step) fill(in *dir, temp, p string) (identity, error) {
	staged, err := s.files.look(p)
	if err != nil {
		return identity{}, err
	}
	from, err := s.files.contentOf(p, staged)
	if err != nil {
		return identity{}, err
	}
	defer from.Close()
	if staged.link() {
		to, err := io.ReadAll(from)
		if err == nil {
			err = unix.Symlinkat(string(to), in.fd, temp)
		}
		if err != nil {
			return identity{}, err
		}
		return in.stat(temp)
	}
	mode := uint32(0o666)
	if staged.executable() {
		mode = 0o777
	}
	to, err := in.open(temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return identity{}, err
	}
	err = copySparse(to, from)
	id, ierr := identify(to)
	return id, errors.Join(err, ierr, to.Close())
}

// copySparse copies content into an empty file, and leaves a hole for each block of
// zeros. The worker's limit of disk counts no holes, so that written in full its files
// could be many times as large.
func copySparse(to *os.File, from io.Reader) error {
	const block = 4 << 10
	buf, zeros := make([]byte, 16*block), make([]byte, block)
	isData := func(b []byte) bool { return !bytes.Equal(b, zeros[:len(b)]) }
	for at := int64(0); ; {
		n, err := io.ReadFull(from, buf)
		for b := range slices.Chunk(buf[:n], block) {
			if isData(b) {
				if _, err := to.WriteAt(b, at); err != nil {
					return err
				}
			}
			at += int64(len(b))
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return to.Truncate(at)
		case err != nil:
			return err
		}
	}
}

// replace puts a file in the place of another, if that is what it was. The two are
// exchanged, so that what was there can be looked at: a save of the operator's at
// that instant is put back.
func (d *dir) replace(temp, name string, mine, old identity) error {
	err := exchange(d.fd, temp, d.fd, name)
	if unsupported(err) {
		if now, err := d.stat(name); err != nil || now != old {
			_ = d.unlink(temp)
			return errSaved
		}
		return unix.Renameat(d.fd, temp, d.fd, name)
	}
	if err != nil {
		_ = d.unlink(temp)
		if errors.Is(err, unix.ENOENT) {
			return errSaved
		}
		return err
	}
	if was, err := d.stat(temp); err == nil && was == old {
		return d.unlink(temp)
	}
	if err := exchange(d.fd, temp, d.fd, name); err != nil {
		return fmt.Errorf("%w; what was there is kept as %s", errSaved, temp)
	}
	if back, err := d.stat(temp); err != nil || back.inode != mine.inode {
		return fmt.Errorf("%w; one of its versions is kept as %s", errSaved, temp)
	}
	return errors.Join(errSaved, d.unlink(temp))
}

// remove takes a file away, if it is what the index said, and the directories that
// are empty without it.
func (s *Step) remove(it item) error {
	p := it.delta.Path
	if it.done {
		err := s.sweep(it)
		s.prune(path.Dir(p))
		return err
	}
	in, err := s.root.below(path.Dir(p), false)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if it.delta.Old.Mode == git.Gitlink {
		_ = unix.Unlinkat(in.fd, path.Base(p), unix.AT_REMOVEDIR) // a repository stays
	} else if it.old.exists() {
		err = s.take(in, it)
	}
	in.close()
	if err == nil {
		s.prune(path.Dir(p))
	}
	return err
}

// take removes one file.
func (s *Step) take(in *dir, it item) error {
	name := path.Base(it.delta.Path)
	temp, err := s.temporary(in, it)
	if err != nil {
		return err
	}
	err = renameExclusive(in.fd, name, in.fd, temp)
	if unsupported(err) {
		if now, err := in.stat(name); err != nil || now != it.old {
			return errSaved
		}
		return in.unlink(name)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if was, err := in.stat(temp); err == nil && was == it.old {
		return in.unlink(temp)
	}
	if err := renameExclusive(in.fd, temp, in.fd, name); err != nil {
		return fmt.Errorf("%w; what was there is kept as %s", errSaved, temp)
	}
	return errSaved
}

// prune removes directories that are empty, upward.
func (s *Step) prune(rel string) {
	for ; rel != "."; rel = path.Dir(rel) {
		in, err := s.root.below(path.Dir(rel), false)
		if err != nil {
			return
		}
		err = unix.Unlinkat(in.fd, path.Base(rel), unix.AT_REMOVEDIR)
		in.close()
		if err != nil {
			return
		}
	}
}

// temporary is the name beside a path under which its new content is written. It
// depends on the move alone, so that what a killed cordon left there is found again:
// a part of the new file, or the old one, go; anything else was saved by somebody,
// and stays.
func (s *Step) temporary(in *dir, it item) (string, error) {
	sum := sha256.Sum256([]byte(string(s.move.To) + "\x00" + it.delta.Path))
	name := ".cordon-" + hex.EncodeToString(sum[:8])
	for n := range 100 {
		try := name
		if n > 0 {
			try = fmt.Sprintf("%s-%d", name, n)
		}
		there, err := in.stat(try)
		if errors.Is(err, unix.ENOENT) {
			return try, nil
		}
		if err != nil {
			return "", err
		}
		if s.dispensable(in, try, there, it) {
			return try, in.unlink(try)
		}
	}
	return "", fmt.Errorf("too many files named %s", name)
}

// sweep removes what a killed cordon left beside a path that it had placed.
func (s *Step) sweep(it item) error {
	in, err := s.root.below(path.Dir(it.delta.Path), false)
	if err != nil {
		return nil // nothing is there
	}
	defer in.close()
	_, err = s.temporary(in, it)
	return err
}

// maxHashed bounds what is read to recognise the old file.
const maxHashed = 64 << 20

// dispensable reports whether a file under a temporary name is a beginning of the new
// file, or the old one.
func (s *Step) dispensable(in *dir, name string, there identity, it item) bool {
	content := func() (io.ReadCloser, error) { return in.content(name, there) }
	if staged, err := s.files.look(it.delta.Path); err == nil && staged.exists() && !staged.directory() {
		x, err := content()
		if err != nil {
			return false
		}
		y, err := s.files.contentOf(it.delta.Path, staged)
		if err == nil {
			_, err = common(x, y)
			_ = y.Close()
		}
		_ = x.Close()
		if err == nil {
			return true
		}
	}
	x, err := content()
	if err != nil || there.size > maxHashed {
		return false
	}
	defer x.Close()
	text, err := io.ReadAll(io.LimitReader(x, maxHashed+1)) // it may grow meanwhile
	return err == nil && len(text) <= maxHashed && s.repo.Format.Blob(text) == it.delta.Old.OID
}

// indexDraft is the new index before it has its name.
const indexDraft = "cordon-index"

// install puts an index file in the place of the checkout's, with its mode.
func (d *dir) install(from string) error {
	now, err := d.stat("index")
	if err != nil {
		return err
	}
	_ = d.unlink(indexDraft) // of a killed cordon
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := d.open(indexDraft, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(os.FileMode(now.mode&0o777)), out.Sync(), out.Close())
	if err == nil {
		err = unix.Renameat(d.fd, indexDraft, d.fd, "index")
	}
	if err != nil {
		_ = d.unlink(indexDraft)
	}
	return err
}
