// Package paths answers whether one path lies in another, the same way everywhere. It
// compares names, component by component, and refuses to look at the disk: whoever
// needs to know where links lead resolves them first.
package paths

import (
	"path"
	"strings"
)

// Within reports whether p is dir or lies below it. "/" holds every absolute path and
// "." every relative one that stays inside. The empty path holds nothing and lies in
// nothing.
func Within(p, dir string) bool {
	return p != "" && dir != "" && within(clean(p), clean(dir))
}

// Inside is Within for two paths that are clean already, as filepath.Clean leaves them. A
// plan compares tens of thousands of them.
func Inside(p, dir string) bool { return p != "" && dir != "" && within(p, dir) }

// Below reports whether p lies below dir and is not dir itself.
func Below(p, dir string) bool { return Within(p, dir) && clean(p) != clean(dir) }

// WithinFold is Within on a file system that does not tell upper from lower case.
func WithinFold(p, dir string) bool {
	if Within(p, dir) || p == "" || dir == "" {
		return p != "" && dir != ""
	}
	p, dir = path.Clean(p), path.Clean(dir)
	return len(p) >= len(dir) && strings.EqualFold(p[:len(dir)], dir) && within(dir+p[len(dir):], dir)
}

// WithinAny reports whether p is one of some directories or lies below one.
func WithinAny(p string, dirs []string) bool {
	for _, dir := range dirs {
		if Within(p, dir) {
			return true
		}
	}
	return false
}

// Holding is the first of some directories that p lies below, or "".
func Holding(p string, dirs []string) string {
	for _, dir := range dirs {
		if Below(p, dir) {
			return dir
		}
	}
	return ""
}

// MatchName is path.Match for one name, which most patterns need not go through: they are
// names themselves. A pattern that means nothing matches nothing.
func MatchName(pattern, name string) bool {
	if IsName(pattern) {
		return pattern == name
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// IsName reports whether a pattern of MatchName matches itself and nothing else.
func IsName(pattern string) bool { return !strings.ContainsAny(pattern, `*?[\`) }

// clean is path.Clean, which most paths need not go through: they are absolute and clean.
func clean(p string) string {
	if p == "/" || p[0] == '/' && plain(p) {
		return p
	}
	return path.Clean(p)
}

// plain reports whether no part of an absolute path is empty or begins with a dot, other than
// a name such as .git.
func plain(p string) bool {
	last := len(p) - 1
	for i := range last {
		if p[i] != '/' {
			continue
		}
		switch next := p[i+1]; {
		case next == '/', next == '.' && (i+1 == last || p[i+2] == '/' || p[i+2] == '.'):
			return false
		}
	}
	return p[last] != '/'
}

// within compares two clean paths.
func within(p, dir string) bool {
	switch dir {
	case "/":
		return p[0] == '/'
	case ".":
		return p[0] != '/' && p != ".." && !strings.HasPrefix(p, "../")
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}
