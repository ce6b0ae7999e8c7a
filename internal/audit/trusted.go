package audit

import (
	"slices"
	"strings"
	"sync"

	"cordon/internal/agent/facts"
	"cordon/internal/paths"
)

// agentTrusts is why the files of agent clients are in the table.
const agentTrusts = "your agent runs it or trusts it"

// A worker's home is its own: it begins as a copy of the operator's and is thrown
// away. What it writes there is reported only where the same file in the
// operator's home would be run, or believed, by somebody who does not ask: that is
// what an attempt to stay looks like, also when it stayed in the private copy.
//
// What clients write all the time (histories, sessions, projects, caches) is left out
// on purpose: a list that always speaks is not read.
//
// A pattern is matched name by name, and stands for everything below it.
var trust = []struct {
	why      string
	patterns []string
}{
	{"your shell runs it", []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bashrc.d", ".profile", ".inputrc",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh", ".oh-my-zsh/custom", ".config/zsh", ".config/fish", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
		".login", ".logout", ".config/nushell", ".config/powershell", ".config/starship.toml", ".direnvrc", ".config/direnv", ".cargo/env",
	}},
	{"your login runs it", []string{
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".config/autostart", ".config/autostart-scripts", ".config/plasma-workspace",
		".config/systemd", ".local/share/systemd", ".local/share/dbus-1", ".config/hypr", ".config/sway", ".config/i3",
	}},
	{"it sets the environment of your login", []string{".pam_environment", ".config/environment.d"}},
	{"your desktop starts it", []string{".local/share/applications", ".config/mimeapps.list", "Desktop"}},
	{"your shell finds commands there", []string{
		".local/bin", "bin", "go/bin", ".cargo/bin", ".bun/bin", ".deno/bin", ".npm-global/bin", ".pyenv/shims", ".asdf/shims", ".local/share/mise/shims",
	}},
	{"ssh and sshd trust it", []string{".ssh", ".rhosts", ".shosts"}},
	{"gpg trusts it", []string{".gnupg"}},
	{"git runs the commands in it", []string{".gitconfig", ".config/git", ".git-templates", ".githooks"}},
	{"it names credentials, or programs that give them", []string{
		".git-credentials", ".netrc", ".config/gh", ".aws/config", ".aws/credentials", ".kube/config", ".docker/config.json", ".config/containers",
	}},
	{"your editor runs it", []string{
		".vimrc", ".gvimrc", ".vim", ".exrc", ".ideavimrc", ".config/nvim", ".local/share/nvim/site", ".emacs", ".emacs.d", ".config/emacs",
		".nanorc", ".config/nano", ".config/helix", ".config/zed", ".config/Code/User", ".vscode/argv.json", ".config/VSCodium/User",
	}},
	{"your terminal's multiplexer runs it", []string{".tmux.conf", ".tmux", ".config/tmux", ".screenrc", ".config/zellij"}},
	{"your build tools run it or trust it", []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm", ".bunfig.toml", ".cargo/config*", ".cargo/credentials*",
		".config/go/env", ".config/pip", ".pip", ".pypirc", ".config/uv", ".condarc",
		".gradle/init.gradle*", ".gradle/init.d", ".gradle/gradle.properties", ".m2/settings*.xml", ".m2/extensions.xml", ".mavenrc",
		".gemrc", ".bundle/config", ".config/mise", ".tool-versions", ".config/nix",
	}},
	{"an interpreter or debugger runs it when it starts", []string{
		".local/lib/python*/site-packages/*.pth", ".local/lib/python*/site-packages/usercustomize*", ".local/lib/python*/site-packages/sitecustomize*",
		".pythonrc*", ".ipython/profile_*/startup", ".irbrc", ".pryrc", ".Rprofile", ".Renviron", ".ghci", ".ghc/ghci.conf",
		".gdbinit", ".config/gdb", ".lldbinit", ".psqlrc", ".sqliterc", ".my.cnf",
	}},
	{"it decides what your transfers send and trust", []string{".curlrc", ".wgetrc", ".config/curlrc"}},
	{agentTrusts, []string{ // and those of package facts
		".mcp.json", ".cursor/mcp.json", ".cursor/hooks*", ".cursor/rules", ".cursor/cli-config.json", ".agents", ".aider.conf.yml", ".config/goose/config.yaml",
	}},
	{"cordon trusts it", []string{".config/cordon"}},
}

// trusted says why a path of a home matters, or that it leads to one that does.
func trusted(rel string) (why string, leads bool) {
	names := strings.Split(rel, "/")
	table := trustTable()
	for _, t := range slices.Concat(table[names[0]], table[""]) {
		part, whole := matchNames(t.pattern, names)
		if whole {
			return t.why, true
		}
		leads = leads || part
	}
	return "", leads
}

type trustedPattern struct{ pattern, why string }

// trustTable is the table by the first name of each pattern, or "" if that is none: a whole home is looked up.
var trustTable = sync.OnceValue(func() map[string][]trustedPattern {
	table := map[string][]trustedPattern{}
	add := func(why string, patterns []string) {
		for _, p := range patterns {
			name, _, _ := strings.Cut(p, "/")
			if !paths.IsName(name) {
				name = ""
			}
			table[name] = append(table[name], trustedPattern{p, why})
		}
	}
	for _, t := range trust {
		add(t.why, t.patterns)
	}
	for _, c := range facts.All() {
		add(agentTrusts, c.Trusted)
	}
	return table
})

// matchNames matches as many names as both have. Whole says that this was the
// pattern to its end.
func matchNames(pattern string, names []string) (matched, whole bool) {
	for _, name := range names {
		part, rest, more := strings.Cut(pattern, "/")
		if ok := paths.MatchName(part, name); !ok || !more {
			return ok, ok
		}
		pattern = rest
	}
	return true, false
}

// Matters reports whether a path of a home is, leads to, or lies in something
// that is reported when a worker writes it.
func Matters(rel string) bool {
	why, leads := trusted(rel)
	return why != "" || leads
}
