package gitfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"cordon/internal/plainfile"
)

// Here is the repository that git finds in a directory itself, before it looks above: the one
// that its .git entry leads to, or the directory if that is a bare one. A name alone makes no
// repository: other programs leave empty .git directories behind, which git passes over. But
// what cannot be looked into counts as one.
func Here(dir string) (Place, bool) {
	if p, ok := PlaceAt(filepath.Join(dir, ".git")); ok {
		return p, true
	}
	if isGitDir(dir) {
		return PlaceOf("", dir), true
	}
	return Place{}, false
}

// PlaceAt reads what a .git entry stands for: a git directory, a link to one, or a file that
// names one. There is none when git would say so.
func PlaceAt(entry string) (Place, bool) {
	dir, err := filepath.EvalSymlinks(entry)
	if err == nil {
		if fi, serr := os.Stat(dir); serr == nil && fi.Mode().IsRegular() {
			if dir, err = named(entry); dir == "" && err == nil {
				return Place{}, false
			}
		}
	}
	switch {
	case isNothing(err), err == nil && !isGitDir(dir):
		return Place{}, false
	case err != nil:
		dir = entry
	}
	return PlaceOf(filepath.Dir(entry), dir), true
}

// named is the directory that a .git file names, without a link in it; "" for a file of
// another kind.
func named(entry string) (string, error) {
	text, err := plainfile.ReadLinked(entry, maxPathFile)
	if err != nil {
		return "", err
	}
	to := namedIn(entry, text)
	if !strings.HasPrefix(string(text), gitdir) || to == "" {
		return "", nil
	}
	return filepath.EvalSymlinks(to) // as it is written: ".." in it may follow a link
}

// isGitDir reports whether git takes a directory for a git directory, as is_git_directory in
// its setup.c does: by its HEAD, objects and refs, the latter two in the directory that
// commondir names.
func isGitDir(dir string) bool {
	if !isHead(filepath.Join(dir, "HEAD")) {
		return false
	}
	shared := filepath.Join(dir, "commondir")
	if !isAbsent(shared) && PathIn(shared) == "" {
		return true // it cannot be read, and git stops there
	}
	for _, name := range []string{"objects", "refs"} {
		if _, err := os.Stat(filepath.Join(PlaceOf("", dir).Common, name)); isNothing(err) {
			return false
		}
	}
	return true
}

// headText is what git takes for a HEAD: a symbolic ref, or the name of an object of any format.
var headText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(ref:[ \t\n\r]*refs/|[0-9a-fA-F]{40})`) })

// readHead is how many bytes of a HEAD git reads.
const readHead = 255

func isHead(file string) bool {
	if to, err := os.Readlink(file); err == nil {
		return strings.HasPrefix(to, "refs/") // wherever it leads: the branch may have no commit yet
	}
	f, err := plainfile.Open(file, os.O_RDONLY)
	if err != nil {
		return !isNothing(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, readHead))
	return err != nil || headText().Match(text)
}

// isNothing recognises the failure to find anything with a name, unlike that to look.
func isNothing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
