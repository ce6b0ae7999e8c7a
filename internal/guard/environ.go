package guard

import (
	"path"
	"strings"

	"cordon/internal/mark"
	"cordon/internal/shell"
	"cordon/internal/tool"
)

// What a variable is to the programs that get it.
type variable int

const (
	nothing  variable = iota
	pathList          // paths, separated by colons, that are read or run from
	written           // a directory that is written
	code              // a command for a shell
	options           // arguments that are added to a program's own
)

// meaning says what a variable does. Those of git are git's own business.
func meaning(name string) variable {
	switch name {
	case "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME",
		"NODE_PATH", "PERL5LIB", "RUBYLIB", "CLASSPATH", "LUA_PATH", "MANPATH", "BASH_ENV", "ENV", "MAKEFILES", "PKG_CONFIG_PATH", "R_PROFILE", "R_PROFILE_USER", "INPUTRC", "KUBECONFIG",
		"GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "EMACSLOADPATH", "VIMINIT_FILE", "DOCKER_CONFIG", "TF_CLI_CONFIG_FILE", "npm_config_userconfig", "NPM_CONFIG_USERCONFIG", "PIP_CONFIG_FILE", "PIP_REQUIREMENT", "GOWORK", "GOMOD", "GOENV", "COMPOSE_FILE", "PYTHONWARNINGS_FILE":
		return pathList
	case "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "TMP", "TEMP", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTMPDIR",
		"CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_INSTALL_ROOT", "RUSTUP_HOME", "npm_config_prefix", "NPM_CONFIG_PREFIX", "npm_config_cache", "NPM_CONFIG_CACHE", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_CACHE_DIR",
		"PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "DESTDIR", "PREFIX", "HISTFILE", "GEM_HOME", "BUNDLE_PATH", "YARN_CACHE_FOLDER", "PNPM_HOME", "UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "UV_CACHE_DIR", "POETRY_CACHE_DIR", "GRADLE_USER_HOME", "COVERAGE_FILE", "PYTEST_DEBUG_TEMPROOT", "OUT_DIR", "DOCKER_HOST_DIR", "GNUPGHOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME":
		return written
	case "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER", "SSH_ASKPASS", "SUDO_ASKPASS", "RSYNC_RSH", "CVS_RSH", "EDITOR", "VISUAL", "PAGER", "LESSEDIT", "FCEDIT", "npm_config_script_shell", "NPM_CONFIG_SCRIPT_SHELL", "SHELL", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WRAPPER", "RUSTC", "CC", "CXX", "LD", "AR":
		return code
	case "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "TAR_OPTIONS", "MAKEFLAGS", "GOFLAGS", "PYTEST_ADDOPTS", "MAVEN_ARGS", "RIPGREP_OPTIONS", "ZIPOPT", "RSYNC_OPTIONS":
		return options
	}
	for _, end := range []string{"_DIR", "_PATH", "_HOME", "_ROOT", "_PREFIX", "_FILE", "_FOLDER"} {
		if strings.HasSuffix(name, end) && !strings.HasPrefix(name, "GIT_") {
			return pathList
		}
	}
	return nothing
}

// program is whose arguments a variable adds to.
func program(name string) []string {
	switch name {
	case "NODE_OPTIONS":
		return []string{"node"}
	case "PERL5OPT":
		return []string{"perl"}
	case "RUBYOPT":
		return []string{"ruby"}
	case "TAR_OPTIONS":
		return []string{"tar"}
	case "MAKEFLAGS":
		return []string{"make"}
	case "GOFLAGS":
		return []string{"go", "build"}
	case "PYTEST_ADDOPTS":
		return []string{"pytest"}
	case "MAVEN_ARGS":
		return []string{"mvn"}
	}
	return []string{"env"}
}

// environment judges the variables that the script itself gives to a command.
func (j *judge) environment(m *shell.Machine, args []string) {
	if j.depth > maxNested {
		return
	}
	m.EachExported(func(name, value string) {
		switch meaning(name) {
		case pathList:
			j.entries(m, name, value)
		case written:
			if f := j.resolve(m.Dir(), value); !f.unknown && j.foreign(f) {
				j.access(m, tool.Access{Role: tool.Write, Path: value}, name)
			}
		case code:
			j.commandIn(m, name, value)
		case options:
			use := tool.Of(tool.Call{Args: append(program(name), strings.Fields(value)...)})
			for _, a := range use.Access {
				j.access(m, a, name)
			}
			for _, r := range use.Runs {
				j.runs(m, r, name)
			}
		}
	})
	_ = args
}

// entries judges a list of paths: one that leads to another tree would be read or
// run from. Programs of the home are the operator's installed ones.
func (j *judge) entries(m *shell.Machine, name, value string) {
	for _, entry := range strings.FieldsFunc(value, func(c rune) bool { return c == ':' || c == ' ' || c == ';' }) {
		if w := j.resolve(m.Dir(), home(entry, j.scope.Home)); j.foreign(w) {
			j.access(m, tool.Access{Role: tool.Read, Path: entry}, name)
		}
	}
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

// commandIn judges a command that a variable holds.
func (j *judge) commandIn(m *shell.Machine, name, value string) {
	if value == "" || mark.Has(value, mark.Any) || !strings.ContainsAny(value, " \t\n/") {
		return
	}
	if path.IsAbs(value) && !strings.ContainsAny(value, " \t\n") {
		j.entries(m, name, value)
		return
	}
	j.runs(m, tool.Run{Code: value, Later: true, Unset: []string{name}}, name)
}
