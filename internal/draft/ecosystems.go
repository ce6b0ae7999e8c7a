package draft

// step is a command for one kind of project.
type step struct {
	when   when
	run    string
	likely bool // only suggested: it may not work as it is
}

// ecosystem is what cordon init knows of one family of tools.
type ecosystem struct {
	name    string
	marks   []string // any of these at the top
	scratch []string // directories that only its tools make
	output  []string // directories its tools make under an ordinary name
	setup   []step   // the first that fits
	tests   []step   // the first that fits
	instead []step   // tests that usually run those of another ecosystem: only where there are none
	hosts   []string // where its tools fetch from: presets, or names where there is none
}

// telling are the files whose content some step below asks about.
var telling = []string{
	"package.json", "composer.json", "pyproject.toml", "setup.cfg", "tox.ini",
	"GNUmakefile", "makefile", "Makefile", "CMakeLists.txt", "Rakefile", "go.mod",
}

// makeTest is a rule for test, alone or among other targets, and not a variable.
const (
	makeTest  = `(?m)^(?:[^\s#:=]+[ \t]+)*test(?:[ \t]+[^\s#:=]+)*[ \t]*::?(?:[^=:]|$)`
	makeCheck = `(?m)^(?:[^\s#:=]+[ \t]+)*check(?:[ \t]+[^\s#:=]+)*[ \t]*::?(?:[^=:]|$)`
)

var (
	npmTest = script("package.json", "test")
	berry   = has("yarn.lock", ".yarnrc.yml") // yarn 2 and later
	bun     = either(has("bun.lock"), has("bun.lockb"))
	npmLock = either(has("package-lock.json"), has("npm-shrinkwrap.json"))
	pytest  = either(has("pytest.ini"), has("conftest.py"), has("tests"), has("test"),
		says(`pytest`, "pyproject.toml"), says(`\[tool:pytest\]`, "setup.cfg"), says(`\[pytest\]`, "tox.ini"))
	pnpm = either(has("pnpm-lock.yaml"), says(`"packageManager"\s*:\s*"pnpm@`, "package.json"))
	yarn = either(has("yarn.lock"), says(`"packageManager"\s*:\s*"yarn@`, "package.json"))
	// installable: pip can install the project itself, with the names of extras for its tests.
	installable = either(has("setup.py"), says(`(?m)^\[(?:project|build-system|tool\.poetry)\]`, "pyproject.toml"))
	testExtra   = says(`(?ms)^\[project\.optional-dependencies\][^\[]*^test\s*=`, "pyproject.toml")
	testsExtra  = says(`(?ms)^\[project\.optional-dependencies\][^\[]*^tests\s*=`, "pyproject.toml")
	devExtra    = says(`(?ms)^\[project\.optional-dependencies\](?:[^\[]|\[[^\n]*\n)*?^dev\s*=`, "pyproject.toml")
	phpunit     = either(has("phpunit.xml"), has("phpunit.xml.dist"))
)

// venv begins the setup of a Python project without a lock file.
const venv = "python3 -m venv .venv && .venv/bin/pip install "

// ecosystems are in the order in which their commands are run.
var ecosystems = []ecosystem{
	{
		name: "Go", marks: []string{"go.mod"},
		output: []string{"bin", "dist"},
		// A module without dependencies, or with all of them in the repository, fetches nothing.
		setup: []step{{when: both(says(`(?m)^\s*require\b`, "go.mod"), not(has("vendor"))), run: "go mod download"}},
		tests: []step{{when: always, run: "go test ./..."}},
		hosts: []string{"@go"},
	},
	{
		name: "Rust", marks: []string{"Cargo.toml"},
		scratch: []string{"target"},
		setup: []step{
			{when: has("Cargo.lock"), run: "cargo fetch --locked"},
			{when: always, run: "cargo fetch"},
		},
		tests: []step{{when: always, run: "cargo test"}},
		hosts: []string{"@crates"},
	},
	{
		name: "Node.js", marks: []string{"package.json"},
		scratch: []string{"**/node_modules"},
		output:  []string{"dist", "build", "out", "coverage", ".next", ".nuxt", ".turbo", ".svelte-kit", ".cache"},
		setup: []step{
			{when: has("pnpm-lock.yaml"), run: "pnpm install --frozen-lockfile"},
			{when: berry, run: "yarn install --immutable"},
			{when: has("yarn.lock"), run: "yarn install --frozen-lockfile"},
			{when: bun, run: "bun install --frozen-lockfile"},
			{when: npmLock, run: "npm ci"},
			{when: pnpm, run: "pnpm install --no-lockfile"},
			{when: yarn, run: "yarn install --no-lockfile"},
			{when: always, run: "npm install --no-package-lock"},
		},
		tests: []step{
			{when: both(npmTest, pnpm), run: "pnpm test"},
			{when: both(npmTest, yarn), run: "yarn test"},
			{when: both(npmTest, bun), run: "bun run test"},
			{when: npmTest, run: "npm test"},
		},
		hosts: []string{"@npm"},
	},
	{
		name: "Python", marks: []string{"pyproject.toml", "setup.py", "requirements.txt"},
		scratch: []string{".venv", "**/__pycache__", "**/*.egg-info", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox"},
		output:  []string{"venv", "build", "dist", "htmlcov"},
		setup: []step{
			{when: has("uv.lock"), run: "uv sync --frozen"},
			{when: has("poetry.lock"), run: "poetry install --no-interaction"},
			{when: has("requirements-dev.txt"), run: venv + "-r requirements-dev.txt"},
			{when: both(has("requirements.txt"), pytest), run: venv + "-r requirements.txt pytest"},
			{when: has("requirements.txt"), run: venv + "-r requirements.txt"},
			{when: both(installable, testExtra), run: venv + "-e '.[test]' pytest"},
			{when: both(installable, testsExtra), run: venv + "-e '.[tests]' pytest"},
			{when: both(installable, devExtra), run: venv + "-e '.[dev]' pytest"},
			{when: both(installable, pytest), run: venv + "-e . pytest"},
			{when: installable, run: venv + "-e ."},
			{when: pytest, run: venv + "pytest"},
		},
		tests: []step{
			{when: both(pytest, has("uv.lock")), run: "uv run --frozen pytest"},
			{when: both(pytest, has("poetry.lock")), run: "poetry run pytest"},
			{when: pytest, run: ".venv/bin/python -m pytest"},
		},
		hosts: []string{"@pypi"},
	},
	{
		name: "Maven", marks: []string{"pom.xml"},
		scratch: []string{"**/target"},
		setup: []step{
			{when: has("mvnw"), run: "./mvnw -q -B test-compile"},
			{when: always, run: "mvn -q -B test-compile"},
		},
		tests: []step{
			{when: has("mvnw"), run: "./mvnw -q -B test"},
			{when: always, run: "mvn -q -B test"},
		},
		hosts: []string{"repo.maven.apache.org", "repo1.maven.org"},
	},
	{
		name: "Gradle", marks: []string{"build.gradle", "build.gradle.kts"},
		scratch: []string{".gradle"},
		output:  []string{"**/build"},
		setup: []step{
			{when: has("gradlew"), run: "./gradlew --no-daemon testClasses"},
			{when: always, run: "gradle --no-daemon testClasses"},
		},
		tests: []step{
			{when: has("gradlew"), run: "./gradlew --no-daemon test"},
			{when: always, run: "gradle --no-daemon test"},
		},
		// The wrapper gets Gradle from the first two, which lead to releases at GitHub.
		hosts: []string{
			"services.gradle.org", "downloads.gradle.org", "@github", "plugins.gradle.org", "plugins-artifacts.gradle.org",
			"repo.maven.apache.org", "repo1.maven.org",
		},
	},
	{
		name: "Ruby", marks: []string{"Gemfile"},
		scratch: []string{"vendor/bundle", ".bundle"},
		output:  []string{"coverage", "log", "tmp"},
		setup:   []step{{when: always, run: "bundle config set --local path vendor/bundle && bundle install"}},
		hosts:   []string{"rubygems.org", "index.rubygems.org"},
		tests: []step{
			{when: either(has(".rspec"), has("spec")), run: "bundle exec rspec"},
			{when: says(`(?i)testtask|task\s*\(?:?["']?test\b`, "Rakefile"), run: "bundle exec rake test"},
		},
	},
	{
		name: "PHP", marks: []string{"composer.json"},
		scratch: []string{"vendor", ".phpunit.cache"},
		setup:   []step{{when: always, run: "composer install --no-interaction"}},
		hosts:   []string{"repo.packagist.org", "api.github.com", "codeload.github.com"},
		tests: []step{
			{when: script("composer.json", "test"), run: "composer test"},
			{when: phpunit, run: "vendor/bin/phpunit"},
		},
	},
	{
		name: "CMake", marks: []string{"CMakeLists.txt"},
		scratch: []string{"build"},
		tests: []step{
			{when: says(`(?i)enable_testing|include\s*\(\s*CTest`, "CMakeLists.txt"), run: "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"},
			{when: always, run: "cmake -S . -B build && cmake --build build"},
		},
	},
	{
		name: ".NET", marks: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"},
		output: []string{"**/bin", "**/obj"},
		setup:  []step{{when: always, run: "dotnet restore"}},
		hosts:  []string{"api.nuget.org"},
		tests:  []step{{when: always, run: "dotnet test"}},
	},
	{
		name: "Make", marks: []string{"GNUmakefile", "makefile", "Makefile"},
		instead: []step{
			{when: says(makeTest, "GNUmakefile", "makefile", "Makefile"), run: "make test"},
			{when: says(makeCheck, "GNUmakefile", "makefile", "Makefile"), run: "make check"},
		},
	},
}
