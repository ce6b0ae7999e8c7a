package git

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// pathspecs adds what a command does to the paths that its operands name. Git
// never follows a symbolic link that a pathspec ends in.
func (g *gitCall) pathspecs(role commands.Role, specs []string) {
	for _, s := range specs {
		if p, ok := specOf(s); ok {
			g.use.Access = append(g.use.Access, commands.Access{Role: role, Path: p, Dir: g.dir, Why: "pathspec", Link: true})
		}
	}
}

// specOf returns the path of a pathspec, unless it only says what is left out.
func specOf(s string) (string, bool) {
	if s == "" || s == ":" {
		return "", false
	}
	if s[0] != ':' {
		return s, true
	}
	if long, ok := strings.CutPrefix(s, ":("); ok {
		magic, path, _ := strings.Cut(long, ")")
		if strings.Contains(magic, "exclude") {
			return "", false
		}
		return pathOrHere(path), true
	}
	path := strings.TrimLeft(s[1:], "/!^")
	if magic := s[1 : len(s)-len(path)]; strings.ContainsAny(magic, "!^") {
		return "", false
	}
	return pathOrHere(strings.TrimPrefix(path, ":")), true
}

func pathOrHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// revisions adds what operands read that are revisions or paths. One that is
// not known is a revision: git reads no file through it, and those commands
// that do say so.
func (g *gitCall) revisions(operands []string) {
	for _, s := range operands {
		if maybePath(s) && !mark.Has(s, mark.Any) {
			g.pathspecs(commands.Read, []string{s})
		}
	}
}

// maybePath reports whether an operand that may be a revision may be a path as
// well: not HEAD:path, main..HEAD or :/text.
func maybePath(s string) bool {
	switch {
	case s == "" || s == "-" || s == "@":
		return false
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~"):
		return true
	case s[0] == ':' || s[0] == '^':
		return false
	case strings.Contains(s, ":") || strings.Contains(s, "@{") || strings.Contains(s, "^{"):
		return false
	}
	return argtext.Climbs(s) || !strings.Contains(s, "..")
}

// onlyPath reports whether an operand cannot be a revision.
func onlyPath(s string) bool {
	return s == "." || s == ".." || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.HasPrefix(s, "~/") || strings.HasSuffix(s, "/") || strings.ContainsAny(s, "*?[ ") || argtext.Climbs(s) ||
		s != "" && s[0] == ':'
}

// looksFile reports whether a word has an extension: letters after a dot in its
// last element.
func looksFile(s string) bool {
	if strings.Contains(s, "..") {
		return false
	}
	s = s[strings.LastIndexByte(s, '/')+1:]
	i := strings.LastIndexByte(s, '.')
	return i >= 0 && i+1 < len(s) && (s[i+1]|0x20) >= 'a' && (s[i+1]|0x20) <= 'z'
}

// isHash reports whether a word is a commit's hash, perhaps a short one.
func isHash(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == "" || s == mark.Atom
}

// before returns the operands ahead of "--", and all of them without one.
func (g *gitCall) before() []string {
	if g.Tail < 0 {
		return g.Operands
	}
	return g.Operands[:g.Tail]
}

// after returns the operands behind "--".
func (g *gitCall) after() []string {
	if g.Tail < 0 {
		return nil
	}
	return g.Operands[g.Tail:]
}

// nth returns one of the operands, "" if there are not so many.
func (g *gitCall) nth(i int) string {
	if i < len(g.Operands) {
		return g.Operands[i]
	}
	return ""
}

// rest returns the operands after the first, which is a subcommand's own
// subcommand.
func (g *gitCall) rest() []string { return g.Operands[min(1, len(g.Operands)):] }

// each does what a kind says with operands.
func (g *gitCall) each(kind string, operands []string) {
	for _, o := range operands {
		g.value(kind, o, "operand")
	}
}

// fullRef is the full name of a ref that a command puts below a directory.
func fullRef(below, name string) string {
	if strings.HasPrefix(name, "refs/") || name == "HEAD" {
		return name
	}
	return below + strings.TrimPrefix(name, "heads/")
}
