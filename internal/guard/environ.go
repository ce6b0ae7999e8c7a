package guard

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/shell"
)

// namesPaths reports whether a variable, by its name, holds paths that some
// program reads, writes or runs from. What known programs do with known variables
// is package commands' business, git's variables among them; this is for the rest.
func namesPaths(name string) bool {
	switch name {
	case "HOME", "ENV", "BASH_ENV", "PREFIX", "DESTDIR", "MAKEFILES", "PYTHONSTARTUP", "PERL5LIB", "RUBYLIB", "HISTFILE", "INPUTRC":
		return true
	}
	if strings.HasPrefix(name, "GIT_") {
		return false
	}
	for _, end := range []string{"PATH", "DIR", "HOME", "ROOT", "PREFIX", "_FILE", "FOLDER", "BIN", "TARGET"} {
		if strings.HasSuffix(strings.ToUpper(name), end) {
			return true
		}
	}
	return false
}

// environment judges the variables that the script itself gives to a command: a
// path among them that leads to another tree would be used. What is in the home is
// the operator's, installed and configured, and most programs look there anyway.
func (j *judge) environment(m *shell.Machine) {
	m.EachExported(func(name, value string) {
		if !namesPaths(name) {
			return
		}
		for _, entry := range strings.FieldsFunc(value, func(c rune) bool { return c == ':' || c == ' ' || c == ';' }) {
			if w := j.resolve(m.Dir(), home(entry, j.scope.Home)); j.foreign(w) {
				j.access(m, commands.Access{Role: commands.Read, Path: entry}, name)
			}
		}
	})
}

// foreign reports whether a path is known to lead to another tree.
func (j *judge) foreign(w where) bool {
	if w.outside {
		return true
	}
	switch j.placeOf(w) {
	case Host, Sibling, State, Elsewhere:
		return true
	}
	return false
}
