package worktree

import (
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/policy"
)

// relocations are variables with which an operator keeps somewhere else what the
// built-in list of secrets looks for in the home.
var relocations = []struct{ variable, usual string }{
	{"XDG_CONFIG_HOME", ".config"}, {"XDG_DATA_HOME", ".local/share"}, {"XDG_STATE_HOME", ".local/state"}, {"XDG_CACHE_HOME", ".cache"},
	{"CARGO_HOME", ".cargo"}, {"GRADLE_USER_HOME", ".gradle"}, {"COMPOSER_HOME", ".composer"}, {"BUNDLE_USER_HOME", ".bundle"},
	{"DOCKER_CONFIG", ".docker"}, {"KUBECONFIG", ".kube/config"}, {"GNUPGHOME", ".gnupg"}, {"PASSWORD_STORE_DIR", ".password-store"},
	{"AZURE_CONFIG_DIR", ".azure"}, {"CLOUDSDK_CONFIG", ".config/gcloud"}, {"GH_CONFIG_DIR", ".config/gh"},
	{"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"}, {"AWS_CONFIG_FILE", ".aws/config"}, {"TF_CLI_CONFIG_FILE", ".terraformrc"},
	{"NPM_CONFIG_USERCONFIG", ".npmrc"}, {"npm_config_userconfig", ".npmrc"}, {"PIP_CONFIG_FILE", ".config/pip/pip.conf"},
	{"NETRC", ".netrc"}, {"PGPASSFILE", ".pgpass"}, {"HISTFILE", ".bash_history"},
}

// relocated are the patterns of what is hidden in the home, for where the
// operator's environment says that it is.
func relocated(globs []string, home string) []string {
	var list []string
	for _, r := range relocations {
		for _, place := range filepath.SplitList(os.Getenv(r.variable)) {
			if !filepath.IsAbs(place) {
				continue
			}
			usual := policy.EscapeGlob(filepath.Join(home, r.usual))
			for _, g := range globs {
				rest, ok := strings.CutPrefix(g, usual)
				switch {
				case ok && (rest == "" || rest[0] == '/'):
					list = append(list, policy.EscapeGlob(filepath.Clean(place))+rest)
				case strings.HasPrefix(usual, g+"/"): // it is in something that is hidden as a whole
					list = append(list, policy.EscapeGlob(filepath.Clean(place)))
				}
			}
		}
	}
	return list
}
