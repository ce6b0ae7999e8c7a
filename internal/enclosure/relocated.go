package enclosure

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/agent/facts"
	"cordon/internal/policy"
)

// relocations are variables with which an operator keeps somewhere else what the
// built-in list of secrets looks for in the home: the variable, with what follows below
// its value, and the usual place.
var relocations = []relocation{
	{"XDG_CONFIG_HOME", ".config"}, {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"}, {"XDG_CACHE_HOME", ".cache"},
	{"CARGO_HOME", ".cargo"}, {"GRADLE_USER_HOME", ".gradle"}, {"COMPOSER_HOME", ".composer"}, {"BUNDLE_USER_HOME", ".bundle"},
	{"DOCKER_CONFIG", ".docker"}, {"KUBECONFIG", ".kube/config"}, {"GNUPGHOME", ".gnupg"}, {"PASSWORD_STORE_DIR", ".password-store"},
	{"AZURE_CONFIG_DIR", ".azure"}, {"CLOUDSDK_CONFIG", ".config/gcloud"}, {"GH_CONFIG_DIR", ".config/gh"},
	{"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"}, {"AWS_CONFIG_FILE", ".aws/config"}, {"TF_CLI_CONFIG_FILE", ".terraformrc"},
	{"NPM_CONFIG_USERCONFIG", ".npmrc"}, {"npm_config_userconfig", ".npmrc"}, {"PIP_CONFIG_FILE", ".config/pip/pip.conf"},
	{"CLINE_DIR", ".cline"}, {"MCP_REMOTE_CONFIG_DIR", ".mcp-auth"}, {"KIMI_SHARE_DIR", ".kimi"}, {"VIBE_HOME", ".vibe"},
	{"CRUSH_GLOBAL_CONFIG", ".config/crush"}, {"CRUSH_GLOBAL_DATA", ".local/share/crush"},
	{"GOOSE_PATH_ROOT", ".config/goose"}, {"LLM_USER_PATH", ".config/io.datasette.llm"}, {"CONTINUE_GLOBAL_DIR", ".continue"},
	{"JULIA_DEPOT_PATH", ".julia"}, {"JUPYTER_RUNTIME_DIR", ".local/share/jupyter/runtime"}, {"PDM_CONFIG_FILE", ".config/pdm/config.toml"},
	{"HATCH_CONFIG", ".config/hatch/config.toml"}, {"GHORG_CONFIG", ".config/ghorg/conf.yaml"},
	{"NETRC", ".netrc"}, {"PGPASSFILE", ".pgpass"}, {"HISTFILE", ".bash_history"},
}

// allRelocations are those, and those of the clients that cordon can start.
func allRelocations() []relocation {
	list := slices.Clone(relocations)
	for _, c := range facts.All() {
		for _, m := range c.Moved {
			list = append(list, relocation{m.Variable, m.Usual})
		}
	}
	return list
}

type relocation struct{ variable, usual string }

// places are the directories or files that the operator's environment names.
func (r relocation) places() (list []string) {
	name, below, _ := strings.Cut(r.variable, "/")
	for _, place := range filepath.SplitList(os.Getenv(name)) {
		if filepath.IsAbs(place) {
			list = append(list, filepath.Join(place, below))
		}
	}
	return list
}

// KeptAt is where the operator keeps a file that is usually at a path below the home: the
// first place that their environment names, or the usual one.
func KeptAt(home, rel string) string {
	for _, r := range allRelocations() {
		rest, ok := strings.CutPrefix(rel, r.usual+"/")
		if places := r.places(); ok && len(places) > 0 {
			return filepath.Join(places[0], rest)
		}
	}
	return filepath.Join(home, rel)
}

// relocatedGlobs are the patterns of what is hidden in the home, for where the
// operator's environment says that it is.
func relocatedGlobs(globs []string, home string) []string {
	var list []string
	for _, r := range allRelocations() {
		for _, place := range r.places() {
			usual := policy.EscapeGlob(filepath.Join(home, r.usual))
			for _, g := range globs {
				rest, ok := strings.CutPrefix(g, usual)
				switch {
				case ok && (rest == "" || rest[0] == '/'):
					list = append(list, policy.EscapeGlob(place)+rest)
				case strings.HasPrefix(usual, g+"/"): // it is in something that is hidden as a whole
					list = append(list, policy.EscapeGlob(place))
				}
			}
		}
	}
	return list
}
