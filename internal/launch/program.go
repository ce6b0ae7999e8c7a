package launch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// selfPath is this very program, also when its file was replaced since.
const selfPath = "/proc/self/exe"

// placeBinary puts this program into the directory: by a second name of the same file, or
// shown in the place of an empty one where that cannot be. A guard is a copy, which
// nobody overwrites when they install another cordon.
func placeBinary(s *worksite.Site, w *ledger.Worker, r *equipment) error {
	at := filepath.Join(r.dir, binaryFile)
	if r.agent != nil {
		sum, err := placeGuard(s, at)
		r.agent.wiring.Guard = sum
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if os.Link(self, at) == nil {
		return nil
	}
	if w.Lease.Lease().Policy.Isolation == policy.None {
		return os.Symlink(self, at)
	}
	if r.self, err = filepath.EvalSymlinks(self); err != nil {
		return err
	}
	return os.WriteFile(at, nil, 0o500)
}

// placeGuard puts a copy of this program at a path, by a second name of the one that
// the state keeps, and is its sum.
func placeGuard(s *worksite.Site, at string) (string, error) {
	self := selfPath
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return "", err
		}
	}
	sum, err := state.Sum(self)
	if err != nil {
		return "", err
	}
	kept := keptGuard(s)
	if have, err := state.Sum(kept); err != nil || have != sum {
		if err := copyFile(self, kept, 0o500); err != nil { // earlier launches keep theirs by its other name
			return "", err
		}
		if have, err := state.SumOf(kept); err != nil || have != sum {
			return "", errors.Join(errors.New("the copy of cordon differs from it"), err)
		}
	}
	if err := os.Link(kept, at); err != nil {
		return "", err
	}
	state.KeepSum(kept, sum)
	return sum, nil
}

// keptGuard is the copy that the state keeps.
func keptGuard(s *worksite.Site) string { return filepath.Join(s.State.Path(), "cordon") }

// guardSum is the sum of the guard's program of a launch: that of the copy, whose sum is remembered,
// where it is the same file.
func guardSum(s *worksite.Site, at string) (string, error) {
	fi, err := os.Lstat(at)
	if err != nil {
		return "", err
	}
	if kept, err := os.Lstat(keptGuard(s)); err == nil && os.SameFile(fi, kept) {
		return state.Sum(keptGuard(s))
	}
	return state.SumOf(at)
}

// copyFile copies a file, whole or not at all.
func copyFile(from, to string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // gone when it was renamed
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(mode), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
