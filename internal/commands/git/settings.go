package git

import "cordon/internal/commands"

// configSubcommand reads or changes configuration: the repository's, the
// user's, the system's or that of a file.
func (g *gitCall) configSubcommand() {
	verb, rest := g.configVerb()
	if verb == "get" {
		g.value("read", g.Text("f", "file"), "--file")
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
		g.path(commands.Write, file, "config")
	} else {
		g.act(commands.GitConfigures, key, value)
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
		return "get", g.Operands[1:]
	case "set", "unset", "edit", "rename-section", "remove-section":
		return g.nth(0), g.Operands[1:]
	}
	switch {
	case g.Has("e", "edit"):
		return "edit", nil
	case g.Has("unset", "unset-all", "rename-section", "remove-section"):
		return "unset", g.Operands
	case g.Has("add", "replace-all"):
		return "set", g.Operands
	case g.Has("l", "list", "get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool") || len(g.Operands) < 2:
		return "get", g.Operands
	}
	return "set", g.Operands
}

// configFile is the file that is changed, "" if it is the repository's own.
func (g *gitCall) configFile() string {
	switch {
	case g.Has("f", "file"):
		return g.Text("f", "file")
	case g.Has("global"):
		return g.userConfig()
	case g.Has("system"):
		return "/etc/gitconfig"
	}
	if v, ok := g.call.Variable("GIT_CONFIG"); ok {
		return v
	}
	return ""
}

// userConfig is the user's own configuration.
func (g *gitCall) userConfig() string {
	if v, ok := g.call.Variable("GIT_CONFIG_GLOBAL"); ok && v != "" {
		return v
	}
	if v, ok := g.call.Variable("HOME"); ok && v != "" {
		return v + "/.gitconfig"
	}
	return "~/.gitconfig"
}
