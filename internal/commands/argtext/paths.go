package argtext

import (
	"strings"

	"cordon/internal/mark"
)

// JoinDir is where one is after entering b from a.
func JoinDir(a, b string) string {
	if a == "" || strings.HasPrefix(b, "/") || strings.HasPrefix(b, "~") {
		return b
	}
	if b == "" {
		return a
	}
	return a + "/" + b
}

// Made returns where a file may be after it was copied or linked: below the
// destination if that is a directory, which only the disk tells; and the
// directory that is nearest to it.
func Made(source, to string, into, exact bool) (dir string, paths []string) {
	name := LastName(source)
	plain := name != "" && name != "." && name != ".."
	below := strings.TrimSuffix(to, "/") + "/" + name
	switch {
	case into && plain:
		return to, []string{below}
	case into:
		return to, []string{to}
	}
	if exact || !plain {
		return Parent(to), []string{to}
	}
	return Parent(to), []string{to, below}
}

// Parent is the directory that a path is in; "" is the working directory.
func Parent(path string) string {
	path = strings.TrimRight(path, "/")
	i := strings.LastIndexByte(path, '/')
	switch {
	case i < 0:
		return ""
	case i == 0:
		return "/"
	}
	return path[:i]
}

// LastName is the last element of a path.
func LastName(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// CommandName is the last element of a command's path, without the suffix that
// programs of Windows have.
func CommandName(arg string) string {
	if i := strings.LastIndexByte(arg, '/'); i >= 0 {
		arg = arg[i+1:]
	}
	return strings.TrimSuffix(arg, ".exe")
}

// Unversioned takes a version off the end of a name, as in gcc-13, python3.12
// and perl5.38; "" when there is none.
func Unversioned(name string) string {
	s := strings.TrimRight(name, "0123456789.")
	s = strings.TrimSuffix(s, "-")
	if s == name {
		return ""
	}
	return s
}

// Climbs reports whether ".." is an element of a path, and not the dots of a
// range.
func Climbs(s string) bool {
	return s == ".." || strings.HasPrefix(s, "../") || strings.HasSuffix(s, "/..") || strings.Contains(s, "/../")
}

// LooksLikePath reports whether a word can only be meant as a path that leads
// somewhere else than straight down from here.
func LooksLikePath(word string) bool {
	switch {
	case word == "", strings.Contains(word, "://"):
		return false
	case word[0] == '/', word[0] == '~', word == "..", strings.HasPrefix(word, "../"), strings.HasPrefix(word, "./.."):
		return true
	case mark.First(word) == 0:
		return mark.Has(word, mark.Outside)
	}
	return strings.Contains(word, "/../") || strings.HasSuffix(word, "/..")
}

func IsStdin(path string) bool {
	return path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0"
}

// IsLocalHost reports whether a destination is this host. A word that is not
// known, as $(hostname) is, may well be.
func IsLocalHost(host string) bool {
	host = strings.TrimPrefix(host, "ssh://")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host = strings.ToLower(host)
	if strings.HasPrefix(host, "[") {
		host, _, _ = strings.Cut(host[1:], "]")
	} else if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}
	host = strings.TrimSuffix(host, ".")
	switch host {
	case "localhost", "localhost.localdomain", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback", "::1", "::", "0", "0.0.0.0",
		"host.docker.internal", mark.Atom:
		return true
	}
	return strings.HasPrefix(host, "127.") || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "::ffff:127.") ||
		host == "0x7f000001" || host == "2130706433"
}

// PlaceOf says of a path in words of marks what can be said without a disk. A
// relative path is inside, because a directory outside is not entered.
func PlaceOf(p string) string {
	switch {
	case mark.Has(p, mark.Any):
		return mark.Any
	case mark.Has(p, mark.Outside):
		return mark.Outside
	case strings.HasPrefix(p, mark.Scratch), strings.HasPrefix(p, "/tmp/"), p == "/tmp", strings.HasPrefix(p, "/var/tmp/"):
		if strings.Contains(p, "..") {
			return mark.Any
		}
		return mark.Scratch
	case strings.HasPrefix(p, mark.System), strings.HasPrefix(p, "/usr/"), strings.HasPrefix(p, "/etc/"):
		if strings.Contains(p, "..") {
			return mark.Any
		}
		return mark.System
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, "~"), p == "..", strings.HasPrefix(p, "../"), strings.Contains(p, "/.."):
		return mark.Any
	}
	return mark.Inside
}
