package git

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/gitfile"
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

// digits is how long a name of an object is.
func (r Repo) digits() int { return 2 * r.Format.NewHash().Size() }

// looseRef reads a ref that is a file of its own.
func (r Repo) looseRef(name string) (OID, bool) {
	oid, ok := gitfile.Ref(r.Dir, name, r.digits())
	return OID(oid), ok
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

// recall asks git, unless the files are as they were when it answered the same question.
func (r Repo) recall(of *map[string]answer, question string, files []string, ask func() ([]byte, error)) ([]byte, error) {
	if r.asked == nil || files == nil {
		return ask()
	}
	sum, ok := gitfile.Sum(files)
	r.asked.Lock()
	was, asked := (*of)[question]
	r.asked.Unlock()
	if ok && asked && was.sum == sum {
		return was.said, nil
	}
	said, err := ask()
	// They may have changed while git read them.
	if again, still := gitfile.Sum(files); err == nil && ok && still && again == sum {
		r.asked.Lock()
		defer r.asked.Unlock()
		if *of == nil {
			*of = map[string]answer{}
		}
		(*of)[question] = answer{sum, said}
	}
	return said, err
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
	env  string // the variables that git goes by
	said []Setting
}

// Ahead reads the operator's own configuration before somebody asks for it.
func (b Binary) Ahead(ctx context.Context) { _, _ = b.everywhere(ctx) } // whoever asks is told

func (b Binary) everywhere(ctx context.Context) ([]Setting, error) {
	if b.known == nil {
		return b.askEverywhere(ctx)
	}
	b.known.Lock()
	defer b.known.Unlock()
	env := strings.Join(operatorEnviron(), "\n")
	if was := b.known.own; was != nil && was.env == env {
		if sum, ok := gitfile.Sum(everywhereFiles(was.said)); ok && sum == was.sum {
			return was.said, nil
		}
	}
	said, err := b.askEverywhere(ctx)
	if sum, ok := gitfile.Sum(everywhereFiles(said)); err == nil && ok {
		b.known.own = &own{sum, env, said}
	}
	return said, err
}
