package git

import (
	"strconv"
	"strings"

	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
)

// environment takes what the script exported to git.
func (g *gitCall) environment() {
	if g.call.Env == nil {
		return
	}
	if v, ok := g.call.Variable("GIT_DIR"); ok && g.gitDir == "" {
		g.gitDir = v
	}
	if v, ok := g.call.Variable("GIT_WORK_TREE"); ok && g.tree == "" {
		g.tree = v
	}
	for name, kind := range table.TableRows(gitKeys) {
		if v, ok := g.call.Variable(name); ok {
			g.value(kind, v, name)
		}
	}
	g.homes()
	g.settings()
}

// homes takes the directories that git looks for configuration in.
func (g *gitCall) homes() {
	if v, ok := g.call.Variable("HOME"); ok && v != "" {
		g.value("setup", v+"/.gitconfig", "HOME")
	}
	if v, ok := g.call.Variable("XDG_CONFIG_HOME"); ok && v != "" {
		g.value("setup", v+"/git/config", "XDG_CONFIG_HOME")
	}
}

// maxSettings bounds the settings that variables may hold.
const maxSettings = 256

// settings takes the configuration that variables hold.
func (g *gitCall) settings() {
	if v, ok := g.call.Variable("GIT_CONFIG_PARAMETERS"); ok {
		for _, s := range argtext.SplitWords(v, nil) {
			g.configure(s, "GIT_CONFIG_PARAMETERS")
		}
	}
	v, ok := g.call.Variable("GIT_CONFIG_COUNT")
	if !ok || v == "" {
		return
	}
	count, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || count > maxSettings {
		count = maxSettings
	}
	for i := range count {
		n := strconv.Itoa(i)
		key, ok := g.call.Variable("GIT_CONFIG_KEY_" + n)
		if !ok {
			continue
		}
		g.config = append(g.config, gitSet{key, g.variable("GIT_CONFIG_VALUE_" + n), "GIT_CONFIG_VALUE_" + n})
	}
}
