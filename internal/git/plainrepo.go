package git

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"cordon/internal/plainfile"
)

// What git writes in files of a line is read and written here without a process. Where a
// file is not what git writes there, or is not there at all, git is asked.

// looseRef reads a ref that is a file of its own. Symbolic refs, packed ones and those of
// another storage are not.
func (r Repo) looseRef(name string) (OID, bool) {
	if !plainRef(name) {
		return "", false
	}
	text, err := plainfile.Read(filepath.Join(r.Dir, filepath.FromSlash(name)), plainfile.Line)
	if err != nil {
		return "", false
	}
	line, ended := strings.CutSuffix(string(text), "\n")
	oid, err := ParseOID(line)
	return oid, err == nil && ended && len(oid) == 2*r.Format.NewHash().Size()
}

// plainRefs are names that every git takes and no file system reads in two ways.
var plainRefs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*$`) })

// plainRef reports whether a full name is of a kind that needs no second look.
func plainRef(name string) bool {
	return strings.HasPrefix(name, "refs/") && plainRefs().MatchString(name)
}

// headOf reads the branch that a HEAD points at. A detached one and that of another storage
// of refs are for git to read.
func headOf(gitDir string) (string, bool) {
	text, err := plainfile.Read(filepath.Join(gitDir, "HEAD"), plainfile.Line)
	if err != nil {
		return "", false
	}
	name, isRef := strings.CutPrefix(string(text), "ref: ")
	name, ended := strings.CutSuffix(name, "\n")
	return name, isRef && ended && plainRef(name)
}

// initPlain makes a repository as git init does on a file system with nothing special about
// it. It reports false where something is, and leaves what it made for git to find.
func initPlain(gitDir string, o InitOptions) bool {
	branch := o.Branch
	if branch == "" {
		branch = "main"
	}
	if runtime.GOOS != "linux" || !plainRef("refs/heads/"+branch) {
		return false
	}
	if entries, err := os.ReadDir(gitDir); err == nil && len(entries) > 0 || err != nil && !os.IsNotExist(err) {
		return false
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if os.MkdirAll(filepath.Join(gitDir, dir), 0o755) != nil {
			return false
		}
	}
	config := filepath.Join(gitDir, "config")
	if os.WriteFile(config, []byte(configText(o)), 0o644) != nil || !ordinary(config) {
		return false
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644) == nil
}

func configText(o InitOptions) string {
	version, more := 0, ""
	if o.Format != SHA1 {
		version, more = 1, "[extensions]\n\tobjectformat = "+string(o.Format)+"\n"
	}
	text := fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = %t\n", version, o.Bare)
	if !o.Bare {
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

// firstRef writes the first ref of a repository that was just made, with its log, as git does.
func (r Repo) firstRef(name string, oid OID, reason string) bool {
	head, ok := headOf(r.Dir)
	if !ok || head != name {
		return false
	}
	now := time.Now()
	line := fmt.Sprintf("%s %s cordon <cordon@localhost> %d %s\t%s\n", r.Format.Zero(), oid, now.Unix(), now.Format("-0700"), reason)
	for _, log := range []string{filepath.Join("logs", filepath.FromSlash(name)), "logs/HEAD"} {
		at := filepath.Join(r.Dir, log)
		if os.MkdirAll(filepath.Dir(at), 0o755) != nil || os.WriteFile(at, []byte(line), 0o644) != nil {
			return false
		}
	}
	at := filepath.Join(r.Dir, filepath.FromSlash(name))
	if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
		return false
	}
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false
	}
	_, err = f.WriteString(string(oid) + "\n")
	if err == nil {
		err = f.Sync()
	}
	return f.Close() == nil && err == nil
}
