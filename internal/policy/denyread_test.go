package policy

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// TestUnreadTable holds the rows to their form: each once, in normal form, with
// a reason, none below another, and none about the worktree.
func TestUnreadTable(t *testing.T) {
	rows := UnreadByDefault()
	if len(rows) < 150 {
		t.Fatalf("only %d rows", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		p, err := anyPattern(row.Entry)
		if err != nil || p.String() != row.Entry || p.form != home && p.form != absolute {
			t.Errorf("%q is not a path at home or of the machine in its normal form: %v", row.Entry, err)
		}
		if row.Reason == "" {
			t.Errorf("%q has no reason", row.Entry)
		}
		if seen[row.Entry] {
			t.Errorf("%q is there twice", row.Entry)
		}
		seen[row.Entry] = true
	}
	for entry := range seen {
		for above := path.Dir(entry); above != "." && above != "/"; above = path.Dir(above) {
			if seen[above] {
				t.Errorf("%q is already covered by %q", entry, above)
			}
		}
	}
	rows[0].Entry = "spoilt"
	if UnreadByDefault()[0].Entry == "spoilt" {
		t.Error("a caller can change the table")
	}
}

// TestUnreadCovers: secrets are covered, logins of agent clients among them, and what
// builds read and what tools are configured by is not.
func TestUnreadCovers(t *testing.T) {
	for _, at := range []Location{tree, {Worktree: tree.Worktree, Home: tree.Home, Fold: true}} {
		r, err := Compile(Default(), at)
		if err != nil {
			t.Fatal(err)
		}
		covered := func(place string) bool {
			if rest, ok := strings.CutPrefix(place, "~"); ok {
				place = at.Home + rest
			}
			return slices.ContainsFunc(r.DenyRead(), func(d Deny) bool { return d.Covers(place) })
		}
		for _, place := range []string{
			"~/.ssh", "~/.ssh/id_ed25519", "~/.aws/credentials", "~/.gnupg/private-keys-v1.d/x", "~/.config/gh/hosts.yml", "~/.netrc",
			"~/.docker/config.json", "~/.kube/config", "~/.config/gcloud/credentials.db", "~/.npmrc", "~/.cargo/credentials.toml",
			"~/.m2/settings.xml", "~/.mozilla/firefox/x.default/logins.json", "~/.config/google-chrome/Default/Cookies",
			"~/.bash_history", "~/.local/share/fish/fish_history", "~/.password-store/mail.gpg", "~/.vault-token", "~/.pgpass",
			"~/.git-credentials", "~/Library/Keychains/login.keychain-db", "~/Library/Application Support/Google/Chrome/Default/Cookies",
			"~/.claude.json", "~/.claude.json.backup.17", "~/.claude/.credentials.json", "~/.claude/projects/x/y.jsonl", "~/.codex/auth.json", "~/.gemini/oauth_creds.json",
			"~/.gemini/google_accounts.json", "~/.gemini/mcp-oauth-tokens-v2.json", "~/.local/share/opencode/auth.json", "~/.config/opencode/opencode.json",
			"~/.copilot/config.json", "~/.config/github-copilot/apps.json", "~/.cursor/cli-config.json", "~/.config/cursor/auth.json", "~/.config/amp/settings.json",
			"~/.local/share/amp/secrets.json", "~/.config/goose/secrets.yaml", "~/.qwen/oauth_creds.json", "~/.cline/data/secrets.json", "~/.mcp-auth/x/tokens.json",
			"~/.continue/config.yaml", "~/.codeium/config.json", "~/.local/share/crush/crush.json", "~/.factory/auth.json", "~/.kimi/credentials/x", "~/.aider/oauth-keys.env",
			"~/.sbt/credentials", "~/.sbt/1.0/credentials.sbt", "~/.julia/servers/pkg.example/auth.toml", "~/.config/pdm/config.toml",
			"~/.config/hatch/config.toml", "~/.anaconda/keyring/token", "~/.config/.bunfig.toml", "~/.actrc", "~/.config/act/actrc",
			"~/.config/gspread/credentials.json", "~/.config/weblate", "~/.config/ghorg/conf.yaml", "~/.local/share/jupyter/runtime/x.json",
			"~/.config/fish/fish_variables",
			"/etc/shadow", "/etc/ssh/ssh_host_ed25519_key", "/etc/ssl/private/x.key", "/run/secrets/x", "/var/log/auth.log", "/var/lib/docker/x",
		} {
			if !covered(place) {
				t.Errorf("%s may be read", place)
			}
		}
		for _, place := range []string{
			"~", "/", "/etc", "/etc/passwd", "/etc/ssl/certs/ca-certificates.crt", "/etc/ssh/ssh_config", "/etc/ssh/ssh_host_ed25519_key.pub",
			"/etc/resolv.conf", "/etc/hosts", "/usr/bin/env", "/var/lib", "/var/lib/dpkg/status", "/run", "/tmp", "/root",
			"~/.claude", "~/.claude/local/claude", "~/.claude/skills/x/SKILL.md", "~/.codex", "~/.codex/packages/x", "~/.gemini", "~/.copilot/pkg/x", "~/.opencode/bin/opencode",
			"~/.local/share/claude/versions/2", "~/.local/share/cursor-agent/versions/x", "~/.ollama/models/x",
			"~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore", "~/.profile", "~/.bashrc", "~/.zshrc",
			"~/.cargo", "~/.cargo/registry/cache/x", "~/.cargo/bin/cargo", "~/.rustup", "~/.m2/repository/x.jar", "~/.gradle/caches/x",
			"~/.npm/_cacache/x", "~/.cache/pip/x", "~/.cache/go-build/x", "~/.cache/uv/x", "~/.cache/ms-playwright/x", "~/.nuget/packages/x", "~/.hex/packages/x",
			"~/.gem/ruby", "~/.bundle/cache", "~/.composer/cache", "~/.pub-cache/hosted", "~/.ivy2/cache", "~/.config/go/env", "~/.config/helm",
			"~/.sbt/boot/x", "~/.sbt/1.0/plugins/build.sbt", "~/.julia/packages/x", "~/.config/fish/config.fish",
			"~/go/pkg/mod/x", "~/.local/bin/x", "~/.local/share/pnpm/store", "~/.fly/bin/flyctl", "~/.pulumi/bin/pulumi", "~/.config", "~/.local/share",
		} {
			if covered(place) {
				t.Errorf("%s may not be read", place)
			}
		}
	}
}

// TestDenyReadDefault: a missing key is the built-in list, a list is what it
// says, the word stands for the built-in list, and only a read root that names a
// row lifts it.
func TestDenyReadDefault(t *testing.T) {
	var builtIn []string
	for _, row := range UnreadByDefault() {
		builtIn = append(builtIn, row.Entry)
	}
	without := func(entry string) []string {
		return slices.DeleteFunc(slices.Clone(builtIn), func(s string) bool { return s == entry })
	}
	for text, want := range map[string][]string{
		"{}":                                    builtIn,
		"filesystem: {}":                        builtIn,
		"filesystem: {deny_read: ['@default']}": builtIn,
		"filesystem: {deny_read: []}":           nil,
		"filesystem: {deny_read: [mine]}":       {"mine"},
		"filesystem: {deny_read: [mine, '@default', '@default', last]}":       slices.Concat([]string{"mine", "last"}, builtIn),
		"filesystem: {read_roots: [/, '~', ~/.config, ~/.ssh/id]}":            builtIn,
		"filesystem: {read_roots: [/, ~/.npmrc]}":                             without("~/.npmrc"),
		"filesystem: {read_roots: [~/.ssh/**]}":                               without("~/.ssh"),
		"filesystem: {deny_read: ['@default'], read_roots: [/, ~/.npmrc/]}":   without("~/.npmrc"),
		"filesystem: {deny_read: [~/.npmrc], read_roots: [/, ~/.npmrc]}":      {"~/.npmrc"},
		"filesystem: {deny_read: [~/.ssh, '@default'], read_roots: [~/.ssh]}": slices.Concat([]string{"~/.ssh"}, without("~/.ssh")),
	} {
		p, err := Parse("p", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		roundTrip(t, p)
		r, err := Compile(p, tree)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var got []string
		for _, d := range r.DenyRead() {
			got = append(got, d.Entry)
			if !strings.HasPrefix(d.Pattern, "/") || strings.Contains(d.Pattern, "~") {
				t.Errorf("%s: %q became %q", text, d.Entry, d.Pattern)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", text, got, want)
		}
	}
	if len((Rules{}).DenyRead()) != 0 {
		t.Error("the zero Rules know a home")
	}
}

func BenchmarkCompileDefault(b *testing.B) {
	for b.Loop() {
		r, err := Compile(Default(), tree)
		if err != nil || len(r.DenyRead()) == 0 {
			b.Fatal(err)
		}
	}
}
