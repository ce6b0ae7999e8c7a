package commands

// configSubcommand reads or changes configuration: the repository's, the
// user's, the system's or that of a file.
func (g *gitCall) configSubcommand() {
	verb, rest := g.configVerb()
	if verb == "get" {
		g.value("read", g.text("f", "file"), "--file")
		return
	}
	key, value := "", ""
	if len(rest) > 0 {
		key = rest[0]
	}
	if len(rest) > 1 {
		value = rest[1]
	}
	if file := g.configFile(); file != "" {
		g.path(Write, file, "config")
	} else {
		g.act(GitConfigures, key, value)
	}
	if key != "" && verb == "set" {
		g.set(gitSet{key, value, ""})
	}
}

// configVerb says what happens: get, set, unset, edit or a change of sections;
// and to which operands. Before git had words for it, the number of operands
// told reading from writing.
func (g *gitCall) configVerb() (string, []string) {
	switch g.nth(0) {
	case "list", "get", "get-color", "get-colorbool", "get-regexp":
		return "get", g.operands[1:]
	case "set", "unset", "edit", "rename-section", "remove-section":
		return g.nth(0), g.operands[1:]
	}
	switch {
	case g.has("e", "edit"):
		return "edit", nil
	case g.has("unset", "unset-all", "rename-section", "remove-section"):
		return "unset", g.operands
	case g.has("add", "replace-all"):
		return "set", g.operands
	case g.has("l", "list", "get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool") || len(g.operands) < 2:
		return "get", g.operands
	}
	return "set", g.operands
}

// configFile is the file that is changed, "" if it is the repository's own.
func (g *gitCall) configFile() string {
	switch {
	case g.has("f", "file"):
		return g.text("f", "file")
	case g.has("global"):
		return g.userConfig()
	case g.has("system"):
		return "/etc/gitconfig"
	}
	if v, ok := g.env("GIT_CONFIG"); ok {
		return v
	}
	return ""
}

// userConfig is the user's own configuration.
func (g *gitCall) userConfig() string {
	if v, ok := g.env("GIT_CONFIG_GLOBAL"); ok && v != "" {
		return v
	}
	if v, ok := g.env("HOME"); ok && v != "" {
		return v + "/.gitconfig"
	}
	return "~/.gitconfig"
}
