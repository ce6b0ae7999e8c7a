package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"cordon/internal/paths"
)

// Unread is a row of the built-in list of what a worker may not read.
type Unread struct {
	Entry  string // as a policy would have it
	Reason string // continues a sentence that begins with the entry
}

// unreadGroup are rows with the same reason.
type unreadGroup struct {
	reason  string
	entries []string
}

// unreadTable is the whole list: unreadGroups, and what agent clients sign in with.
var unreadTable = sync.OnceValue(func() []unreadGroup {
	return append(slices.Clone(unreadGroups), unreadGroup{"signs in to an agent's account, or holds what was said to it", allAgentLogins()})
})

// unreadGroups holds what is worth stealing and what no build needs. It is one
// list for all operating systems, so that a policy says the same everywhere.
//
// Not in it: ~/.gitconfig and the shells' start files, which tools read; caches and
// toolchains. Other users'
// homes (/root among them), the host's checkout, other workers' trees and
// cordon's own state are hidden by the cell, which knows where they are.
var unreadGroups = []unreadGroup{
	// Keys and tickets.
	{"logs in to other machines as the operator", []string{
		"~/.ssh", "~/.putty", "~/.config/putty", "~/.keychain", "~/.tsh", "~/.step", "~/.saml2aws", "~/.k5keytab",
		"~/.config/filezilla", "~/.config/remmina", "~/.local/share/remmina", "~/.smbcredentials",
		"~/.config/openvpn", "~/.config/wireguard", "~/.android/adbkey", "~/.dotnet/corefx",
	}},
	{"signs or decrypts as the operator", []string{
		"~/.gnupg", "~/.local/share/gnupg", "~/.sigstore", "~/.sbt/gpg", "~/.config/sops", "~/.config/age", "~/.age",
		"~/.minisign", "~/.signify", "~/.local/share/mkcert", "~/.acme.sh", "~/.lego", "~/.ecryptfs", "~/.pki",
		"~/.config/Yubico", "~/.local/share/kwalletd", "~/.vault_pass", "~/.vault_pass.txt",
		"~/.ansible_vault_pass",
	}},
	// Accounts.
	{"says which programs cordon runs as the operator", []string{"~/.config/cordon"}},
	{"holds a token of a code host", []string{
		"~/.config/gh", "~/.cache/gh", "~/.config/glab-cli", "~/.config/hub", "~/.config/lab", "~/.config/tea",
		"~/.git-credentials", "~/.config/git/credentials", "~/.cache/git/credential", "~/.git-credential-cache",
		"~/.gitcookies", "~/.gcm", "~/.arcrc", "~/.subversion/auth", "~/.netrc", "~/.authinfo", "~/.authinfo.gpg",
	}},
	{"opens a cloud account", []string{
		"~/.aws", "~/.azure", "~/.azure-devops", "~/.local/share/.IdentityService", "~/.config/gcloud", "~/.gcloud", "~/.boto",
		"~/.gsutil", "~/.s3cfg", "~/.mc", "~/.config/rclone", "~/.rclone.conf", "~/.config/b2",
		"~/.b2_account_info", "~/.passwd-s3fs", "~/.oci", "~/.bluemix", "~/.aliyun", "~/.config/openstack",
		"~/.config/doctl", "~/.config/hcloud", "~/.config/linode-cli", "~/.config/scw", "~/.config/exoscale",
		"~/.config/upctl.yaml", "~/.vultr-cli.yaml", "~/.config/vultr-cli.yaml", "~/.okta", "~/.fly/config.yml",
		"~/.config/flyctl", "~/.config/heroku", "~/.config/vercel", "~/.local/share/com.vercel.cli", "~/.vercel",
		"~/.now", "~/.config/netlify", "~/.netlify", "~/.railway/config.json",
		"~/.config/configstore/firebase-tools.json", "~/.config/firebase", "~/.supabase/access-token",
		"~/.config/turso", "~/.config/planetscale", "~/.config/neonctl", "~/.cloudflared", "~/.wrangler/config",
		"~/.config/.wrangler/config", "~/.ngrok2", "~/.config/ngrok", "~/.edgerc", "~/.config/fastly",
		"~/.terraform.d/credentials.tfrc.json", "~/.terraformrc", "~/.tofurc", "~/.pulumi/credentials.json",
		"~/.vault-token", "~/.chef", "~/.databrickscfg", "~/.snowsql", "~/.snowflake", "~/.cache/snowflake", "~/.config/snowflake",
		"~/.dbt/profiles.yml",
	}},
	{"administers clusters and registries", []string{
		"~/.kube", "~/.docker", "~/.config/containers/auth.json", "~/.local/share/containers",
		"~/.local/share/docker", "~/.minikube", "~/.config/helm/registry", "~/.config/helm/repositories.yaml",
		"~/.config/argocd", "~/.rancher", "~/.k3d", "~/.lima/_config",
	}},
	{"holds a token of a service", []string{
		"~/.config/stripe", "~/.twilio-cli", "~/.sentryclirc", "~/.config/.jira", "~/.jira.d", "~/.kaggle",
		"~/.config/kaggle", "~/.huggingface", "~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens",
		"~/.modal.toml", "~/.platformio/appstate.json", "~/.nimble/github_api_token", "~/.wasmer/wasmer.toml", "~/.opam/plugins/opam-publish",
		"~/.zuliprc", "~/.env", "~/.envrc", "~/.secrets", "~/.credentials", "~/.actrc", "~/.config/act/actrc",
		"~/.config/gspread", "~/.config/weblate", "~/.config/ghorg/conf.yaml", "~/.local/share/jupyter/runtime",
		"~/.config/fish/fish_variables",
	}},
	// Credentials only: what tools download stays readable.
	{"holds a token of a package registry", []string{
		"~/.npmrc", "~/.nvm/versions/node/*/etc/npmrc", "~/.npm-global/etc/npmrc", "~/.rye/credentials", "~/.virtualenvs/*/pip.conf",
		"~/.yarnrc", "~/.yarnrc.yml", "~/.bunfig.toml", "~/.config/pnpm/rc", "~/.config/pnpm/auth.ini",
		"~/.pypirc", "~/.pip/pip.conf", "~/.config/pip/pip.conf", "~/Library/Application Support/pip/pip.conf",
		"~/.config/pypoetry/auth.toml", "~/.local/share/uv/credentials", "~/.continuum", "~/.cargo/credentials",
		"~/.cargo/credentials.toml", "~/.gem/credentials", "~/.local/share/gem/credentials", "~/.bundle/config",
		"~/.m2/settings.xml", "~/.m2/.develocity", "~/.gradle/develocity", "~/.gradle/enterprise",
		"~/.m2/settings-security.xml", "~/.gradle/gradle.properties", "~/.ivy2/.credentials",
		"~/.sbt/.credentials", "~/.sbt/credentials", "~/.sbt/*/credentials.sbt", "~/.julia/servers/*/auth.toml",
		"~/.config/pdm/config.toml", "~/.config/hatch/config.toml", "~/.anaconda/keyring", "~/.config/.bunfig.toml",
		"~/.config/coursier/credentials.properties", "~/.nuget/NuGet/NuGet.Config",
		"~/.config/NuGet/NuGet.Config", "~/.composer/auth.json", "~/.config/composer/auth.json",
		"~/.hex/hex.config", "~/.pause", "~/.stack/upload", "~/.conan/.conan.db", "~/.conan2/credentials.json", "~/.conan2/.conan.db",
		"~/.pyenv/versions/*/pip.conf", "~/miniconda3/.condarc",

		"~/.pub-cache/credentials.json", "~/.config/dart/pub-credentials.json", "~/.luarocks/upload_config.lua",
		"~/.vsce",
	}},
	{"holds a database's password", []string{
		"~/.pgpass", "~/.pg_service.conf", "~/.my.cnf", "~/.mylogin.cnf", "~/.mongorc.js", "~/.config/mongodb",
		"~/.dbeaver", "~/.local/share/DBeaverData",
	}},
	// The desktop.
	{"is a store of passwords", []string{
		"~/.password-store", "~/.local/share/gopass", "~/.config/gopass", "~/.local/share/keyrings",
		"~/.gnome2/keyrings", "~/.config/keepassxc", "~/.cache/keepassxc", "~/.keepass", "~/.config/KeePass",
		"~/.1password", "~/.config/1Password", "~/.config/op", "~/.op", "~/.config/Bitwarden",
		"~/.config/Bitwarden CLI", "~/.config/rbw", "~/.local/share/rbw", "~/.lastpass", "~/.local/share/lpass",
		"~/.config/Enpass", "~/Library/Keychains", "~/Library/Group Containers/2BUA8C4S2C.com.1password",
		"~/Library/Application Support/Bitwarden", "~/Library/Application Support/KeePassXC",
	}},
	{"is signed in wherever the operator is", []string{
		"~/.mozilla", "~/.cache/mozilla", "~/.librewolf", "~/.waterfox", "~/.zen", "~/.tor-browser",
		"~/.config/google-chrome", "~/.cache/google-chrome", "~/.config/google-chrome-beta",
		"~/.config/google-chrome-unstable", "~/.config/chromium", "~/.cache/chromium", "~/.config/BraveSoftware",
		"~/.cache/BraveSoftware", "~/.config/microsoft-edge", "~/.cache/microsoft-edge", "~/.config/vivaldi",
		"~/.cache/vivaldi", "~/.config/opera", "~/.config/epiphany", "~/.local/share/epiphany", "~/.config/falkon",
		"~/.local/share/qutebrowser", "~/snap/firefox", "~/snap/chromium", "~/snap/brave", "~/snap/opera",
		"~/Library/Cookies", "~/Library/Safari", "~/Library/Containers/com.apple.Safari",
		"~/Library/Application Support/Google/Chrome", "~/Library/Application Support/Chromium",
		"~/Library/Application Support/Firefox", "~/Library/Application Support/BraveSoftware",
		"~/Library/Application Support/Microsoft Edge", "~/Library/Application Support/Vivaldi",
		"~/Library/Application Support/com.operasoftware.Opera", "~/Library/Application Support/Arc",
	}},
	{"holds what sandboxed applications store, browsers and chats among them", []string{
		"~/.var/app",
	}},
	{"holds mail and its passwords", []string{
		"~/.thunderbird", "~/.cache/thunderbird", "~/.cache/mutt", "~/.cache/neomutt", "~/.cache/mu", "~/.cache/tracker3",
		"~/snap/thunderbird", "~/.config/evolution", "~/.local/share/evolution",
		"~/.cache/evolution", "~/.local/share/geary", "~/.config/geary", "~/.claws-mail", "~/.mutt", "~/.muttrc",
		"~/.config/mutt", "~/.config/neomutt", "~/.config/aerc", "~/.config/himalaya", "~/.mbsyncrc",
		"~/.config/isyncrc", "~/.offlineimaprc", "~/.msmtprc", "~/.config/msmtp", "~/.fetchmailrc", "~/.getmail",
		"~/Mail", "~/Maildir", "~/.local/share/mail", "~/Library/Mail", "~/Library/Thunderbird",
	}},
	{"holds private conversations", []string{
		"~/.config/Slack", "~/snap/slack", "~/.config/Signal", "~/snap/signal-desktop", "~/.config/discord",
		"~/snap/discord", "~/.local/share/TelegramDesktop", "~/snap/telegram-desktop", "~/.config/Element",
		"~/.config/teams", "~/.config/Microsoft/Microsoft Teams", "~/.config/zoom", "~/.zoom",
		"~/.config/Mattermost", "~/.purple", "~/.config/weechat", "~/.weechat", "~/.irssi", "~/.config/hexchat",
		"~/Library/Messages", "~/Library/Application Support/Slack", "~/Library/Application Support/Signal",
		"~/Library/Application Support/discord", "~/Library/Application Support/Telegram Desktop",
	}},
	{"leads to the operator's desktop or accounts", []string{
		"~/.Xauthority", "~/.ICEauthority", "~/.config/pulse/cookie", "~/.config/goa-1.0", "~/.config/Nextcloud",
		"~/.dropbox", "~/.cache/rclone", "~/.cache/thumbnails", "~/.cache/JetBrains", "~/.cache/zsh", "~/.config/syncthing",
		"~/.local/state/syncthing", "~/.config/borg",
		"~/.config/Code/User/globalStorage", "~/.config/VSCodium/User/globalStorage",
		"~/.config/Cursor/User/globalStorage", "~/.vscode-server/data/User/globalStorage", "~/.config/JetBrains",
	}},
	{"holds money", []string{
		"~/.bitcoin", "~/.litecoin", "~/.dogecoin", "~/.dashcore", "~/.zcash", "~/.bitmonero", "~/.ethereum",
		"~/.electrum", "~/.electron-cash", "~/.config/Exodus", "~/.config/solana", "~/.config/atomic",
		"~/.config/Ledger Live", "~/.config/@trezor", "~/.near-credentials", "~/.sui/sui_config", "~/.aptos",
		"~/.foundry/keystores", "~/.brownie/accounts", "~/Library/Application Support/Bitcoin",
		"~/Library/Application Support/Exodus",
	}},
	{"remembers what the operator typed", []string{
		"~/.bash_history", "~/.bash_sessions", "~/.zsh_history", "~/.zhistory", "~/.zsh_sessions", "~/.histfile",
		"~/.history", "~/.sh_history", "~/.ksh_history", "~/.local/share/fish/fish_history", "~/.local/share/atuin",
		"~/.local/share/mcfly", "~/.config/nushell/history.txt", "~/.config/nushell/history.sqlite3",
		"~/.local/share/powershell/PSReadLine", "~/.python_history", "~/.ipython/profile_default/history.sqlite",
		"~/.node_repl_history", "~/.irb_history", "~/.pry_history", "~/.php_history", "~/.Rhistory",
		"~/.julia/logs", "~/.ghc/ghci_history", "~/.psql_history", "~/.mysql_history", "~/.mariadb_history",
		"~/.sqlite_history", "~/.rediscli_history", "~/.mongodb", "~/.dbshell", "~/.duckdb_history", "~/.lesshst",
		"~/.local/state/lesshst", "~/.local/state/bash", "~/.local/state/zsh", "~/.local/state/python_history",
		"~/.viminfo", "~/.local/state/nvim/shada", "~/.local/state/nvim/undo", "~/.local/state/nvim/swap",
		"~/.local/share/nvim/shada", "~/.gdb_history", "~/.local/share/recently-used.xbel", "~/.xsession-errors",
	}},
	// The machine: readable only to a worker that was started as root.
	{"holds the passwords of the machine's users", []string{
		"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/master.passwd",
		"/etc/security/opasswd", "/etc/sudoers", "/etc/sudoers.d", "/var/db/dslocal", "/var/backups",
		"/var/cache/debconf/passwords.dat", "/etc/krb5.keytab", "/etc/ldap.secret", "/etc/sssd", "/var/lib/sss",
		"/var/lib/samba/private",
	}},
	{"proves who the machine is", []string{
		"/etc/ssh/ssh_host_*_key", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/consumer",
		"/etc/pki/entitlement", "/etc/letsencrypt", "/var/lib/acme", "/var/lib/tpm",
		"/var/lib/systemd/credential.secret", "/etc/credstore", "/etc/credstore.encrypted",
	}},
	{"unlocks or leaks what the machine stores", []string{
		"/etc/luks-keys", "/etc/cryptsetup-keys.d", "/swapfile", "/swap.img", "/var/lib/systemd/coredump",
		"/var/crash",
	}},
	{"joins the networks the machine is in", []string{
		"/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/wpa_supplicant.conf", "/var/lib/iwd",
		"/var/lib/bluetooth", "/etc/wireguard", "/etc/openvpn", "/etc/ipsec.secrets", "/etc/ipsec.d/private",
		"/etc/swanctl/private", "/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets", "/var/lib/tailscale",
	}},
	{"holds the secrets of the machine's services", []string{
		"/run/secrets", "/run/credentials", "/run/user", "/var/lib/private", "/etc/vault.d", "/etc/consul.d",
		"/etc/nomad.d", "/etc/gitlab-runner", "/etc/gitlab", "/etc/apt/auth.conf", "/etc/apt/auth.conf.d",
		"/etc/postfix/sasl_passwd", "/etc/exim4/passwd.client", "/etc/msmtprc", "/etc/mysql/debian.cnf",
		"/etc/redis", "/var/lib/mysql", "/var/lib/postgresql", "/var/lib/redis", "/var/lib/mongodb",
		"/var/lib/cloud", "/var/lib/waagent",
	}},
	{"holds containers, their images and their secrets", []string{
		"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/var/lib/etcd",
		"/var/lib/rancher", "/etc/kubernetes", "/etc/rancher", "/var/snap/microk8s", "/etc/docker/key.json",
	}},
	{"belongs to people and jobs of the machine", []string{
		"/var/mail", "/var/spool/mail", "/var/spool/cron", "/var/spool/at", "/var/spool/cups", "/var/spool/postfix",
		"/var/spool/exim4",
	}},
	{"repeats tokens and command lines of everything that runs here, and no build reads it", []string{
		"/var/log",
	}},
}

// UnreadByDefault returns the built-in list, in the order of its table.
func UnreadByDefault() []Unread {
	var rows []Unread
	for _, group := range unreadTable() {
		for _, entry := range group.entries {
			rows = append(rows, Unread{entry, group.reason})
		}
	}
	return rows
}

// DefaultUnread stands for the built-in list in deny_read. It is kept as a word
// and not written out: a lease that was sealed by an older cordon is to be
// launched with everything that this one knows to be secret. (What a worker may
// read says nothing about its result, so no judgement changes with the list.)
const DefaultUnread = "@default"

func checkDenyRead(s string) (string, error) {
	if s == DefaultUnread {
		return s, nil
	}
	p, err := denyReadPattern(s)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// denyReadPattern refuses a path of the tree that begins as the word does: a
// word that is misspelt would deny nothing.
func denyReadPattern(s string) (pattern, error) {
	p, err := anyPattern(s)
	if err == nil && p.form == inTree && len(p.parts) > 0 && p.parts[0][0] == '@' {
		return pattern{}, fault{quote(s) + " begins with @", "write @default for the built-in list, or [@] for a @ that belongs to the name"}
	}
	return p, err
}

// written are the entries that stand for themselves.
func written(denyRead []string) []string {
	return slices.DeleteFunc(slices.Clone(denyRead), func(s string) bool { return s == DefaultUnread })
}

// unread is the built-in list at a location. The zero unread is empty.
type unread struct {
	at     Location
	lifted []string // read roots; those that name a row lift it
}

// newUnread is the list when the entries hold its word.
func newUnread(fs Filesystem, at Location) (unread, error) {
	if !slices.Contains(fs.DenyRead, DefaultUnread) {
		return unread{}, nil
	}
	if at.Home == "" {
		return unread{}, fault{quote(DefaultUnread) + " needs a home directory, and none is known", "write the list out"}
	}
	return unread{at, slices.Clone(fs.ReadRoots)}, nil
}

// denies expands the list. That takes longer than all the rest of compiling, and
// few who hold Rules ask for it, so it is done when they do.
func (u unread) denies() []Deny {
	if u.at.Worktree == "" {
		return nil
	}
	var denies []Deny
	for _, row := range UnreadByDefault() {
		if u.lifts(row.Entry) {
			continue
		}
		d, err := newDeny(u.at, split(row.Entry))
		if err != nil {
			panic(err) // the home is known, and a test holds the rows to their form
		}
		denies = append(denies, d)
	}
	return denies
}

// hidden lists the built-in rows as absolute globs, without the rest of a Deny:
// this is on the way of every launch.
func (u unread) hidden() []string {
	if u.at.Worktree == "" {
		return nil
	}
	home := EscapeGlob(u.at.Home)
	var list []string
	for _, group := range unreadTable() {
		for _, entry := range group.entries {
			if u.lifts(entry) {
				continue
			}
			if rest, ok := strings.CutPrefix(entry, "~/"); ok {
				entry = home + "/" + rest
			}
			list = append(list, entry)
		}
	}
	return list
}

// lifts reports whether a read root names a row. As with write roots, only the
// name itself counts: "/" and "~" lift nothing.
func (u unread) lifts(entry string) bool {
	names := func(root string) bool { return strings.TrimSuffix(root, "/**") == entry }
	return slices.ContainsFunc(u.lifted, names)
}

// Hides reports whether deny_read is about an absolute, clean path. It says what
// the denies of DenyRead say, row by row and without expanding them: the guard
// asks for every path of every tool call. The built-in rows are about the home and
// the system, never about a worktree that lies below one of them.
func (r Rules) Hides(place string) bool {
	for _, d := range r.denyRead {
		if d.Covers(place) {
			return true
		}
	}
	if u := r.unread.at; u.Worktree == "" || paths.Within(place, u.Worktree) {
		return false
	}
	return r.unread.hides(place)
}

// hides looks a path up as the table has it: from "~" on below the home, and whole. A home may be "/" or lie in a system directory.
func (u unread) hides(place string) bool {
	if u.matches(place) {
		return true
	}
	return paths.Within(place, u.at.Home) && u.matches("~"+strings.TrimPrefix(place, strings.TrimSuffix(u.at.Home, "/")))
}

// matches reports whether a row that no read root lifts is about a path or something above it.
func (u unread) matches(place string) bool {
	rows := unreadRows()
	for at := place; len(at) > 1; at = at[:max(0, strings.LastIndexByte(at, '/'))] {
		if rows.names[at] && !u.lifts(at) {
			return true
		}
	}
	return slices.ContainsFunc(rows.patterns, func(row string) bool { return matchesRow(row, place) && !u.lifts(row) })
}

// special are the characters of a pattern.
const special = "*?[{\\"

// unreadRows are the rows of the table: most are plain names.
var unreadRows = sync.OnceValue(func() (rows struct {
	names    map[string]bool
	patterns []string
}) {
	rows.names = map[string]bool{}
	for _, group := range unreadTable() {
		for _, entry := range group.entries {
			if strings.ContainsAny(entry, special) {
				rows.patterns = append(rows.patterns, entry)
			} else {
				rows.names[entry] = true
			}
		}
	}
	return rows
})

// matchesRow reports whether a pattern is about a path or something above it.
func matchesRow(row, place string) bool {
	if !strings.HasPrefix(place, row[:strings.IndexAny(row, special)]) {
		return false
	}
	for ; len(place) > 1; place = place[:max(0, strings.LastIndexByte(place, '/'))] {
		if ok, _ := doublestar.Match(row, place); ok {
			return true
		}
	}
	return false
}
