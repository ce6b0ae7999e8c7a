package worktree

import (
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
)

// Arms says why git must not be used in a git directory that nobody trusts; "" where it runs nothing.
func Arms(dir *os.File) string {
	if runsNothing(dir) {
		return ""
	}
	return couldRun
}

// runsNothing reports whether git can be used in a repository that nobody trusts: it is
// made of the usual parts, has no hooks, and its configuration holds nothing but keys
// that name no program and no file. Everything else, and what cannot be read, is not.
func runsNothing(dir *os.File) bool {
	fits := func(name string) bool {
		var st unix.Stat_t
		if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return false
		}
		kind := st.Mode & unix.S_IFMT
		return kind == unix.S_IFREG && slices.Contains(gitFiles, name) || kind == unix.S_IFDIR && slices.Contains(gitFolders, name)
	}
	odd := func(name string) bool { return !plainBelow(dir, name) }
	return onlyNamed(dir, ".", fits) && !slices.ContainsFunc(gitFolders, odd) &&
		onlyNamed(dir, "hooks", func(name string) bool { return strings.HasSuffix(name, ".sample") }) &&
		onlyNamed(dir, "branches", func(string) bool { return false }) && // each would be a remote, with an address of any kind
		onlyNamed(dir, "info", func(name string) bool { return name == "exclude" || name == "refs" }) &&
		plainConfig(dir)
}

var (
	gitFiles   = []string{"HEAD", "config", "description", "index", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "shallow"}
	gitFolders = []string{"hooks", "info", "objects", "refs", "logs", "branches"}
)

// eachBatch reads the entries of a directory, if it is there, until keep says no. What
// cannot be read counts as a no.
func eachBatch(dir *os.File, sub string, keep func(*os.File, []os.DirEntry) bool) bool {
	f, err := openDir(int(dir.Fd()), sub)
	if err == unix.ENOENT {
		return true
	}
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(batch)
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if !keep(f, entries) {
			return false
		}
	}
}

// onlyNamed reports whether a directory, if it is there, holds nothing but such names.
func onlyNamed(dir *os.File, sub string, fits func(string) bool) bool {
	return eachBatch(dir, sub, func(_ *os.File, entries []os.DirEntry) bool {
		return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !fits(e.Name()) })
	})
}

// The bounds of what is looked at in a folder of a git directory.
const (
	plainDepth   = 100
	plainEntries = 1_000_000
)

// plainBelow reports whether a folder of a git directory, if it is there, holds nothing but
// files and directories: git waits for a pipe that is in the place of a file. A list of
// places to borrow objects from could lead to one.
func plainBelow(dir *os.File, sub string) bool {
	left := plainEntries
	return plainIn(dir, sub, 0, &left)
}

func plainIn(dir *os.File, sub string, depth int, left *int) bool {
	return eachBatch(dir, sub, func(f *os.File, entries []os.DirEntry) bool {
		if *left -= len(entries); *left < 0 || depth > plainDepth {
			return false
		}
		for _, e := range entries {
			borrows := sub == "info" && strings.HasSuffix(e.Name(), "alternates")
			if borrows || !e.IsDir() && !e.Type().IsRegular() || e.IsDir() && !plainIn(f, e.Name(), depth+1, left) {
				return false
			}
		}
		return true
	})
}

// plainConfig reads the configuration line by line and knows one spelling of each thing.
func plainConfig(dir *os.File) bool {
	fd, err := unix.Openat(int(dir.Fd()), "config", unix.O_RDONLY|unix.O_CLOEXEC|plainfile.Flags, 0)
	if err == unix.ENOENT {
		return true
	}
	if err != nil {
		return false
	}
	f, err := plainfile.Check(os.NewFile(uintptr(fd), "config"), nil)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := plainfile.Bounded(f, maxConfig)
	if err != nil {
		return false
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if head := configHead().FindStringSubmatch(line); head != nil {
			section = head[1] + "."
			if head[2] != "" {
				section += "*."
			}
			continue
		}
		set := configLine().FindStringSubmatch(line)
		if line != "" && (set == nil || !slices.Contains(plainKeys, section+set[1]) || strings.Contains(set[2], "::")) {
			return false
		}
	}
	return true
}

const maxConfig = 64 << 10

var (
	configHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([a-z]+)( "[A-Za-z0-9._/ -]*")?\]$`) })
	configLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\t?([a-zA-Z]+) = ([A-Za-z0-9_.:/@+*~ -]*)$`) })
	plainKeys  = []string{
		"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.symlinks",
		"user.name", "user.email", "remote.*.url", "remote.*.fetch", "branch.*.remote", "branch.*.merge", "branch.*.rebase",
	}
)
