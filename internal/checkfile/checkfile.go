// Package checkfile is the table of the files that decide what is checked of a result: tests, CI, build files, and the
// scripts of acceptance and setup commands. A result that changes one of these can pass its checks for that reason.
//
// It is data and pure functions. It refuses to look at the disk and to decide what becomes of a result: gate.land of the
// policy does.
package checkfile

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/codewords"
)

// Kind is what a file has to do with the checks of a result.
type Kind string

const (
	Tests    Kind = "tests"
	CI       Kind = "CI"
	Build    Kind = "build files"
	Commands Kind = "acceptance or setup commands"
)

// Together are kinds as a text: tests, CI and build files.
func Together(kinds []Kind) string {
	text := ""
	for i, kind := range kinds {
		switch {
		case i > 0 && i == len(kinds)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += string(kind)
	}
	return text
}

// table holds names, as globs: of a directory with everything below it if they end in a slash, and otherwise of a file. They count at any
// depth, or at the top of the tree if they begin with a slash. Case counts only in names that have capitals. Configuration of linters
// is among the tests, because they are checks too. It is a list of what is usual: a project whose tests have other names tells its
// workers so with deny_write, or has each result reviewed.
var table = []struct {
	kind  Kind
	names []string
}{
	{CI, []string{
		"/.github/workflows/", "/.github/actions/", "/.github/scripts/", "/.github/codeowners", "/.github/dependabot.yml", "/codeowners", "/ci/",
		".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".teamcity/", ".ci/",
		".gitlab-ci.yml", ".travis.yml", ".cirrus.yml", ".drone.yml", "appveyor.yml", ".appveyor.yml", "azure-pipelines*.yml",
		"bitbucket-pipelines.yml", "cloudbuild.y*ml", "jenkinsfile*", ".pre-commit-config.yaml",
	}},
	{Tests, []string{
		"test/", "tests/", "__tests__/", "testdata/", "spec/", "e2e/", "__snapshots__/",
		"test", "test.*", "tests.*", "test_*", "test-*", "*_test.*", "*_tests.*", "*-test.*", "*.test.*", "*.spec.*", "*_spec.*",
		"*.cy.*", "*Test.java", "*Tests.java", "*Test.kt", "*Tests.cs", "*Test.cs", "*Test.php", "*Tests.swift", "*Spec.scala",
		"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini",
		"noxfile.py", "phpunit*.xml*", "nextest.toml", ".nycrc*", "jest.config.*", "vitest.config.*", "playwright.config.*",
		"cypress.config.*", "karma.conf.*", ".mocharc*", ".rspec", "codecov.yml", ".coveragerc",
		".golangci.*", "eslint.config.*", ".eslintrc*", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "pylintrc",
		"biome.json*", "clippy.toml", ".clippy.toml", ".rubocop.yml", ".shellcheckrc",
	}},
	{Build, []string{
		"makefile", "makefile.*", "gnumakefile", "*.mk", "cmakelists.txt", "*.cmake", "meson.build", "build.ninja", "configure", "configure.ac",
		"build.bazel", "build", "workspace", "module.bazel",
		".bazelrc", "bunfig.toml", "*.bzl", "justfile", "taskfile.y*ml", "rakefile", "*.gemspec", "gemfile", "gemfile.lock",
		"package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock*", "deno.json*", "tsconfig*.json",
		"webpack.config.*", "vite.config.*", "rollup.config.*", "babel.config.*", ".babelrc*", "turbo.json", "nx.json", "gulpfile.*",
		"go.mod", "go.sum", "go.work", "cargo.toml", "cargo.lock", "build.rs", "rust-toolchain*",
		"pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "poetry.lock", "uv.lock", "pipfile*",
		"pom.xml", "build.gradle*", "settings.gradle*", "gradle.properties", "gradlew*", "mvnw*", "gradle/", ".mvn/", "build.sbt", "build.zig*", "build.xml",
		"composer.json", "composer.lock", "mix.exs", "mix.lock", "package.swift", "*.cabal", "stack.yaml", "dune", "dune-project",
		"*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj*", "*.sln", "*.slnx", "*.props", "*.targets", "global.json",
		"dockerfile*", "*.dockerfile", "containerfile*", "docker-compose*", "compose.y*ml", "flake.nix", "flake.lock", "build.sh", "build.py",
	}},
}

// Of says what a path of the tree has to do with the checks of a result, of which these commands are some; "": nothing that
// a name tells. Documents check nothing.
func Of(file string, commands []string) Kind {
	if slices.ContainsFunc(commands, func(line string) bool { return runs(line, file) }) {
		return Commands
	}
	if path.Ext(file) == ".md" {
		return ""
	}
	for _, row := range table {
		if slices.ContainsFunc(row.names, func(name string) bool { return names(name, file) }) {
			return row.kind
		}
	}
	return ""
}

// names reports whether a name of the table is that of a file, or of a directory above it. A link in the place of a directory
// is called like one.
func names(name, file string) bool {
	if name == strings.ToLower(name) {
		file = strings.ToLower(file)
	}
	dir, below := strings.CutSuffix(name, "/")
	if top, ok := strings.CutPrefix(dir, "/"); ok {
		return file == top || below && strings.HasPrefix(file, top+"/")
	}
	parts := strings.Split(file, "/")
	if !below {
		parts = parts[len(parts)-1:]
	}
	return slices.ContainsFunc(parts, func(part string) bool { ok, _ := path.Match(dir, part); return ok })
}

// runs reports whether a command line names a file where a program or a script stands, from the top of the tree or from a
// directory that the line enters. What an interpreter is called with may be its options, so every shell script counts.
func runs(line, file string) bool {
	words := codewords.Of(line, nil)
	for i, w := range words {
		onPath := w.Command && !strings.Contains(w.Text, "/")
		if onPath || !w.Command && !w.Place && path.Ext(w.Text) != ".sh" {
			continue
		}
		if path.Clean(w.Text) == file {
			return true
		}
		for _, before := range words[:i] {
			if before.Place && path.Join(before.Text, w.Text) == file {
				return true
			}
		}
	}
	return false
}
