package audit

import (
	"fmt"
	"strings"

	"cordon/internal/git"
	"cordon/internal/portable"
)

// markUnportable finds the added paths that Windows or macOS cannot have. Names that
// the branch had before are nobody's fault, directories included.
func markUnportable(list []Change, before *git.Listing) {
	for i, ch := range list {
		if ch.Kind != Added {
			continue
		}
		if why := unportable(string(ch.Path), before); why != "" {
			list[i].Kind, list[i].Detail = Unportable, why
		}
	}
}

// UnportableIn describes the first path that changes add and that some systems cannot
// have. It returns "" if there is none.
func UnportableIn(changes []git.Delta, before *git.Listing) string {
	for _, d := range changes {
		if d.Old.Mode != git.Absent {
			continue
		}
		if why := unportable(d.Path, before); why != "" {
			return Path(d.Path).String() + ": " + why
		}
	}
	return ""
}

func unportable(p string, before *git.Listing) string {
	if len(p) > maxPortablePath {
		return fmt.Sprintf("the path is longer than %d bytes", maxPortablePath)
	}
	names := splitPath(p)
	for i, name := range names {
		why := portable.Refused(name)
		if why != "" && before.Entry(strings.Join(names[:i+1], "/")).Mode == git.Absent {
			return why
		}
	}
	return ""
}
