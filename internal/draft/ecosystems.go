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
	"GNUmakefile", "makefile", "Makefile", "CMakeLists.txt", "Rakefile",
}

// makeTest is a rule for test, alone or among other targets, and not a variable.
const makeTest = `(?m)^(?:[^\s#:=]+[ \t]+)*test(?:[ \t]+[^\s#:=]+)*[ \t]*::?(?:[^=:]|$)`

var (
	npmTest = script("package.json", "test")
	berry   = has("yarn.lock", ".yarnrc.yml") // yarn 2 and later
	bun     = either(has("bun.lock"), has("bun.lockb"))
	npmLock = either(has("package-lock.json"), has("npm-shrinkwrap.json"))
	pytest  = either(has("pytest.ini"), has("conftest.py"), has("tests"), has("test"),
		says(`pytest`, "pyproject.toml"), says(`\[tool:pytest\]`, "setup.cfg"), says(`\[pytest\]`, "tox.ini"))
	phpunit = either(has("phpunit.xml"), has("phpunit.xml.dist"))
)

// ecosystems are in the order in which their commands are run.
var ecosystems = []ecosystem{
	{
		name: "Go", marks: []string{"go.mod"},
		output: []string{"bin", "dist"},
		tests:  []step{{when: always, run: "go test ./..."}},
		hosts:  []string{"@go"},
	},
	{
		name: "Rust", marks: []string{"Cargo.toml"},
		scratch: []string{"target"},
		tests:   []step{{when: always, run: "cargo test"}},
		hosts:   []string{"@crates"},
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
			{when: always, run: "npm install --no-package-lock", likely: true},
		},
		tests: []step{
			{when: both(npmTest, has("pnpm-lock.yaml")), run: "pnpm test"},
			{when: both(npmTest, has("yarn.lock")), run: "yarn test"},
			{when: both(npmTest, bun), run: "bun run test"},
			{when: npmTest, run: "npm test"},
		},
		hosts: []string{"@npm"},
	},
	{
		name: "Python", marks: []string{"pyproject.toml", "setup.py", "requirements.txt"},
		scratch: []string{".venv", "**/__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox"},
		output:  []string{"venv", "build", "dist", "htmlcov"},
		setup: []step{
			{when: has("uv.lock"), run: "uv sync --frozen"},
			{when: has("poetry.lock"), run: "poetry install --no-interaction"},
			{when: has("requirements.txt"), run: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt", likely: true},
			{when: always, run: "python3 -m venv .venv && .venv/bin/pip install -e .", likely: true},
		},
		tests: []step{
			{when: both(pytest, has("uv.lock")), run: "uv run --frozen pytest"},
			{when: both(pytest, has("poetry.lock")), run: "poetry run pytest"},
			{when: pytest, run: "python3 -m pytest"},
		},
		hosts: []string{"@pypi"},
	},
	{
		name: "Maven", marks: []string{"pom.xml"},
		scratch: []string{"**/target"},
		tests: []step{
			{when: has("mvnw"), run: "./mvnw -q test"},
			{when: always, run: "mvn -q test"},
		},
	},
	{
		name: "Gradle", marks: []string{"build.gradle", "build.gradle.kts"},
		scratch: []string{".gradle"},
		output:  []string{"**/build"},
		tests: []step{
			{when: has("gradlew"), run: "./gradlew test"},
			{when: always, run: "gradle test"},
		},
	},
	{
		name: "Ruby", marks: []string{"Gemfile"},
		scratch: []string{"vendor/bundle", ".bundle"},
		output:  []string{"coverage", "log", "tmp"},
		setup:   []step{{when: always, run: "bundle install"}},
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
		instead: []step{{when: says(makeTest, "GNUmakefile", "makefile", "Makefile"), run: "make test"}},
	},
}
