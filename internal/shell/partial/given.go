package partial

import (
	"strings"

	"cordon/internal/mark"
)

// HomeOf is the home of another user. Where it really is does not matter: it is
// not the worktree.
func HomeOf(user string) string {
	if user == "root" {
		return "/root"
	}
	return "/home/" + user
}

// Given is what is known of a variable that the script did not set.
func Given(name string) string {
	switch name {
	case "?", "$", "!", "-", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME",
		"HOSTNAME", "USER", "LOGNAME", "USERNAME", "LANG", "LC_ALL", "TERM", "OSTYPE", "HOSTTYPE", "MACHTYPE", "BASH_VERSION", "SHLVL", "COLUMNS", "LINES",
		"OPTIND", "REPLY_STATUS", "SHELLOPTS", "GROUPS":
		return mark.Atom
	case "SHELL", "BASH":
		return "/bin/bash"
	case "PATH":
		return "/usr/local/bin:/usr/bin:/bin"
	case "TMPDIR", "TMP", "TEMP":
		return "/tmp"
	}
	return mark.Any
}

// Inherited reports whether a variable most likely came with the environment, so
// that setting it changes what commands get.
func Inherited(name string) bool {
	switch name {
	case "PATH", "HOME", "SHELL", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_OPTIONS", "NODE_PATH", "GOPATH", "GOFLAGS":
		return true
	}
	return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "XDG_")
}
