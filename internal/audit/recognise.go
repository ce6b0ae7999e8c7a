package audit

// Repository reports whether git would take a directory with these names for a git
// directory. file tells whether a name is something else than a directory.
func Repository(names []string, file func(string) bool) bool {
	return bareRepository(names, file) != ""
}

// DotGit reports whether some file system takes a name for ".git".
func DotGit(name string) bool { return isDotGit(name) }
