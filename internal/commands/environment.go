package commands

import (
	"strings"

	"cordon/internal/mark"
)

// variable is an environment variable that makes a command use a path or run
// something.
type variable struct {
	name     string
	commands string // those that look at it, between blanks; "" is all
	kind     string // of its value; "options" are further arguments, "kept" and "settings" usually in the home
}

// variables are the ones that a script may set for what it runs. Those of git and
// the shells are not here.
var variables = [...]variable{
	{"LD_PRELOAD", "", "preload"},
	{"LD_AUDIT", "", "preload"},
	{"LD_LIBRARY_PATH", "", "list"},
	{"DYLD_INSERT_LIBRARIES", "", "preload"},
	{"BAT_CONFIG_PATH", " bat ", "settings"},
	{"BAT_PAGER", " bat ", "code"},
	{"BROWSER", " gh glab ", "code"},
	{"BUNDLE_GEMFILE", " bundle bundler gem rake rails rspec ruby ", "write"},
	{"CARGO_BUILD_TARGET_DIR", " cargo ", "write"},
	{"CARGO_TARGET_DIR", " cargo ", "write"},
	{"CARGO_HOME", " cargo ", "kept"},
	{"CC", " go cargo cmake npm pip meson gem ", "tool"},
	{"CLASSPATH", " java javac jshell mvn gradle ant sbt lein clj clojure kotlin kotlinc scala groovy jar ", "list"},
	{"COVERAGE_FILE", " coverage pytest ", "write"},
	{"CURL_HOME", " curl ", "settings"},
	{"CXX", " go cargo cmake npm pip meson gem ", "tool"},
	{"EDITOR", " gh sudoedit crontab visudo vipw kubectl ", "code"},
	{"ELIXIR_ERL_OPTIONS", " elixir iex mix ", "words"},
	{"ERL_FLAGS", " erl elixir iex mix rebar ", "words"},
	{"EXINIT", " vi vim ex view nvim ", "vim"},
	{"GH_BROWSER", " gh ", "code"},
	{"GH_CONFIG_DIR", " gh ", "settings"},
	{"GH_EDITOR", " gh ", "code"},
	{"GH_PAGER", " gh ", "code"},
	{"GNUPGHOME", " gpg ", "settings"},
	{"GOBIN", " go ", "write"},
	{"GOCACHE", " go ", "kept"},
	{"GOENV", " go ", "kept"},
	{"GOFLAGS", " go ", "options"},
	{"GOMODCACHE", " go ", "kept"},
	{"GOPATH", " go ", "kept"},
	{"GOTMPDIR", " go ", "write"},
	{"GOWORK", " go ", "out"},
	{"GRADLE_OPTS", " gradle ", "words"},
	{"GRADLE_USER_HOME", " gradle ", "kept"},
	{"INSTALL_ROOT", " gem pip ", "write"},
	{"JAVA_TOOL_OPTIONS", " java javac jshell mvn gradle ant sbt lein clj clojure kotlin kotlinc scala groovy jar ", "words"},
	{"JDK_JAVA_OPTIONS", " java javac jshell mvn gradle ant sbt lein clj clojure kotlin kotlinc scala groovy jar ", "words"},
	{"KUBECONFIG", " kubectl helm ", "settings"},
	{"KUBE_EDITOR", " kubectl ", "code"},
	{"LESSOPEN", " less ", "piped"},
	{"LESSCLOSE", " less ", "code"},
	{"LUA_INIT", " lua luajit luac busted ", "luainit"},
	{"MANPAGER", " man ", "code"},
	{"MAVEN_OPTS", " mvn ", "words"},
	{"MIX_EXS", " mix ", "exec"},
	{"MYPYPATH", " mypy ", "list"},
	{"NODE_OPTIONS", " node nodejs npm npx pnpm yarn corepack jest vitest eslint prettier tsc mocha webpack vite next tsx" +
		" ts-node nodemon rollup ng nuxt ", "words"},
	{"NODE_PATH", " node nodejs npm npx pnpm yarn jest vitest eslint mocha webpack vite next tsx ts-node ", "list"},
	{"NPM_CONFIG_CACHE", " npm npx ", "kept"},
	{"NPM_CONFIG_PREFIX", " npm npx ", "enter"},
	{"NPM_CONFIG_SCRIPT_SHELL", " npm npx ", "tool"},
	{"NPM_CONFIG_USERCONFIG", " npm npx ", "settings"},
	{"PAGER", " man psql mysql gh bat systemctl journalctl ", "code"},
	{"PERL5LIB", " perl prove cpan cpanm ", "list"},
	{"PERL5OPT", " perl prove cpan cpanm ", "words"},
	{"PHPRC", " php composer phpunit ", "read"},
	{"PHP_INI_SCAN_DIR", " php composer phpunit ", "list"},
	{"PIPENV_PIPFILE", " pipenv ", "write"},
	{"PIP_CONFIG_FILE", " pip ", "settings"},
	{"PIP_PREFIX", " pip ", "write"},
	{"PIP_TARGET", " pip ", "write"},
	{"PSQLRC", " psql ", "settings"},
	{"PYTEST_ADDOPTS", " pytest ", "options"},
	{"PYTHONHOME", " python pypy pytest pip mypy tox nox ", "list"},
	{"PYTHONPATH", " python pypy ipython pytest mypy pylint tox nox coverage gunicorn uvicorn flake8 black ", "list"},
	{"PYTHONSTARTUP", " python pypy ipython ", "exec"},
	{"PYTHONUSERBASE", " pip ", "write"},
	{"RIPGREP_CONFIG_PATH", " rg ", "settings"},
	{"RSYNC_RSH", " rsync ", "code"},
	{"RUBYLIB", " ruby irb rake bundle gem rails rspec ", "list"},
	{"RUBYOPT", " ruby irb rake bundle gem rails rspec ", "words"},
	{"RUSTC", " cargo ", "tool"},
	{"RUSTC_WRAPPER", " cargo ", "tool"},
	{"R_PROFILE", " R Rscript ", "exec"},
	{"R_PROFILE_USER", " R Rscript ", "exec"},
	{"SSH_ASKPASS", " ssh ssh-add scp sftp ", "tool"},
	{"SUDO_ASKPASS", " sudo ", "tool"},
	{"SUDO_EDITOR", " sudoedit ", "code"},
	{"TAPE", " tar cpio ", "write"},
	{"TF_CLI_CONFIG_FILE", " terraform ", "settings"},
	{"TF_DATA_DIR", " terraform ", "write"},
	{"UV_CACHE_DIR", " uv ", "kept"},
	{"UV_PROJECT_ENVIRONMENT", " uv ", "write"},
	{"VIMINIT", " vi vim ex view nvim ", "vim"},
	{"VISUAL", " gh sudoedit crontab visudo vipw ", "code"},
	{"WGETRC", " wget ", "settings"},
	{"_JAVA_OPTIONS", " java javac jshell mvn gradle ant sbt lein clj clojure kotlin kotlinc scala groovy jar ", "words"},
	{"npm_config_cache", " npm npx ", "kept"},
	{"npm_config_prefix", " npm npx ", "enter"},
	{"npm_config_script_shell", " npm npx ", "tool"},
	{"npm_config_userconfig", " npm npx ", "settings"},
}

// surroundings adds what the environment makes a command do.
func (u *Use) surroundings(c Call, name string) {
	if c.Env == nil {
		return
	}
	g := &reading{call: c, parsed: &parsed{}}
	r := lookup(name)
	plain := unversioned(name)
	if r == nil && plain != "" {
		name = plain
		r = lookup(name)
	}
	if r != nil {
		name = r.name
		g.parsed = parse(c.Args, r)
	}
	for _, v := range variables {
		if v.commands != "" && !strings.Contains(v.commands, " "+name+" ") {
			continue
		}
		if value, ok := c.Env(v.name); ok && value != "" {
			g.setting(v, value)
		}
	}
	u.Access = append(u.Access, g.use.Access...)
	u.Runs = append(u.Runs, g.use.Runs...)
}

// setting does what a variable says.
func (g *reading) setting(v variable, value string) {
	switch v.kind {
	case "preload":
		for i, p := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' }) {
			if i >= 64 {
				p = mark.Any
			}
			g.path(Execute, p, v.name)
			if i >= 64 {
				break
			}
		}
	case "tool":
		if strings.Contains(value, "/") || mark.Has(value, mark.Any+mark.Outside) {
			word, _, _ := strings.Cut(value, " ")
			g.path(Execute, word, v.name)
		}
	case "kept", "settings":
		g.usual(v, value)
	case "words":
		for _, w := range strings.Fields(value) {
			g.value("arg", w, v.name)
		}
	case "piped":
		if code, ok := strings.CutPrefix(strings.TrimLeft(value, "|"), "-"); ok {
			value = code
		}
		g.value("code", strings.TrimLeft(value, "|"), v.name)
	case "options":
		g.further(strings.Fields(value))
	case "vim":
		g.use.Runs = append(g.use.Runs, Run{Code: value, Lang: Opaque, Why: v.name})
	case "luainit":
		if file, ok := strings.CutPrefix(value, "@"); ok {
			g.path(Execute, file, v.name)
			return
		}
		g.use.Runs = append(g.use.Runs, Run{Code: value, Lang: Opaque, Why: v.name})
	default:
		g.value(v.kind, value, v.name)
	}
}

// usual is a directory or file that is in the home when nobody says otherwise,
// where the command finds it by itself: saying the same is no news.
func (g *reading) usual(v variable, value string) {
	role := Read
	if v.kind == "kept" {
		role = Write
	}
	for _, p := range strings.Split(value, ":") {
		if p == "" || mark.In(p) || startsHome(p) || strings.HasPrefix(p, "/home/") || strings.HasPrefix(p, "/root/") || strings.HasPrefix(p, "/Users/") {
			continue
		}
		g.path(role, p, v.name)
	}
}

// further takes more arguments, after those on the command line, and does what
// the options among them say.
func (g *reading) further(words []string) {
	p := &parsed{rows: g.rows, words: words}
	for p.step() {
	}
	for _, o := range p.options {
		if o.has {
			kind := o.kind
			if kind == "chdir" {
				kind = "enter"
			}
			g.value(kind, o.value, o.at)
		}
	}
}
