package commands

import (
	"strconv"
	"strings"
)

// gitVariables are the variables that lead git elsewhere or make it run
// something, and the kind of their values (git_value.go). They are in the order
// of their names.
var gitVariables = []struct{ name, kind string }{
	{"EDITOR", "editor"},
	{"GIT_ALTERNATE_OBJECT_DIRECTORIES", "paths"},
	{"GIT_ASKPASS", "prog"},
	{"GIT_COMMON_DIR", "enter"},
	{"GIT_CONFIG", "read"},
	{"GIT_CONFIG_GLOBAL", "setup"},
	{"GIT_CONFIG_SYSTEM", "setup"},
	{"GIT_COOKIE_FILE", "read"},
	{"GIT_DIFFTOOL_EXTCMD", "code"},
	{"GIT_EDITOR", "editor"},
	{"GIT_EXEC_PATH", "hooks"},
	{"GIT_EXTERNAL_DIFF", "code"},
	{"GIT_GRAFT_FILE", "read"},
	{"GIT_INDEX_FILE", "write"},
	{"GIT_OBJECT_DIRECTORY", "write"},
	{"GIT_PAGER", "pager"},
	{"GIT_PROJECT_ROOT", "enter"},
	{"GIT_PROXY_COMMAND", "prog"},
	{"GIT_QUARANTINE_PATH", "write"},
	{"GIT_SEQUENCE_EDITOR", "editor"},
	{"GIT_SHALLOW_FILE", "read"},
	{"GIT_SSH", "prog"},
	{"GIT_SSH_COMMAND", "code"},
	{"GIT_SSL_CAINFO", "read"},
	{"GIT_SSL_CERT", "read"},
	{"GIT_SSL_KEY", "read"},
	{"GIT_TEMPLATE_DIR", "hooks"},
	{"GIT_TRACE", "trace"},
	{"GIT_TRACE2", "trace"},
	{"GIT_TRACE2_EVENT", "trace"},
	{"GIT_TRACE2_PERF", "trace"},
	{"GIT_TRACE_CURL", "trace"},
	{"GIT_TRACE_FSMONITOR", "trace"},
	{"GIT_TRACE_PACKET", "trace"},
	{"GIT_TRACE_PACKFILE", "trace"},
	{"GIT_TRACE_PACK_ACCESS", "trace"},
	{"GIT_TRACE_PERFORMANCE", "trace"},
	{"GIT_TRACE_REFS", "trace"},
	{"GIT_TRACE_SETUP", "trace"},
	{"GIT_TRACE_SHALLOW", "trace"},
	{"PAGER", "pager"},
	{"SSH_ASKPASS", "prog"},
	{"VISUAL", "editor"},
}

// environment takes what the script exported to git.
func (g *gitCall) environment() {
	if g.call.Env == nil {
		return
	}
	if v, ok := g.env("GIT_DIR"); ok && g.gitDir == "" {
		g.gitDir = v
	}
	if v, ok := g.env("GIT_WORK_TREE"); ok && g.tree == "" {
		g.tree = v
	}
	for _, row := range gitVariables {
		if v, ok := g.env(row.name); ok {
			g.value(row.kind, v, row.name)
		}
	}
	g.homes()
	g.settings()
}

// homes takes the directories that git looks for configuration in.
func (g *gitCall) homes() {
	if v, ok := g.env("HOME"); ok && v != "" {
		g.value("setup", v+"/.gitconfig", "HOME")
	}
	if v, ok := g.env("XDG_CONFIG_HOME"); ok && v != "" {
		g.value("setup", v+"/git/config", "XDG_CONFIG_HOME")
	}
}

// maxSettings bounds the settings that variables may hold.
const maxSettings = 256

// settings takes the configuration that variables hold.
func (g *gitCall) settings() {
	if v, ok := g.env("GIT_CONFIG_PARAMETERS"); ok {
		for _, s := range splitQuoted(v) {
			g.configure(s, "GIT_CONFIG_PARAMETERS")
		}
	}
	v, ok := g.env("GIT_CONFIG_COUNT")
	if !ok || v == "" {
		return
	}
	count, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || count > maxSettings {
		count = maxSettings
	}
	for i := range count {
		n := strconv.Itoa(i)
		key, ok := g.env("GIT_CONFIG_KEY_" + n)
		if !ok {
			continue
		}
		g.config = append(g.config, gitSet{key, g.variable("GIT_CONFIG_VALUE_" + n), "GIT_CONFIG_VALUE_" + n})
	}
}
