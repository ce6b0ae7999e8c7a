package git

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/plainfile"
)

// remembered are answers about the host that hold as long as the files do which git read for
// them. Those are compared byte for byte. Whoever must not believe files that a worker could
// have written asks through Fresh.
type remembered struct {
	refs, checkouts, configs map[string]answer
}

// answer is what git said, and the sum of what it was read from.
type answer struct {
	sum  [sha256.Size]byte
	said []byte
}

// Fresh is the repository without anything that was remembered of it.
func (r Repo) Fresh() Repo {
	r.asked = nil
	return r
}

// Fresh is the host without anything that was remembered of it.
func (h Host) Fresh() Host {
	h.Repo = h.Repo.Fresh()
	return h
}

// maxRemembered is how many files are read to spare a process.
const maxRemembered = 2000

// recall asks git, unless the files are as they were when it answered the same question.
func (r Repo) recall(of *map[string]answer, question string, files []string, ask func() ([]byte, error)) ([]byte, error) {
	if r.asked == nil || files == nil {
		return ask()
	}
	sum, ok := sumOf(files)
	r.asked.Lock()
	was, asked := (*of)[question]
	r.asked.Unlock()
	if ok && asked && was.sum == sum {
		return was.said, nil
	}
	said, err := ask()
	// They may have changed while git read them.
	if again, still := sumOf(files); err == nil && ok && still && again == sum {
		r.asked.Lock()
		defer r.asked.Unlock()
		if *of == nil {
			*of = map[string]answer{}
		}
		(*of)[question] = answer{sum, said}
	}
	return said, err
}

// sumOf reads files, and says whether each is an ordinary one or absent.
func sumOf(files []string) (sum [sha256.Size]byte, ok bool) {
	h := sha256.New()
	for _, f := range files {
		text, err := plainfile.Read(f, plainfile.Text)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return sum, false
		}
		h.Write([]byte(f + "\x00"))
		if err == nil {
			part := sha256.Sum256(text)
			h.Write(part[:])
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), true
}

// refFiles are what git reads to list all refs; nil: they are too many, or are kept otherwise.
func (r Repo) refFiles() []string {
	list := []string{filepath.Join(r.Dir, "packed-refs"), filepath.Join(r.Dir, "HEAD"), filepath.Join(r.Dir, "config")}
	if _, err := os.Lstat(filepath.Join(r.Dir, "reftable")); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := filepath.WalkDir(filepath.Join(r.Dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular() || len(list) >= maxRemembered:
			return fs.ErrInvalid
		}
		list = append(list, path)
		return nil
	})
	if err != nil {
		return nil
	}
	return list
}

// checkoutFiles are what git reads to list the checkouts of a repository that has only one;
// nil: it has more.
func (r Repo) checkoutFiles() []string {
	if entries, err := os.ReadDir(filepath.Join(r.Dir, "worktrees")); err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		return nil
	}
	branch, ok := headOf(r.Dir)
	if _, loose := r.looseRef(branch); !ok || !loose {
		return nil
	}
	names := []string{"HEAD", "config", "config.worktree", "commondir", filepath.FromSlash(branch)}
	for i, name := range names {
		names[i] = filepath.Join(r.Dir, name)
	}
	return names
}

// configFiles are what git reads to list the configuration of a checkout without includes;
// nil: its own files include others.
func (r Repo) configFiles(c Checkout) []string {
	list := []string{filepath.Join(r.Dir, "config"), filepath.Join(c.GitDir, "config.worktree"), filepath.Join(r.Dir, "config.worktree"),
		filepath.Join(c.GitDir, "commondir")}
	for _, f := range list {
		text, err := plainfile.Read(f, plainfile.Text)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || strings.Contains(strings.ToLower(string(text)), "include") {
			return nil
		}
	}
	return list
}

// everywhereFiles are the files that the operator's configuration is read from, as far as
// they are known.
func everywhereFiles(said []Setting) []string {
	list := []string{"/etc/gitconfig", filepath.Join(os.Getenv("HOME"), ".gitconfig"), filepath.Join(configHome(), "git", "config")}
	for _, s := range said {
		if s.Origin != "" {
			list = append(list, s.Origin)
		}
	}
	return list
}

// own remembers the operator's own configuration for as long as its files are the same: a
// launch asks for it more than once.
type own struct {
	sum  [sha256.Size]byte
	said []Setting
}

func (b Binary) everywhere(ctx context.Context) ([]Setting, error) {
	if b.known == nil {
		return b.askEverywhere(ctx)
	}
	b.known.Lock()
	defer b.known.Unlock()
	if was := b.known.own; was != nil {
		if sum, ok := sumOf(everywhereFiles(was.said)); ok && sum == was.sum {
			return was.said, nil
		}
	}
	said, err := b.askEverywhere(ctx)
	if sum, ok := sumOf(everywhereFiles(said)); err == nil && ok {
		b.known.own = &own{sum, said}
	}
	return said, err
}
