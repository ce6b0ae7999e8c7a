package policy

import "testing"

func TestSecretLooking(t *testing.T) {
	for _, name := range []string{
		"GITHUB_TOKEN", "GH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "github_token", "PGPASSWORD",
		"MY_SECRET_THING", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "NPM_TOKEN",
		"SSH_AUTH_SOCK", "DATABASE_URL", "REDIS_URL", "SENTRY_DSN", "DB_PASS", "KUBECONFIG", "SLACK_WEBHOOK_URL",
		"AZURE_CLIENT_ID", "npm_config__auth", "TOKEN", "VAULT_ADDR", "STRIPE_KEY", "JWT_SECRET", "A/B_TOKEN",
	} {
		if !SecretLooking(name) {
			t.Errorf("%s does not look secret", name)
		}
	}
	for _, name := range []string{
		"PATH", "HOME", "PWD", "OLDPWD", "TERM", "LANG", "SHELL", "USER", "TMPDIR", "GOFLAGS", "GOPATH", "EDITOR",
		"TOKENIZERS_PARALLELISM", "XDG_SESSION_ID", "DESKTOP_SESSION", "KEYBOARD_LAYOUT", "CI", "NO_COLOR", "SSL_CERT_FILE",
		"COMPASS", "MONKEY", "", "PYTHONPATH", "NODE_ENV",
	} {
		if reason, looks := secretReason(name); looks {
			t.Errorf("%s looks secret: %s", name, reason)
		}
	}
	for _, s := range secretTable {
		if s.reason == "" {
			t.Errorf("%s has no reason", s.pattern)
		}
	}
}
