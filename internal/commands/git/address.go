package git

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
)

// address is what may be said of the address of a repository.
type address struct {
	path string   // on this machine
	args []string // a command that is run to reach it
	far  bool     // it is on another machine
}

// gitAddress takes an address apart. A plain name may be that of a remote, and
// as well a directory: it has a path.
func gitAddress(s string) address {
	if helper, rest, ok := strings.Cut(s, "::"); ok && isPlainName(helper) {
		switch helper {
		case "ext":
			return address{args: extWords(rest)}
		case "fd":
			return address{far: true}
		}
		return gitAddress(strings.TrimPrefix(rest, helper+"::"))
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok && isPlainName(scheme) {
		host, path, _ := strings.Cut(rest, "/")
		if scheme == "file" || argtext.IsLocalHost(host) {
			return address{path: atHome("/" + path)}
		}
		return address{far: true}
	}
	if host, path, ok := strings.Cut(s, ":"); ok && !strings.Contains(host, "/") && host != "" {
		if !argtext.IsLocalHost(host) {
			return address{far: true}
		}
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~") {
			path = "~/" + path
		}
		return address{path: path}
	}
	return address{path: s}
}

// extWords splits the command of an ext:: address at blanks. A percent sign
// begins what stands for something else.
func extWords(s string) []string {
	s = strings.NewReplacer("% ", "\x00", "%%", "%", "%s", "upload-pack", "%S", "git-upload-pack", "%G", "", "%V", "").Replace(s)
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "\x00", " ")
	}
	return words
}

// atHome is the path of an address with a user's home in it: ssh://host/~/x.
func atHome(path string) string {
	if strings.HasPrefix(path, "/~") {
		return path[1:]
	}
	return path
}

func isPlainName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
	}) < 0
}

// address adds what becomes of the repository at an address.
func (g *gitCall) address(role commands.Role, s, why string) address {
	a := gitAddress(s)
	switch {
	case a.args != nil:
		g.use.Runs = append(g.use.Runs, commands.Run{Args: a.args, Dir: g.dir, Why: why})
	case a.path != "":
		g.path(role, a.path, why)
	}
	return a
}
