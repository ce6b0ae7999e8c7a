// Package gitfile reads and writes the files of a repository that hold a line or two, as git
// does: HEAD, refs that are files of their own, and those of a repository that was just made.
// A process of git for each of them takes longer than everything else that is done with it.
// It also says what git takes for a repository, where that and its configuration lie, and
// which files an answer of git depends on.
//
// It refuses to interpret what is not exactly what git writes there: then it reports false,
// and package git asks git. It parses no configuration, and writes through no link.
package gitfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/plainfile"
)

// Ref reads a ref that is a file of its own. Symbolic refs, packed ones and those of another
// storage are not. size is how many digits a name of an object has.
func Ref(gitDir, name string, size int) (oid string, ok bool) {
	if !Plain(name) {
		return "", false
	}
	text, err := plainfile.Read(filepath.Join(gitDir, filepath.FromSlash(name)), plainfile.Line)
	line, ended := strings.CutSuffix(string(text), "\n")
	return line, err == nil && ended && len(line) == size && strings.Trim(line, "0123456789abcdef") == ""
}

// plainRefs are names that every git takes and no file system reads in two ways.
var plainRefs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*$`) })

// Plain reports whether the full name of a ref is of a kind that needs no second look.
func Plain(name string) bool {
	return strings.HasPrefix(name, "refs/") && plainRefs().MatchString(name)
}

// Head reads the branch that a HEAD points at. A detached one and that of another storage
// of refs are for git to read.
func Head(gitDir string) (branch string, ok bool) {
	text, err := plainfile.Read(filepath.Join(gitDir, "HEAD"), plainfile.Line)
	if err != nil {
		return "", false
	}
	name, isRef := strings.CutPrefix(string(text), "ref: ")
	name, ended := strings.CutSuffix(name, "\n")
	return name, isRef && ended && Plain(name)
}

// New says how a repository is made.
type New struct {
	Bare   bool
	Format string // of names of objects; "sha1" needs no extension
	Branch string // that HEAD points at, under refs/heads/
}

// Init makes a repository as git init does on a file system with nothing special about it.
// It reports false where something is, and leaves what it made for git to find.
func Init(gitDir string, n New) bool {
	if runtime.GOOS != "linux" || !Plain("refs/heads/"+n.Branch) {
		return false
	}
	if entries, err := os.ReadDir(gitDir); err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if os.MkdirAll(filepath.Join(gitDir, dir), 0o755) != nil {
			return false
		}
	}
	config := filepath.Join(gitDir, "config")
	if os.WriteFile(config, []byte(n.config()), 0o644) != nil || !ordinary(config) {
		return false
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/"+n.Branch+"\n"), 0o644) == nil
}

func (n New) config() string {
	version, more := 0, ""
	if n.Format != "sha1" {
		version, more = 1, "[extensions]\n\tobjectformat = "+n.Format+"\n"
	}
	text := fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = %t\n", version, n.Bare)
	if !n.Bare {
		text += "\tlogallrefupdates = true\n"
	}
	return text + more
}

// ordinary reports whether a file system keeps modes and links, and tells upper from lower
// case, as far as one file shows that.
func ordinary(file string) bool {
	dir, name := filepath.Split(file)
	if os.Chmod(file, 0o744) != nil {
		return false
	}
	fi, err := os.Stat(file)
	if err != nil || fi.Mode().Perm() != 0o744 || os.Chmod(file, 0o644) != nil {
		return false
	}
	if fi, err = os.Stat(file); err != nil || fi.Mode().Perm() != 0o644 {
		return false
	}
	if _, err := os.Lstat(dir + strings.ToUpper(name)); err == nil {
		return false
	}
	link := dir + "link"
	return os.Symlink(name, link) == nil && os.Remove(link) == nil
}

// FirstRef writes the first ref of a repository that was just made, with its log, as git does.
func FirstRef(gitDir, name, oid, reason string) bool {
	head, ok := Head(gitDir)
	if !ok || head != name {
		return false
	}
	now := time.Now()
	line := fmt.Sprintf("%s %s cordon <cordon@localhost> %d %s\t%s\n", strings.Repeat("0", len(oid)), oid, now.Unix(), now.Format("-0700"), reason)
	for _, log := range []string{filepath.Join("logs", filepath.FromSlash(name)), "logs/HEAD"} {
		at := filepath.Join(gitDir, log)
		if os.MkdirAll(filepath.Dir(at), 0o755) != nil || os.WriteFile(at, []byte(line), 0o644) != nil {
			return false
		}
	}
	at := filepath.Join(gitDir, filepath.FromSlash(name))
	if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
		return false
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false
	}
	_, err = f.WriteString(oid + "\n")
	if err == nil {
		err = f.Sync()
	}
	return f.Close() == nil && err == nil
}

// Used names a file which shows that somebody has worked in a repository since it was made with its
// first ref: a ref, an entry of a log, an object, the repository of a submodule. It is "" if there is none.
func Used(gitDir, ref, oid string) (used string, err error) {
	err = filepath.WalkDir(gitDir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(gitDir, at)
		if err != nil || isFirst(at, filepath.ToSlash(name), ref, oid) {
			return err
		}
		used = name
		return fs.SkipAll
	})
	if errors.Is(err, fs.ErrNotExist) { // nothing of it is left to lose
		err = nil
	}
	return used, err
}

// isFirst reports whether a file of a repository says no more than when it was made. Git writes the
// index, and editors write settings, when somebody only looks around. What the last three speak of
// is in other files too.
func isFirst(at, name, ref, oid string) bool {
	text, err := plainfile.Read(at, plainfile.Line)
	switch name {
	case "index", "config", "shallow", "info/attributes", "objects/info/alternates", "AUTO_MERGE", "COMMIT_EDITMSG", "ORIG_HEAD":
		return true
	case "HEAD":
		return err == nil && string(text) == "ref: "+ref+"\n"
	case ref:
		return err == nil && string(text) == oid+"\n"
	case "logs/HEAD", "logs/" + ref:
		return err == nil && bytes.Count(text, []byte("\n")) == 1
	}
	return false
}

// Sum reads files, and says whether each is an ordinary one or absent.
func Sum(files []string) (sum [sha256.Size]byte, ok bool) {
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

// most is how many files are read to spare a process.
const most = 2000

// OfRefs are the files that git reads to list all refs; nil: they are too many, or are kept
// otherwise.
func OfRefs(gitDir string) []string {
	list := []string{filepath.Join(gitDir, "packed-refs"), filepath.Join(gitDir, "HEAD"), filepath.Join(gitDir, "config")}
	if _, err := os.Lstat(filepath.Join(gitDir, "reftable")); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := filepath.WalkDir(filepath.Join(gitDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular() || len(list) >= most:
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

// OfCheckout are the files that git reads to list the checkouts of a repository that has only
// one; nil: it has more.
func OfCheckout(gitDir string, size int) []string {
	if entries, err := os.ReadDir(filepath.Join(gitDir, "worktrees")); err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		return nil
	}
	branch, ok := Head(gitDir)
	if _, loose := Ref(gitDir, branch, size); !ok || !loose {
		return nil
	}
	names := []string{"HEAD", "config", "config.worktree", "commondir", filepath.FromSlash(branch)}
	for i, name := range names {
		names[i] = filepath.Join(gitDir, name)
	}
	return names
}

// OnlyCheckout reads the branch and the commit of the one checkout of a repository, which is
// around its git directory. It reports false for every other repository.
func OnlyCheckout(gitDir string, size int) (branch, head string, ok bool) {
	if OfCheckout(gitDir, size) == nil || filepath.Base(gitDir) != ".git" {
		return "", "", false
	}
	text, err := plainfile.Read(filepath.Join(gitDir, "config"), plainfile.Text)
	config := strings.ToLower(string(text))
	if err != nil || strings.Count(config, "bare") != 1 || !strings.Contains(config, "\tbare = false\n") {
		return "", "", false
	}
	for _, word := range []string{"include", "worktree", "refstorage"} {
		if strings.Contains(config, word) {
			return "", "", false
		}
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "commondir")); !errors.Is(err, fs.ErrNotExist) {
		return "", "", false
	}
	branch, _ = Head(gitDir)
	head, ok = Ref(gitDir, branch, size)
	return branch, head, ok
}

// OfConfig are the files that git reads to list the configuration of a checkout, whose own
// git directory is private; nil: they include others.
func OfConfig(gitDir, private string) []string {
	list := []string{filepath.Join(gitDir, "config"), filepath.Join(private, "config.worktree"), filepath.Join(gitDir, "config.worktree"),
		filepath.Join(private, "commondir")}
	for _, f := range list {
		text, err := plainfile.Read(f, plainfile.Text)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || strings.Contains(strings.ToLower(string(text)), "include") {
			return nil
		}
	}
	return list
}

// Mentions reports whether the configuration in a git directory may have one of some texts, in lower case: a file
// of it has, includes others, or cannot be read.
func Mentions(gitDir string, texts ...string) bool {
	texts = append(texts, "include")
	return slices.ContainsFunc(PlaceOf("", gitDir).Configs(), func(file string) bool {
		said, err := plainfile.Read(file, plainfile.Text)
		said = bytes.ToLower(said)
		return err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(texts, func(t string) bool { return bytes.Contains(said, []byte(t)) })
	})
}
