// Package argtext knows the text of arguments and of what commands print: which
// part of a word is a path, how words are quoted and split, and what is left of a
// list of names when a filter has passed it on. Texts may hold marks (package
// mark). It knows no command, and refuses to look at a disk.
package argtext

import (
	"net/url"
	"strings"

	"cordon/internal/mark"
)

// MaxLoose bounds the work on one call that nobody knows.
const MaxLoose = 4096

// LooseArgument returns what looks like a path in an argument that may be an
// option: -C/w/repo, --opt=/w/repo, ../x.
func LooseArgument(a string) []string {
	if !strings.HasPrefix(a, "-") {
		return LoosePaths(a)
	}
	name := strings.TrimLeft(a, "-")
	if i := pathStart(name); i > 0 && !strings.HasPrefix(a, "--") {
		return LoosePaths(name[i:])
	}
	if option, v, ok := strings.Cut(name, "="); ok {
		if takesText(option) {
			return nil
		}
		return LoosePaths(v)
	}
	return LooseBits(name) // -o:../out
}

// takesText reports whether an option that nobody knows takes text, by its name:
// --testNamePattern, --grep, --title.
func takesText(option string) bool {
	option = strings.ToLower(option)
	for _, w := range [...]string{"pattern", "grep", "regex", "title", "message", "description", "match", "query"} {
		if strings.Contains(option, w) && !strings.Contains(option, "file") && !strings.Contains(option, "dir") {
			return true
		}
	}
	return option == "name" || option == "testname" || option == "filter" || option == "label"
}

// pathStart returns where a value begins that is attached to a letter.
func pathStart(s string) int {
	n := RuneLen(s)
	if n < len(s) && StartsPath(s[n:]) {
		return n
	}
	return -1
}

// StartsPath reports whether a text begins the way only a path does.
func StartsPath(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		s == ".." || s == "." || StartsHome(s) ||
		mark.Has(s, mark.Outside) || strings.HasPrefix(s, mark.Any)
}

// StartsHome reports whether a text begins with a home directory: ~, ~/x,
// ~somebody, but not ~1.2, which is a version.
func StartsHome(s string) bool {
	rest, ok := strings.CutPrefix(s, "~")
	return ok && (rest == "" || rest[0] == '/' || rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z')
}

// PathLike reports whether a value is to be looked at as a path though nothing
// says that it is one.
func PathLike(s string) bool { return len(LoosePaths(s)) > 0 }

// LoosePaths returns what looks like a path in a value: all of it, what follows
// an "=" or "@" or "file://", and the pieces between colons and commas. A value
// with blanks is text.
func LoosePaths(v string) []string {
	if v == "" || strings.ContainsAny(v, " \t\n") {
		return nil
	}
	if p, ok := FilePath(v); ok {
		return []string{p}
	}
	if strings.Contains(v, "://") {
		return nil
	}
	found := LooseBits(v)
	if whole, _, _ := strings.Cut(v, "#"); len(found) == 0 && (strings.Contains(whole, "/") || StartsPath(whole)) {
		found = append(found, whole)
	}
	return found
}

// LooseBits returns the pieces of a value that begin as only paths do.
func LooseBits(v string) []string {
	if strings.ContainsAny(v, " \t\n") {
		return nil
	}
	quotes := !strings.Contains(v, "{") // what looks like JSON is text
	var found []string
	for _, piece := range strings.FieldsFunc(v, func(r rune) bool {
		return r == ':' || r == ',' || r == '=' || r == '@' || quotes && (r == '"' || r == '\'')
	}) {
		piece, _, _ = strings.Cut(piece, "#")
		if piece != v && StartsPath(piece) {
			found = append(found, piece)
		}
		if len(found) > 16 {
			break
		}
	}
	return found
}

// FilePath returns the path of an address that names a file: file:///x,
// FILE://localhost/x, name=fileb://../x. Characters may be written as numbers.
func FilePath(v string) (string, bool) {
	low := strings.ToLower(v)
	i := strings.Index(low, "file://")
	n := len("file://")
	if i < 0 {
		i, n = strings.Index(low, "fileb://"), len("fileb://")
	}
	if i < 0 && strings.HasPrefix(low, "file:/") {
		i, n = 0, len("file:")
	}
	if i < 0 {
		return "", false
	}
	v = v[i+n:]
	for _, host := range [...]string{"localhost/", "127.0.0.1/"} {
		if rest, ok := strings.CutPrefix(v, host); ok {
			v = "/" + rest
		}
	}
	return percent(v), true
}

// percent reads characters that an address has as numbers, such as %2F.
func percent(s string) string {
	out, err := url.PathUnescape(s)
	if err != nil || !mark.Clean(out) && mark.Clean(s) {
		return mark.Any
	}
	return out
}

// SpecPath returns the path in a value that is either a path or a name or
// address: ./pkg, ../x[dev], .#attr, file:../x.
func SpecPath(v string) (string, bool) {
	if p, ok := FilePath(v); ok {
		return p, true
	}
	if strings.ContainsAny(v, " \t\n") && !StartsPath(v) {
		return "", false
	}
	if strings.Contains(v, "://") {
		return "", false
	}
	for _, p := range []string{"file:", "link:", "path:", "portal:"} {
		v = strings.TrimPrefix(v, p)
	}
	v, _, _ = strings.Cut(v, "#")
	if i := strings.IndexByte(v, '['); i > 0 && strings.HasSuffix(v, "]") {
		v = v[:i]
	}
	if !StartsPath(v) && !strings.Contains(v, "/../") && !mark.In(v) {
		return "", false
	}
	return v, true
}

// LocalPath returns a value unless it names a path of another host. What is on
// the worker's own host by another way is where it is.
func LocalPath(v string) (string, bool) {
	if strings.HasPrefix(v, "file://") {
		return v[len("file://"):], true
	}
	if strings.Contains(v, "://") {
		return "", false
	}
	colon := strings.IndexByte(v, ':')
	if colon > 0 && !strings.Contains(v[:colon], "/") {
		if !IsLocalHost(v) {
			return "", false
		}
		v = v[colon+1:]
		if !strings.HasPrefix(v, "/") {
			v = "~/" + v
		}
	}
	return v, v != "" && v != "-"
}
