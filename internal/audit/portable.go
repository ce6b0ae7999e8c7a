package audit

import (
	"fmt"
	"strings"

	"cordon/internal/git"
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
		why := unportableName(name)
		if why != "" && before.Entry(strings.Join(names[:i+1], "/")).Mode == git.Absent {
			return why
		}
	}
	return ""
}

// devices are names that Windows takes for a device, with any extension.
var devices = map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true, "CLOCK$": true}

func unportableName(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	port, numbered := strings.CutPrefix(stem, "COM")
	if !numbered {
		port, numbered = strings.CutPrefix(stem, "LPT")
	}
	switch {
	case devices[stem] || numbered && len([]rune(port)) == 1 && strings.ContainsAny(port, "0123456789¹²³"):
		return fmt.Sprintf("%s is a device on Windows", stem)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "Windows drops a dot or blank at the end of a name"
	case strings.ContainsAny(name, `<>:"|?*\`):
		return `Windows has no names with < > : " | ? * or \`
	}
	return ""
}
