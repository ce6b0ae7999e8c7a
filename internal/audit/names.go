package audit

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"cordon/internal/legible"
	"cordon/internal/policy"
)

func splitPath(p string) []string { return strings.Split(p, "/") }

// hfsIgnored are the code points that HFS+ leaves out when it compares names.
func hfsIgnored(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

// DotGit reports whether some file system that git runs on takes the name for
// ".git": by case, by HFS+ ignored code points, by the NTFS short name, by
// trailing dots and spaces or an NTFS stream.
func DotGit(name string) bool {
	if name == "" || name[0] != '.' && name[0] != 'g' && name[0] != 'G' && name[0] < utf8.RuneSelf {
		return false // nearly every name
	}
	n := strings.ToLower(strings.Map(func(r rune) rune {
		if hfsIgnored(r) {
			return -1
		}
		return r
	}, name))
	n, _, _ = strings.Cut(n, ":")
	n = strings.TrimRight(n, ". ")
	return n == ".git" || n == "git~1"
}

// Linux opens no path of 4,096 bytes, macOS none of 1,024. The rest is for the
// directory that a checkout lies in.
const (
	maxPath         = 4096 - 256
	maxPortablePath = 1024 - 256
)

// badName says what is wrong with a new path, or "".
func badName(p string) string {
	if len(p) > maxPath {
		return fmt.Sprintf("the path is longer than %d bytes", maxPath)
	}
	if !utf8.ValidString(p) {
		return "it is not valid UTF-8"
	}
	if strings.ContainsFunc(p, unicode.IsControl) {
		return "it holds a control character"
	}
	if legible.Hides(p) {
		return "it holds an invisible character"
	}
	for _, c := range splitPath(p) {
		switch {
		case c == "" || c == "." || c == "..":
			return "it has an empty or dot component"
		case DotGit(c):
			return "it is .git on some file system"
		case strings.Contains(c, `\`):
			return "it holds a backslash"
		case len(c) > 255:
			return "a component is longer than 255 bytes"
		}
	}
	return ""
}

// folded is the spelling under which file systems that fold case, normalise
// Unicode, ignore characters or drop dots and blanks at the end of a name would
// find a path.
func folded(p string) string {
	p = policy.Folded(p)
	if !strings.ContainsAny(p, ". ") {
		return p
	}
	names := splitPath(p)
	for i, n := range names {
		names[i] = strings.TrimRight(n, ". ")
	}
	return strings.Join(names, "/")
}

// markCollisions makes a collision of every added path that has a double in the
// resulting tree.
func markCollisions(list []Change, after *outcome) {
	var added []string
	for _, ch := range list {
		if ch.Kind == Added && !ch.Ignored {
			added = append(added, string(ch.Path))
		}
	}
	hits := collisions(added, after)
	for i := range list {
		if other, ok := hits[string(list[i].Path)]; ok && list[i].Kind == Added {
			list[i].Kind, list[i].Detail = Collision, "with "+Path(other).String()
		}
	}
}

// collisions finds the new paths that, on some file system, are another path of
// the resulting tree, or a directory of one.
func collisions(added []string, after *outcome) map[string]string {
	hits := map[string]string{}
	for _, p := range added {
		for _, prefix := range prefixes(p) {
			if other := otherSpelling(prefix, after); other != "" {
				hits[p] = other
				break // the closest is the one to name
			}
		}
	}
	return hits
}

func otherSpelling(p string, after *outcome) string {
	for _, other := range after.spellings(p) {
		if other != p {
			return other
		}
	}
	return ""
}

// prefixes lists a path and every directory above it.
func prefixes(p string) []string {
	var list []string
	for p != "." && p != "/" {
		list = append(list, p)
		p = path.Dir(p)
	}
	return list
}
