package enclosure

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cordon/internal/agent/facts"
	"cordon/internal/policy"
)

// variable is what a worker is given of the operator's environment: one name,
// or with a * at the end a family of them, and why.
type variable struct{ name, reason string }

const (
	forTerminal  = "how text is shown"
	forLanguage  = "language, character set and time zone"
	forUser      = "the worker's name and its default programs"
	forFolders   = "where tools keep their files"
	forTrust     = "which certificates are trusted; public"
	forSearch    = "where programs and libraries are found"
	forCompiler  = "what a build passes to compilers"
	forGo        = "the Go toolchain"
	forRust      = "the Rust toolchain"
	forNode      = "JavaScript toolchains"
	forPython    = "Python toolchains"
	forJVM       = "JVM toolchains"
	forDotnet    = "the .NET toolchain"
	forRuby      = "the Ruby toolchain"
	forPHP       = "the PHP toolchain"
	forOthers    = "further toolchains"
	forVersions  = "version managers"
	forCaches    = "warm caches of build tools"
	forUnattend  = "makes tools run without questions"
	forClient    = "settings of an agent client"
	forPackaging = "a package manager that provides toolchains"
)

// variables is the allow-list. Everything that it does not hold stays with the
// operator, because there is no telling what an unknown variable leads to. A
// single name was looked at by whoever wrote it here; of a family, members that
// look secret and those in the table of exceptions are not given.
//
// Left out on purpose: XDG_RUNTIME_DIR, DISPLAY, WAYLAND_DISPLAY, TMUX,
// SSH_AUTH_SOCK and the like (they lead to sockets), the proxies (they hold
// passwords, and the way out of a cell is not the operator's), TMPDIR (a cell has
// a /tmp of its own) and GIT_* (cordon sets them).
var variables = []variable{
	{"TERM", forTerminal}, {"COLORTERM", forTerminal}, {"TERM_PROGRAM", forTerminal}, {"TERM_PROGRAM_VERSION", forTerminal},
	{"TERMINFO", forTerminal}, {"TERMINFO_DIRS", forTerminal}, {"VTE_VERSION", forTerminal}, {"COLORFGBG", forTerminal},
	{"NO_COLOR", forTerminal}, {"FORCE_COLOR", forTerminal}, {"CLICOLOR", forTerminal}, {"CLICOLOR_FORCE", forTerminal},
	{"LS_COLORS", forTerminal}, {"GCC_COLORS", forTerminal}, {"COLUMNS", forTerminal}, {"LINES", forTerminal},

	{"LANG", forLanguage}, {"LANGUAGE", forLanguage}, {"LC_*", forLanguage}, {"TZ", forLanguage}, {"TZDIR", forLanguage},

	{"HOME", forUser}, {"USER", forUser}, {"LOGNAME", forUser}, {"SHELL", forUser}, {"EDITOR", forUser}, {"VISUAL", forUser},
	{"PAGER", forUser}, {"MANPAGER", forUser}, {"LESS", forUser}, {"LESSCHARSET", forUser},

	{"XDG_CONFIG_HOME", forFolders}, {"XDG_CACHE_HOME", forFolders}, {"XDG_DATA_HOME", forFolders}, {"XDG_STATE_HOME", forFolders},
	{"XDG_BIN_HOME", forFolders}, {"XDG_CONFIG_DIRS", forFolders}, {"XDG_DATA_DIRS", forFolders},

	{"SSL_CERT_FILE", forTrust}, {"SSL_CERT_DIR", forTrust}, {"NIX_SSL_CERT_FILE", forTrust}, {"NODE_EXTRA_CA_CERTS", forTrust},
	{"REQUESTS_CA_BUNDLE", forTrust}, {"CURL_CA_BUNDLE", forTrust}, {"PIP_CERT", forTrust}, {"CARGO_HTTP_CAINFO", forTrust},
	{"DENO_CERT", forTrust}, {"UV_NATIVE_TLS", forTrust},

	{"PATH", forSearch}, {"LD_LIBRARY_PATH", forSearch}, {"LIBRARY_PATH", forSearch}, {"CPATH", forSearch}, {"C_INCLUDE_PATH", forSearch},
	{"CPLUS_INCLUDE_PATH", forSearch}, {"OBJC_INCLUDE_PATH", forSearch}, {"PKG_CONFIG*", forSearch}, {"MANPATH", forSearch}, {"INFOPATH", forSearch},
	{"ACLOCAL_PATH", forSearch}, {"CMAKE_PREFIX_PATH", forSearch},

	{"CC", forCompiler}, {"CXX", forCompiler}, {"CPP", forCompiler}, {"LD", forCompiler}, {"AR", forCompiler}, {"AS", forCompiler}, {"NM", forCompiler},
	{"RANLIB", forCompiler}, {"STRIP", forCompiler}, {"OBJCOPY", forCompiler}, {"CFLAGS", forCompiler}, {"CXXFLAGS", forCompiler},
	{"CPPFLAGS", forCompiler}, {"LDFLAGS", forCompiler}, {"LDLIBS", forCompiler}, {"MAKEFLAGS", forCompiler}, {"CMAKE_*", forCompiler},
	{"CTEST_*", forCompiler}, {"MESON_*", forCompiler}, {"NINJA_STATUS", forCompiler}, {"SOURCE_DATE_EPOCH", forCompiler}, {"MACOSX_DEPLOYMENT_TARGET", forCompiler},
	{"SDKROOT", forCompiler}, {"DEVELOPER_DIR", forCompiler}, {"OMP_NUM_THREADS", forCompiler},

	// Written out: GO* would be GOOGLE_*, GOPASS_* and whatever else begins so.
	{"GOPATH", forGo}, {"GOROOT", forGo}, {"GOBIN", forGo}, {"GOCACHE", forGo}, {"GOMODCACHE", forGo}, {"GOFLAGS", forGo}, {"GOENV", forGo},
	{"GOPROXY", forGo}, {"GONOPROXY", forGo}, {"GOPRIVATE", forGo}, {"GOSUMDB", forGo}, {"GONOSUMDB", forGo}, {"GONOSUMCHECK", forGo}, {"GOINSECURE", forGo},
	{"GOVCS", forGo}, {"GOTOOLCHAIN", forGo}, {"GOWORK", forGo}, {"GO111MODULE", forGo}, {"GOOS", forGo}, {"GOARCH", forGo}, {"GOAMD64", forGo},
	{"GOARM", forGo}, {"GOARM64", forGo}, {"GO386", forGo}, {"GOEXPERIMENT", forGo}, {"GODEBUG", forGo}, {"GOGC", forGo}, {"GOMEMLIMIT", forGo},
	{"GOMAXPROCS", forGo}, {"GOTRACEBACK", forGo}, {"GOFIPS140", forGo}, {"CGO_*", forGo}, {"GOLANGCI_LINT_CACHE", forGo}, {"STATICCHECK_CACHE", forGo},

	{"CARGO_*", forRust}, {"RUST_*", forRust}, {"RUSTC", forRust}, {"RUSTC_*", forRust}, {"RUSTDOC", forRust}, {"RUSTFLAGS", forRust}, {"RUSTDOCFLAGS", forRust}, {"RUSTUP_*", forRust},

	{"NODE_*", forNode}, {"NPM_CONFIG_*", forNode}, {"npm_config_*", forNode}, {"YARN_*", forNode}, {"PNPM_*", forNode}, {"BUN_*", forNode}, {"DENO_*", forNode},
	{"COREPACK_*", forNode}, {"TS_NODE_*", forNode}, {"NVM_*", forVersions}, {"VOLTA_*", forVersions}, {"FNM_*", forVersions}, {"N_PREFIX", forVersions},

	{"PYTHON*", forPython}, {"PIP_*", forPython}, {"PIPX_*", forPython}, {"PIPENV_*", forPython}, {"UV_*", forPython}, {"POETRY_*", forPython}, {"PDM_*", forPython},
	{"HATCH_*", forPython}, {"VIRTUAL_ENV", forPython}, {"VIRTUAL_ENV_PROMPT", forPython}, {"CONDA_*", forPython}, {"MAMBA_*", forPython}, {"PYENV_*", forVersions},

	{"JAVA_HOME", forJVM}, {"JAVA_OPTS", forJVM}, {"JAVA_TOOL_OPTIONS", forJVM}, {"_JAVA_OPTIONS", forJVM}, {"JDK_*", forJVM}, {"CLASSPATH", forJVM},
	{"MAVEN_*", forJVM}, {"MVNW_*", forJVM}, {"M2_HOME", forJVM}, {"GRADLE_*", forJVM}, {"KOTLIN_*", forJVM}, {"SCALA_HOME", forJVM}, {"SBT_OPTS", forJVM},
	{"ANDROID_*", forJVM}, {"SDKMAN_*", forVersions}, {"JENV_*", forVersions},

	{"DOTNET_*", forDotnet}, {"NUGET_*", forDotnet}, {"MSBUILD*", forDotnet},

	// Written out: BUNDLE_ and the name of a host holds its credentials.
	{"RUBYOPT", forRuby}, {"RUBYLIB", forRuby}, {"RUBY_*", forRuby}, {"GEM_HOME", forRuby}, {"GEM_PATH", forRuby}, {"GEM_SPEC_CACHE", forRuby},
	{"BUNDLE_PATH", forRuby}, {"BUNDLE_GEMFILE", forRuby}, {"BUNDLE_JOBS", forRuby}, {"BUNDLE_WITH", forRuby}, {"BUNDLE_WITHOUT", forRuby},
	{"BUNDLE_FROZEN", forRuby}, {"BUNDLE_DEPLOYMENT", forRuby}, {"BUNDLE_BIN", forRuby}, {"BUNDLE_APP_CONFIG", forRuby}, {"BUNDLE_USER_HOME", forRuby},
	{"BUNDLE_USER_CACHE", forRuby}, {"BUNDLE_USER_CONFIG", forRuby}, {"RBENV_*", forVersions}, {"CHRUBY_*", forVersions}, {"rvm_path", forVersions},

	{"PHPRC", forPHP}, {"PHP_*", forPHP}, {"COMPOSER_*", forPHP},

	{"PERL5LIB", forOthers}, {"PERL_*", forOthers}, {"LUA_PATH", forOthers}, {"LUA_CPATH", forOthers}, {"R_HOME", forOthers}, {"R_LIBS*", forOthers},
	{"JULIA_*", forOthers}, {"OPAM*", forOthers}, {"OCAMLPATH", forOthers}, {"CAML_LD_LIBRARY_PATH", forOthers}, {"GHCUP_*", forOthers}, {"STACK_ROOT", forOthers},
	{"CABAL_DIR", forOthers}, {"MIX_*", forOthers}, {"HEX_HOME", forOthers}, {"ERL_LIBS", forOthers}, {"ZIG_*", forOthers}, {"SWIFTLY_*", forOthers},
	{"FLUTTER_ROOT", forOthers}, {"PUB_CACHE", forOthers}, {"EMSDK*", forOthers}, {"WASMTIME_HOME", forOthers}, {"CUDA_*", forOthers}, {"TEXINPUTS", forOthers},

	{"ASDF_*", forVersions}, {"MISE_*", forVersions}, {"NODENV_*", forVersions}, {"GOENV_ROOT", forVersions},
	{"NIX_*", forPackaging}, {"HOMEBREW_*", forPackaging},

	{"CCACHE_*", forCaches}, {"SCCACHE_DIR", forCaches}, {"PLAYWRIGHT_BROWSERS_PATH", forCaches}, {"PUPPETEER_CACHE_DIR", forCaches},
	{"CYPRESS_CACHE_FOLDER", forCaches}, {"ELECTRON_CACHE", forCaches}, {"PRE_COMMIT_HOME", forCaches}, {"RUFF_CACHE_DIR", forCaches}, {"MYPY_CACHE_DIR", forCaches},

	{"CI", forUnattend}, {"DEBIAN_FRONTEND", forUnattend}, {"NONINTERACTIVE", forUnattend},

	// Those of the clients that cordon can start come from package facts.
	{"CURSOR_*", forClient}, {"AIDER_*", forClient}, {"AMP_*", forClient}, {"GOOSE_*", forClient},
	{"DISABLE_TELEMETRY", forClient}, {"DISABLE_AUTOUPDATER", forClient}, {"MAX_THINKING_TOKENS", forClient}, {"BASH_DEFAULT_TIMEOUT_MS", forClient},
	{"BASH_MAX_TIMEOUT_MS", forClient}, {"API_TIMEOUT_MS", forClient},
}

// exceptions are members of the families above that are not given, as patterns
// over names in capitals, each with why.
var exceptions = []variable{
	{"*PROXY*", "names the operator's proxy, often with a password"},
	{"CURSOR_TRACE*", "describes the operator's own session"},
	{"NIX_REMOTE", "leads to one of the operator's daemons"},
}

// withClients adds the variables of the clients that cordon can start to those above.
var withClients = sync.OnceValues(func() (given, kept []variable) {
	given, kept = slices.Clone(variables), slices.Clone(exceptions)
	for _, c := range facts.All() {
		for _, name := range c.Variables {
			given = append(given, variable{name, forClient})
		}
		for _, k := range c.Kept {
			kept = append(kept, variable{k.Name, k.Why})
		}
	}
	return given, kept
})

// allowed reports whether the table gives a variable of this name to a worker.
func allowed(name string) bool {
	member := false
	given, _ := withClients()
	for _, v := range given {
		if name == v.name {
			return true
		}
		family, many := strings.CutSuffix(v.name, "*")
		member = member || many && strings.HasPrefix(name, family)
	}
	return member && !policy.SecretLooking(name) && !excepted(name)
}

func excepted(name string) bool {
	_, kept := withClients()
	name = strings.ReplaceAll(strings.ToUpper(name), "/", "_")
	for _, v := range kept {
		if ok, _ := path.Match(v.name, name); ok {
			return true
		}
	}
	return false
}

// credentialLike matches values that no worker is given under a harmless name: an address
// with a user in it, something that is called a secret, a private key; a proxy in
// the options of a JVM, which leads out by the operator's way. The last one is a pipe
// of the make that started cordon, which a worker does not hold.
// (Compiled when it is needed: every process of a cell passes here when it
// starts.)
var credentialLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)://[^/\s"']*@` +
		`|(pass(word|wd|phrase)?|secret|tokens?|api[-_]?key|private[-_]?key|credentials?)["']?\s*=` +
		`|(pass(word|wd|phrase)?|secret|tokens?|api[-_]?key|private[-_]?key|credentials?)["']\s*:` +
		`|authorization["']?\s*[:=]` +
		`|[\w.-]*(pwd|[._-]pw|bearer)["']?\s*=` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY` +
		`|\b(gh[pousr]_|github_pat_|glpat-|sk-ant-|sk-proj-|xox[abprs]-|npm_|pypi-|hf_|dop_v1_|shpat_|AKIA|ASIA|AIza)[\w-]{8,}` +
		`|\bsk-[\w-]{20,}|\beyJ[\w-]{10,}\.eyJ` +
		`|-D(https?|ftp|socks)\.?proxy(host|port)` +
		`|--jobserver-`)
})

// credentialParts are texts of which every value that credentialLike matches has one, in
// small letters.
var credentialParts = []string{
	"@", "=", `":`, "':", `" `, "' ", "authorization", "-----begin", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
	"sk-", "xox", "npm_", "pypi-", "hf_", "dop_v1_", "shpat_", "akia", "asia", "aiza", "eyj", "proxy", "--jobserver-",
}

// holdsCredential reports whether a value looks like one that holds a credential. Most have
// none of the parts, and need no expression to be sure of that.
func holdsCredential(value string) bool {
	for i := range len(value) {
		if value[i] >= utf8.RuneSelf || value[i] < ' ' { // it has other blanks, or small letters
			return credentialLike().MatchString(value)
		}
	}
	small := strings.ToLower(value)
	if !slices.ContainsFunc(credentialParts, func(part string) bool { return strings.Contains(small, part) }) {
		return false
	}
	return credentialLike().MatchString(value)
}
