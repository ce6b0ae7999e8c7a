package gitfile

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ForeignError says that git refuses a repository, because somebody else could have written its
// configuration and safe.directory in the operator's own does not list it.
type ForeignError struct {
	Path  string // what belongs to somebody else
	Owner string
	Top   string // what safe.directory would list
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s belongs to %s, and the configuration of a repository can run programs as you: "+
		"if you trust it, run git config --global --add safe.directory '%s'", e.Path, e.Owner, strings.ReplaceAll(e.Top, "'", `'\''`))
}

// Foreign finds out who owns what git refused around a directory.
func Foreign(dir string) *ForeignError {
	p, _ := Around(dir)
	top := cmp.Or(p.Top, dir)
	for _, at := range []string{filepath.Join(top, ".git"), top, p.GitDir} {
		fi, err := os.Lstat(at)
		if err != nil {
			continue
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
			return &ForeignError{Path: at, Owner: userName(st.Uid), Top: top}
		}
	}
	return &ForeignError{Path: top, Owner: "somebody else", Top: top}
}

func userName(uid uint32) string {
	id := strconv.Itoa(int(uid))
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}
