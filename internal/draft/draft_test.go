package draft

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cordon/internal/policy"
)

// repo makes a project from what is in it: paths are tracked, a path after "? "
// is present only, and one after "! " is ignored. A file may have a text after
// an equals sign.
func repo(paths ...string) Project {
	p := Project{top: map[string]bool{}, tracked: map[string]bool{}, Ignored: map[string]bool{}, text: map[string]string{}}
	for _, path := range paths {
		path, text, _ := strings.Cut(path, "=")
		if name, found := strings.CutPrefix(path, "! "); found {
			p.Ignored[name] = true
			continue
		}
		if name, found := strings.CutPrefix(path, "? "); found {
			p.top[name] = true
			continue
		}
		p.track(path)
		p.text[path] = text
	}
	p.ports = servicePorts(p.text)
	return p
}

// drafted is a project and what it must and must not be given.
type drafted struct {
	name             string
	project          Project
	found            string
	tests, setup     []string
	scratch, sources []string
	says, silent     string // patterns
}

var drafts = []drafted{
	{name: "nothing", project: repo(), says: `No tests were found`, silent: `Detected:`},
	{name: "the models are offered, and not set", project: repo(), says: `(?m)^    #- "@anthropic"$`, silent: `(?m)^ *- "@|^network:`},
	{name: "readme only", project: repo("README.md", "docs/a.md"), sources: []string{"docs"}, silent: `(?m)^ *setup:`},
	{
		name: "go", project: repo("go.mod", "cmd/x/main.go", "internal/y/y.go", ".github/workflows/ci.yml", "a b/c", "[x]/y", "! bin"),
		found: "Go", tests: []string{"go test ./..."}, scratch: []string{"bin"}, sources: []string{"cmd", "internal"},
		says: `#- "@anthropic"`, silent: `\.github|"a b"|\[x\]|dist|go mod download`,
	},
	{name: "go with dependencies", project: repo("go.mod=module x\nrequire (\n\tgolang.org/x/text v0.14.0\n)\n"), found: "Go", tests: []string{"go test ./..."}, setup: []string{"go mod download"}},
	{name: "go, vendored", project: repo("go.mod=module x\nrequire golang.org/x/text v0.14.0\n", "vendor/modules.txt"), found: "Go", tests: []string{"go test ./..."}, sources: []string{"vendor"}},
	{name: "go, bin tracked", project: repo("go.mod", "bin/tool", "! bin"), found: "Go", tests: []string{"go test ./..."}},
	{name: "go, bin not ignored", project: repo("go.mod", "? bin"), found: "Go", tests: []string{"go test ./..."}},
	{
		name: "go with make", project: repo("go.mod", "Makefile=build:\n\tgo build\nlint test: build\n"),
		found: "Go, Make", tests: []string{"go test ./..."}, says: `(?m)^  #- "make test"$`,
	},
	{name: "make", project: repo("Makefile=.PHONY: test\ntest:\n\t./t\n"), found: "Make", tests: []string{"make test"}},
	{name: "make, check", project: repo("Makefile=check: all\n\t./t\n"), found: "Make", tests: []string{"make check"}},
	{name: "make, double colon", project: repo("makefile=test:: a\n"), found: "Make", tests: []string{"make test"}},
	{name: "make, variable", project: repo("Makefile=test := a\ntest ::= b\ntest = c\n#test:\n.PHONY: test\ntests: x\n"), found: "Make", silent: `make test`},
	{
		name: "npm", project: repo(`package.json={"scripts":{"test":"node --test"}}`, "package-lock.json", "src/a.js", "! dist", "! coverage"),
		found: "Node.js", tests: []string{"npm test"}, setup: []string{"npm ci"},
		scratch: []string{"**/node_modules", "dist", "coverage"}, sources: []string{"src"},
	},
	{name: "npm without test", project: repo(`package.json={"scripts":{"build":"x"}}`, "npm-shrinkwrap.json"), found: "Node.js", setup: []string{"npm ci"}, scratch: []string{"**/node_modules"}, silent: `npm test`},
	{name: "npm init's test", project: repo(`package.json={"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`), found: "Node.js", setup: []string{"npm install --no-package-lock"}, scratch: []string{"**/node_modules"}, silent: `npm test|npm ci`},
	{name: "npm without a lock file", project: repo(`package.json={"scripts":{"test":"mocha"}}`), found: "Node.js", tests: []string{"npm test"}, setup: []string{"npm install --no-package-lock"}, scratch: []string{"**/node_modules"}},
	{name: "pnpm without a lock file", project: repo(`package.json={"packageManager": "pnpm@9.1.0", "scripts":{"test":"mocha"}}`), found: "Node.js", tests: []string{"pnpm test"}, setup: []string{"pnpm install --no-lockfile"}, scratch: []string{"**/node_modules"}},
	{name: "yarn without a lock file", project: repo(`package.json={"packageManager": "yarn@1.22.0", "scripts":{"test":"mocha"}}`), found: "Node.js", tests: []string{"yarn test"}, setup: []string{"yarn install --no-lockfile"}, scratch: []string{"**/node_modules"}},
	{name: "npm, broken manifest", project: repo(`package.json={"scripts":`), found: "Node.js", setup: []string{"npm install --no-package-lock"}, scratch: []string{"**/node_modules"}, silent: `npm test`},
	{name: "npm, odd manifest", project: repo(`package.json={"scripts":["test"]}`), found: "Node.js", setup: []string{"npm install --no-package-lock"}, scratch: []string{"**/node_modules"}, silent: `npm test`},
	{name: "node_modules tracked", project: repo("package.json", "web/node_modules/x/index.js"), found: "Node.js", setup: []string{"npm install --no-package-lock"}, sources: []string{"web"}},
	{name: "yarn", project: repo(`package.json={"scripts":{"test":"jest"}}`, "yarn.lock"), found: "Node.js", tests: []string{"yarn test"}, setup: []string{"yarn install --frozen-lockfile"}, scratch: []string{"**/node_modules"}},
	{name: "yarn berry", project: repo(`package.json={"scripts":{"test":"jest"}}`, "yarn.lock", ".yarnrc.yml"), found: "Node.js", tests: []string{"yarn test"}, setup: []string{"yarn install --immutable"}, scratch: []string{"**/node_modules"}},
	{name: "pnpm", project: repo(`package.json={"scripts":{"test":"jest"}}`, "pnpm-lock.yaml"), found: "Node.js", tests: []string{"pnpm test"}, setup: []string{"pnpm install --frozen-lockfile"}, scratch: []string{"**/node_modules"}},
	{name: "bun", project: repo(`package.json={"scripts":{"test":"jest"}}`, "bun.lockb"), found: "Node.js", tests: []string{"bun run test"}, setup: []string{"bun install --frozen-lockfile"}, scratch: []string{"**/node_modules"}},
	{name: "rust", project: repo("Cargo.toml", "src/lib.rs"), found: "Rust", setup: []string{"cargo fetch"}, tests: []string{"cargo test"}, scratch: []string{"target"}, sources: []string{"src"}},
	{name: "rust, target tracked", project: repo("Cargo.toml", "Cargo.lock", "target/x"), found: "Rust", setup: []string{"cargo fetch --locked"}, tests: []string{"cargo test"}, silent: `scratch:\n`},
	{name: "python", project: repo("setup.py", "tests/test_a.py", "pkg/__init__.py"), found: "Python", tests: []string{".venv/bin/python -m pytest"}, setup: []string{venv + "-e . pytest"}, scratch: pythonScratch, sources: []string{"pkg", "tests"}},
	{name: "python, requirements", project: repo("requirements.txt", "tests/test_a.py"), found: "Python", tests: []string{".venv/bin/python -m pytest"}, setup: []string{venv + "-r requirements.txt pytest"}, scratch: pythonScratch, sources: []string{"tests"}},
	{name: "python without tests", project: repo("requirements.txt"), found: "Python", setup: []string{venv + "-r requirements.txt"}, scratch: pythonScratch, silent: `pytest"`},
	{name: "python, only settings of tools", project: repo("pyproject.toml=[tool.black]\n"), found: "Python", scratch: pythonScratch, silent: `pip install`},
	{name: "python, extra for tests", project: repo("pyproject.toml=[project]\nname = \"x\"\n[project.optional-dependencies]\ntest = [\"pytest\"]\n"), found: "Python", tests: []string{".venv/bin/python -m pytest"}, setup: []string{venv + "-e '.[test]' pytest"}, scratch: pythonScratch},
	{name: "poetry", project: repo("pyproject.toml=[tool.pytest.ini_options]\n", "poetry.lock"), found: "Python", tests: []string{"poetry run pytest"}, setup: []string{"poetry install --no-interaction"}, scratch: pythonScratch},
	{name: "uv", project: repo("pyproject.toml=pytest", "uv.lock"), found: "Python", tests: []string{"uv run --frozen pytest"}, setup: []string{"uv sync --frozen"}, scratch: pythonScratch},
	{name: "maven", project: repo("pom.xml", "src/A.java"), found: "Maven", tests: []string{"mvn -q -B test"}, setup: []string{"mvn -q -B test-compile"}, scratch: []string{"**/target"}, sources: []string{"src"}},
	{name: "maven wrapper", project: repo("pom.xml", "mvnw"), found: "Maven", tests: []string{"./mvnw -q -B test"}, setup: []string{"./mvnw -q -B test-compile"}, scratch: []string{"**/target"}},
	{name: "gradle", project: repo("build.gradle.kts", "gradlew", "app/A.kt", "! build"), found: "Gradle", tests: []string{"./gradlew --no-daemon test"}, setup: []string{"./gradlew --no-daemon testClasses"}, scratch: []string{".gradle", "**/build"}, sources: []string{"app"}},
	{name: "gradle without wrapper", project: repo("build.gradle"), found: "Gradle", tests: []string{"gradle --no-daemon test"}, setup: []string{"gradle --no-daemon testClasses"}, scratch: []string{".gradle"}},
	{
		name: "services", project: repo("docker-compose.yml=services:\n  db:\n    ports:\n      - \"5432:5432\"\n      - 127.0.0.1:6380:6379\n      - ${WEB:-8080}:80\n",
			".env.example=DB_PORT=3306\nREDIS_URL=redis://localhost:6379/0\nPORT=3000\nMAIL_FROM=x@y\n"),
		says: `(?m)^    #- 3306\n    #- 5432\n    #- 6379\n    #- 6380\n    #- 8080\n`, silent: `3000|(?m)^ *host_ports`,
	},
	{name: "ruby", project: repo("Gemfile", "spec/a_spec.rb"), found: "Ruby", tests: []string{"bundle exec rspec"}, setup: []string{"bundle config set --local path vendor/bundle && bundle install"}, scratch: []string{"vendor/bundle", ".bundle"}, sources: []string{"spec"}},
	{name: "ruby with rake", project: repo("Gemfile", "Rakefile=Rake::TestTask.new"), found: "Ruby", tests: []string{"bundle exec rake test"}, setup: []string{"bundle config set --local path vendor/bundle && bundle install"}, scratch: []string{"vendor/bundle", ".bundle"}},
	{name: "php", project: repo(`composer.json={"scripts":{"test":["@lint","phpunit"]}}`), found: "PHP", tests: []string{"composer test"}, setup: []string{"composer install --no-interaction"}, scratch: []string{"vendor", ".phpunit.cache"}},
	{name: "phpunit", project: repo("composer.json={}", "phpunit.xml.dist"), found: "PHP", tests: []string{"vendor/bin/phpunit"}, setup: []string{"composer install --no-interaction"}, scratch: []string{"vendor", ".phpunit.cache"}},
	{name: "cmake", project: repo("CMakeLists.txt=enable_testing()"), found: "CMake", tests: []string{"cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"}, scratch: []string{"build"}},
	{name: "cmake without tests", project: repo("CMakeLists.txt=project(x)"), found: "CMake", tests: []string{"cmake -S . -B build && cmake --build build"}, scratch: []string{"build"}},
	{name: "dotnet", project: repo("App.sln", "App/App.csproj", "! bin", "! obj"), found: ".NET", tests: []string{"dotnet test"}, setup: []string{"dotnet restore"}, scratch: []string{"**/bin", "**/obj"}, sources: []string{"App"}},
	{
		name: "several", project: repo("go.mod", `package.json={"scripts":{"test":"x"}}`, "package-lock.json", "web/a.ts"),
		found: "Go, Node.js", tests: []string{"go test ./...", "npm test"}, setup: []string{"npm ci"}, scratch: []string{"**/node_modules"}, sources: []string{"web"},
	},
}

var pythonScratch = []string{".venv", "**/__pycache__", "**/*.egg-info", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox"}

// uncommented makes every suggestion of a draft hold.
func uncommented(text []byte) []byte {
	return regexp.MustCompile(`(?m)^( *)#(\S)`).ReplaceAll(text, []byte("$1$2"))
}

// fetchesFrom is what has to be reached for setup commands to work.
func fetchesFrom(t *testing.T, setup []string) (hosts []string) {
	for _, line := range setup {
		program, _, _ := strings.Cut(line, " ")
		from, known := map[string][]string{
			"npm": {"@npm"}, "pnpm": {"@npm"}, "yarn": {"@npm"}, "bun": {"@npm"}, "uv": {"@pypi"}, "poetry": {"@pypi"},
			"bundle": {"rubygems.org", "index.rubygems.org"}, "composer": {"repo.packagist.org", "api.github.com", "codeload.github.com"},
			"dotnet": {"api.nuget.org"}, "go": {"@go"}, "cargo": {"@crates"}, "python3": {"@pypi"},
			"mvn": mavenHosts, "./mvnw": mavenHosts, "gradle": gradleHosts, "./gradlew": gradleHosts,
		}[program]
		if !known {
			t.Errorf("%q would fail without a network", line)
		}
		hosts = append(hosts, from...)
	}
	return hosts
}

var (
	mavenHosts  = []string{"repo.maven.apache.org", "repo1.maven.org"}
	gradleHosts = []string{
		"services.gradle.org", "downloads.gradle.org", "@github", "plugins.gradle.org", "plugins-artifacts.gradle.org", "repo.maven.apache.org", "repo1.maven.org",
	}
)

func TestDraft(t *testing.T) {
	for _, c := range drafts {
		t.Run(c.name, func(t *testing.T) {
			text, err := Propose(c.project).YAML()
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.Parse("cordon.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			want := policy.Default()
			want.Acceptance, want.Setup, want.Filesystem.Scratch = c.tests, c.setup, c.scratch
			want.Network.AllowedDomains = fetchesFrom(t, c.setup)
			if !p.Equal(want) {
				t.Errorf("got\n%s\nwant\n%s", p.YAML(), want.YAML())
			}
			if n := strings.Count(string(text), "\n"); n > 60 {
				t.Errorf("%d lines are too many to read:\n%s", n, text)
			}
			if len(c.setup) == 0 && strings.Contains(string(text), "For the setup commands") {
				t.Errorf("opens something for no setup:\n%s", text)
			}
			if got := strings.Join(c.project.Names(), ", "); got != c.found {
				t.Errorf("found %q, want %q", got, c.found)
			}
			if got := c.project.sources(); !slices.Equal(got, c.sources) {
				t.Errorf("sources %q, want %q", got, c.sources)
			}
			if !regexp.MustCompile(c.says).Match(text) {
				t.Errorf("does not say %q:\n%s", c.says, text)
			}
			if c.silent != "" && regexp.MustCompile(c.silent).Match(text) {
				t.Errorf("says %q:\n%s", c.silent, text)
			}
			all, err := policy.Parse("uncommented", uncommented(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := all.Filesystem.WriteRoots, append([]string{"."}, c.sources...); !slices.Equal(got, want) {
				t.Errorf("with every suggestion taken write_roots are %q, want %q", got, want)
			}
		})
	}
}

// TestEveryEcosystem: each row of the table has a project above.
func TestEveryEcosystem(t *testing.T) {
	for _, e := range ecosystems {
		if !slices.ContainsFunc(drafts, func(c drafted) bool { return c.found == e.name }) {
			t.Errorf("no test is of %s alone", e.name)
		}
	}
}

// TestDraftAnything: whatever a repository holds, what is drafted is a policy,
// also when every suggestion is taken.
func TestDraftAnything(t *testing.T) {
	var marks []string
	for _, e := range ecosystems {
		for _, m := range e.marks {
			marks = append(marks, strings.ReplaceAll(m, "*", "x"))
		}
	}
	name := rapid.OneOf(rapid.SampledFrom(slices.Concat(marks, telling, []string{"yarn.lock", "uv.lock", "spec", "tests"})), rapid.StringN(1, 8, 30))
	rapid.Check(t, func(t *rapid.T) {
		p := repo()
		for _, n := range rapid.SliceOfN(name, 0, 8).Draw(t, "names") {
			if n = strings.Trim(strings.ReplaceAll(n, "/", "_"), "."); n != "" {
				p.track(rapid.SampledFrom([]string{n, n + "/a", "src/" + n + "/b"}).Draw(t, "path"))
			}
		}
		for _, n := range telling {
			p.text[n] = rapid.SampledFrom([]string{"", "test:", `{"scripts":{"test":"x"}}`, "pytest", "enable_testing()"}).Draw(t, "text")
		}
		for _, n := range p.candidates() {
			p.Ignored[n] = rapid.Bool().Draw(t, "ignored")
		}
		text, err := Propose(p).YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Parse("uncommented", uncommented(text)); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
