package enclosure

import (
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/lease"
	"cordon/internal/policy"
)

func environ(p policy.Policy, operator ...string) []string {
	l := lease.Lease{Terms: lease.Terms{ID: "swift-otter", Policy: p}, Place: lease.Place{Worktree: "/state/trees/swift-otter"}}
	return Environ(l, operator, "/home/op/app", "/home/op/app/.git", "")
}

func TestTheHostIsNotNamed(t *testing.T) {
	for operator, want := range map[string]string{
		"LESS=/home/op/app":                       "",
		"LESS=/home/op/app/":                      "",
		"LESS=/home/op/app/src":                   "",
		"LESS=file:///home/op/app":                "LESS=file",
		"LESS=--root=/home/op/app --x":            "",
		"LESS={\"dir\":\"/home/op/app\"}":         "LESS={\"dir\"",
		"LESS=/usr/bin:/home/op/app/bin:/bin":     "LESS=/usr/bin:/bin",
		"LESS=/home/op/app-2:/home/op/app":        "LESS=/home/op/app-2",
		"LESS=/home/op/app-2/home/op/app/x":       "",
		"LESS=/home/op/application":               "LESS=/home/op/application",
		"LESS=/home/op/app.d":                     "LESS=/home/op/app.d",
		"LESS=/home/op/app_1":                     "LESS=/home/op/app_1",
		"LESS=/home/op/appé":                      "LESS=/home/op/appé",
		"LESS=/home/op":                           "LESS=/home/op",
		"LESS=":                                   "LESS=",
		"LESS=x=y":                                "LESS=x=y",
		"no assignment":                           "",
		"=x":                                      "",
		"LESS=/home/op/app\nB=/home/op/elsewhere": "",
	} {
		env := environ(policy.Default(), operator)
		name, _, _ := strings.Cut(operator, "=")
		if want != "" && !slices.Contains(env, want) {
			t.Errorf("%q: %q is not in the environment", operator, want)
		}
		if want == "" && slices.Contains(env, operator) {
			t.Errorf("%q was passed on", operator)
		}
		for _, kv := range env {
			if name != "" && strings.HasPrefix(kv, name+"=") && strings.Contains(kv+"/", "/home/op/app/") {
				t.Errorf("%q: the environment has %q", operator, kv)
			}
		}
	}
}

// A variable is given when it is known to be harmless, and its value too.
func TestWhatIsGiven(t *testing.T) {
	for _, kv := range []string{
		"PATH=/usr/bin:/bin", "HOME=/home/op", "TERM=xterm", "LANG=C.UTF-8", "LC_ALL=C", "TZ=UTC", "NO_COLOR=1", "EDITOR=vi", "SHELL=/bin/bash",
		"XDG_CACHE_HOME=/c", "SSL_CERT_FILE=/etc/ssl/x.pem", "NODE_EXTRA_CA_CERTS=/x.pem", "PIP_CERT=/x.pem", "GOFLAGS=-mod=mod", "GOPROXY=https://modules.example.com,direct",
		"GOPATH=/home/op/go", "CGO_ENABLED=0", "CARGO_HOME=/c", "RUSTFLAGS=-Cdebuginfo=0", "RUSTUP_TOOLCHAIN=stable", "NODE_ENV=test", "NODE_OPTIONS=--max-old-space-size=4096",
		"npm_config_cache=/c", "NPM_CONFIG_LOGLEVEL=warn", "PYTHONPATH=/x", "PIP_CACHE_DIR=/c", "UV_CACHE_DIR=/c", "VIRTUAL_ENV=/v", "JAVA_HOME=/j", "MAVEN_OPTS=-Xmx1g",
		"GRADLE_USER_HOME=/g", "DOTNET_CLI_HOME=/d", "BUNDLE_PATH=/b", "COMPOSER_HOME=/c", "CC=clang", "CFLAGS=-O2", "MAKEFLAGS=-j4", "LD_LIBRARY_PATH=/l", "CI=true",
		"ANTHROPIC_BASE_URL=https://api.example.com", "ANTHROPIC_MODEL=x", "CLAUDE_CONFIG_DIR=/c", "CODEX_HOME=/c", "OPENAI_BASE_URL=https://x.example", "GEMINI_MODEL=x",
		"MAX_THINKING_TOKENS=1000", "CLAUDE_CODE_USE_BEDROCK=1",
	} {
		if !slices.Contains(environ(policy.Default(), kv), kv) {
			t.Errorf("%s is not given", kv)
		}
	}
	for _, kv := range []string{
		// Unknown names, however harmless they look.
		"PLAIN=x", "APP_ENV=dev", "PORT=8080", "path=/usr/bin", "HOMEPAGE=x", "PATHS=x", "GOPASS_X=1", "GOSECRET=1", "CLAUDECODE=1", "LESSOPEN=|x",
		// Ways to the operator's session, and out.
		"XDG_RUNTIME_DIR=/run/user/1", "DISPLAY=:0", "WAYLAND_DISPLAY=w", "TMUX=/tmp/x", "DBUS_SESSION_BUS_ADDRESS=x", "SSH_AUTH_SOCK=/run/agent", "SSH_ASKPASS=x",
		"HTTP_PROXY=http://p", "https_proxy=http://p", "ALL_PROXY=p", "NO_PROXY=x", "npm_config_https_proxy=http://p", "PIP_PROXY=p", "CARGO_HTTP_PROXY=p",
		"npm_config_proxy=http://p", "NPM_CONFIG_NOPROXY=x", "YARN_HTTPS_PROXY=p", "NODE_USE_ENV_PROXY=1", "FTP_PROXY=p", "no_proxy=x", "RES_OPTIONS=x", "LOCALDOMAIN=x", "HOSTALIASES=/x",
		"JAVA_TOOL_OPTIONS=-Dhttps.proxyHost=p", "MAVEN_OPTS=-Xmx1g -Dhttp.proxyHost=p", "GRADLE_OPTS=-DsocksProxyHost=p",
		"TMPDIR=/x", "TMP=/x", "OLDPWD=/x", "CLAUDE_CODE_SSE_PORT=1", "CODEX_SANDBOX=seatbelt", "NIX_REMOTE=daemon", "MAKEFLAGS= --jobserver-auth=3,4 -j",
		// What decides what runs.
		"GIT_DIR=/elsewhere/.git", "GIT_CONFIG_COUNT=99", "GIT_SSH_COMMAND=x", "CORDON_ANYTHING=1", "CORDON_WORKER=calm-yak", "LD_PRELOAD=/x.so", "LD_AUDIT=/x.so",
		"DYLD_INSERT_LIBRARIES=/x", "BASH_ENV=/x", "ENV=/x", "PROMPT_COMMAND=x",
		// Secrets, by their names and by their values.
		"GITHUB_TOKEN=x", "ANTHROPIC_API_KEY=x", "ANTHROPIC_AUTH_TOKEN=x", "ANTHROPIC_CUSTOM_HEADERS=x", "OPENAI_API_KEY=x", "GEMINI_API_KEY=x", "CLAUDE_CODE_OAUTH_TOKEN=x",
		"npm_config__auth=x", "npm_config_//registry.example.com/:_authToken=x", "NODE_AUTH_TOKEN=x", "CARGO_REGISTRY_TOKEN=x", "COMPOSER_AUTH={}", "AWS_PROFILE=x", "GOOGLE_API_KEY=x",
		"BUNDLE_GEMS__EXAMPLE__COM=user:pass", "GOPROXY=https://me:pw@proxy.example", "NPM_CONFIG_REGISTRY=https://token@r.example/", "UV_DEFAULT_INDEX=https://u:p@i.example/simple",
		"MAVEN_OPTS=-Dhttp.pass=x -Dserver.password=y", "NIX_CONFIG=access-tokens = github.com=x", "OPENCODE_CONFIG_CONTENT={\"apiKey\": " +
			"\"x\"}", "NODE_OPTIONS=-----BEGIN RSA PRIVATE KEY",
		"LESS=Authorization: Bearer x",
	} {
		if slices.Contains(environ(policy.Default(), kv), kv) {
			t.Errorf("%s is given", kv)
		}
	}
}

// A name in secrets is an explicit wish; everything that cordon itself sets wins.
func TestNamedSecretsPassAndCordonsOwnWin(t *testing.T) {
	p := policy.Default()
	p.Secrets = []string{"GITHUB_TOKEN", "HTTPS_PROXY", "PLAIN", "GOPROXY", "GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "CORDON_WORKER",
		"CORDON_OTHER", "LD_PRELOAD", "PWD"}
	env := environ(p, "GITHUB_TOKEN=x", "HTTPS_PROXY=http://u:p@h", "PLAIN=1", "GOPROXY=https://u:p@h", "GIT_AUTHOR_NAME=Mallory", "GIT_SSH_COMMAND=Mallory",
		"CORDON_WORKER=calm-yak", "CORDON_OTHER=Mallory", "LD_PRELOAD=Mallory", "PWD=/home/op/app")
	for _, want := range []string{"GITHUB_TOKEN=x", "HTTPS_PROXY=http://u:p@h", "PLAIN=1", "GOPROXY=https://u:p@h", "CORDON_WORKER=swift-otter",
		"PWD=/state/trees/swift-otter"} {
		if !slices.Contains(env, want) {
			t.Errorf("%q is not in the environment", want)
		}
	}
	for _, kv := range env {
		if strings.HasSuffix(kv, "=Mallory") {
			t.Errorf("%q: it is set by cordon, or nobody's", kv)
		}
	}
	if !slices.IsSorted(env) {
		t.Error("the environment is not in order")
	}
}

// Nothing but the table, the secrets and cordon's own names comes out, whatever
// goes in, and no value is changed except by leaving out the host.
func TestOnlyKnownVariablesPass(t *testing.T) {
	own := map[string]bool{}
	for _, kv := range environ(policy.Default()) {
		name, _, _ := strings.Cut(kv, "=")
		own[name] = true
	}
	given, _ := withClients()
	known := rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom(given).Draw(t, "row").name
		return strings.Replace(name, "*", rapid.StringMatching(`[A-Z_]{0,8}`).Draw(t, "member"), 1)
	})
	name := rapid.OneOf(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,12}`), known, rapid.SampledFrom([]string{
		"GIT_DIR", "CORDON_WORKER", "LD_PRELOAD", "HTTP_PROXY", "GITHUB_TOKEN", "TMPDIR", "XDG_RUNTIME_DIR",
	}))
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(name, 1, 20, rapid.ID[string]).Draw(t, "names")
		p := policy.Default()
		var operator []string
		for _, n := range names {
			operator = append(operator, n+"=theirs")
			if rapid.IntRange(0, 4).Draw(t, "secret") == 0 {
				p.Secrets = append(p.Secrets, n)
			}
		}
		env := environ(p, operator...)
		for _, kv := range env {
			n, value, _ := strings.Cut(kv, "=")
			switch _, never := policy.Withheld(n); {
			case n == PathVariable && slices.Contains(operator, "PATH="+value):
			case own[n]:
				if value == "theirs" {
					t.Fatalf("%s is the operator's", n)
				}
			case never:
				t.Fatalf("%s is passed", n)
			case !slices.Contains(operator, kv):
				t.Fatalf("%q comes from nowhere", kv)
			case !slices.Contains(p.Secrets, n) && !inTable(n):
				t.Fatalf("%s is passed, and nobody knows it", n)
			}
		}
		for _, n := range p.Secrets {
			if _, never := policy.Withheld(n); !never && !own[n] && !slices.Contains(env, n+"=theirs") {
				t.Fatalf("%s is named and not passed", n)
			}
		}
	})
}

func inTable(name string) bool {
	given, _ := withClients()
	return slices.ContainsFunc(given, func(v variable) bool {
		family, many := strings.CutSuffix(v.name, "*")
		return v.name == name || many && strings.HasPrefix(name, family)
	})
}

// TestVariableTable holds the rows to their form: a reason each, no single name
// twice or inside a family, and no family that is the beginning of everything.
func TestVariableTable(t *testing.T) {
	seen := map[string]bool{}
	given, kept := withClients()
	for _, v := range given {
		family, many := strings.CutSuffix(v.name, "*")
		if v.reason == "" || seen[v.name] || strings.Contains(family, "*") || many && len(family) < 3 {
			t.Errorf("%q: without a reason, there twice, or too wide", v.name)
		}
		seen[v.name] = true
		if reason, never := policy.Withheld(family); never {
			t.Errorf("%q is never passed: it %s", v.name, reason)
		}
		if !many && !allowed(v.name) {
			t.Errorf("%q is not given", v.name)
		}
	}
	for _, e := range kept {
		if _, err := path.Match(e.name, ""); err != nil || e.reason == "" || e.name != strings.ToUpper(e.name) {
			t.Errorf("%q: not a pattern in capitals with a reason", e.name)
		}
	}
}
