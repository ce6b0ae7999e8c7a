package policy

import (
	"path"
	"strings"
)

// secretName is a pattern of environment variable names, in capitals, and why
// such a variable is not given to a worker unless the policy names it.
type secretName struct{ pattern, reason string }

const (
	byConvention = "named as a credential"
	cloudAccount = "opens a cloud account"
	socketAgent  = "leads to an agent that signs or decrypts for the operator"
	hasPassword  = "usually holds a password in its address"
	credentialAt = "says where credentials are kept"
)

// secretTable errs on the side of taking away: a variable that is missed is
// named in `secrets`, one that leaked cannot be called back.
var secretTable = []secretName{
	{"*SECRET*", byConvention}, {"*PASSWORD*", byConvention}, {"*PASSWD*", byConvention},
	{"*PASSPHRASE*", byConvention}, {"*CREDENTIAL*", byConvention},
	{"*TOKEN", byConvention}, {"*TOKENS", byConvention}, {"*TOKEN_*", byConvention},
	{"*_KEY", byConvention}, {"*_KEYS", byConvention}, {"*_KEY_*", byConvention},
	{"KEY", byConvention}, {"*APIKEY*", byConvention}, {"*PRIVATEKEY*", byConvention},
	{"*_PASS", byConvention}, {"PASS", byConvention}, {"*_PASS_*", byConvention},
	{"*_PWD", byConvention}, {"*_PIN", byConvention}, {"*_PAT", byConvention},
	{"*_AUTH", byConvention}, {"*_AUTH_*", byConvention}, {"*_AUTHTOKEN*", byConvention},
	{"*BEARER*", byConvention}, {"*KEYSTORE*", byConvention}, {"*SIGNINGKEY*", byConvention}, {"*_PW", byConvention},
	{"*_COOKIE", byConvention}, {"*_COOKIES", byConvention}, {"*_JWT", byConvention},
	{"*_CERT", byConvention}, {"*_PEM", byConvention},
	{"*_HEADERS", byConvention}, {"*_SALT", byConvention}, {"*_SIGNATURE", byConvention}, {"*_WEBHOOK*", byConvention},

	{"AWS_*", cloudAccount}, {"AZURE_*", cloudAccount}, {"ARM_*", cloudAccount},
	{"GOOGLE_*", cloudAccount}, {"GCLOUD_*", cloudAccount}, {"GCP_*", cloudAccount},
	{"CLOUDSDK_*", cloudAccount}, {"DIGITALOCEAN_*", cloudAccount}, {"CLOUDFLARE_*", cloudAccount},
	{"HCLOUD_*", cloudAccount}, {"VAULT_*", cloudAccount}, {"OP_*", cloudAccount}, {"BW_*", cloudAccount},
	{"CI_JOB_*", cloudAccount}, {"ACTIONS_*", cloudAccount},

	{"SSH_AUTH_SOCK", socketAgent}, {"SSH_AGENT_PID", socketAgent}, {"SSH_ASKPASS", socketAgent},
	{"GPG_AGENT_INFO", socketAgent}, {"GIT_ASKPASS", socketAgent}, {"GNUPGHOME", socketAgent},
	{"DBUS_SESSION_BUS_ADDRESS", socketAgent}, {"DOCKER_HOST", socketAgent},

	{"DATABASE_URL", hasPassword}, {"*_DATABASE_URL", hasPassword}, {"*_DSN", hasPassword}, {"DSN", hasPassword},
	{"*POSTGRES*_UR[IL]", hasPassword}, {"*MYSQL*_UR[IL]", hasPassword}, {"*MONGO*_UR[IL]", hasPassword},
	{"*REDIS*_UR[IL]", hasPassword}, {"*AMQP*_UR[IL]", hasPassword}, {"*RABBITMQ*_UR[IL]", hasPassword},
	{"*CONNECTION_STRING*", hasPassword}, {"*CONNECTIONSTRING*", hasPassword},

	{"KUBECONFIG", credentialAt}, {"DOCKER_CONFIG", credentialAt}, {"NETRC", credentialAt},
	{"PGPASSFILE", credentialAt}, {"PGSERVICEFILE", credentialAt}, {"NPM_CONFIG_USERCONFIG", credentialAt},
	{"NPM_CONFIG_*AUTH*", credentialAt}, {"PIP_INDEX_URL", hasPassword}, {"PIP_EXTRA_INDEX_URL", hasPassword},
	{"UV_INDEX*", hasPassword}, {"CARGO_REGISTR*", credentialAt},
}

// SecretLooking reports whether a variable of this name is likely to hold or
// lead to a credential. Names are compared in capitals.
func SecretLooking(envName string) bool {
	_, looks := secretReason(envName)
	return looks
}

func secretReason(envName string) (string, bool) {
	// Slashes are not special in a variable's name, and path.Match would stop a star at one.
	name := strings.ReplaceAll(strings.ToUpper(envName), "/", "_")
	for _, s := range secretTable {
		if ok, _ := path.Match(s.pattern, name); ok {
			return s.reason, true
		}
	}
	return "", false
}

// withheldTable is what no policy passes, with why. A name that ends in _ stands
// for all that begin with it.
var withheldTable = []struct{ name, reason string }{
	{"GIT_", "decides what git runs, reads and signs, and only cordon sets that"},
	{"CORDON_", "is cordon's own"},
	{"LD_PRELOAD", "puts the operator's code into every process, before the cell's own walls"},
	{"LD_AUDIT", "puts the operator's code into every process, before the cell's own walls"},
	{"DYLD_INSERT_LIBRARIES", "puts the operator's code into every process, before the cell's own walls"},
}

// Withheld reports whether a variable may not be given to a worker even when
// the policy names it, and why; the reason continues a sentence that begins with
// the name.
func Withheld(envName string) (reason string, never bool) {
	for _, row := range withheldTable {
		if envName == row.name || strings.HasSuffix(row.name, "_") && strings.HasPrefix(envName, row.name) {
			return row.reason, true
		}
	}
	return "", false
}
