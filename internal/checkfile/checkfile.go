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

// table holds names, as globs in lower case: of a directory with everything below it if they end in a slash, and
// otherwise of a file, at any depth. It is a list of what is usual: a project whose tests have other names tells its
// workers so with deny_write, or has each result reviewed.
var table = []struct {
	kind  Kind
	names []string
}{
	{CI, []string{
		".github/", ".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".teamcity/", ".ci/", "ci/",
		".gitlab-ci.yml", ".travis.yml", ".cirrus.yml", ".drone.yml", "appveyor.yml", ".appveyor.yml", "azure-pipelines*.yml",
		"bitbucket-pipelines.yml", "cloudbuild.y*ml", "jenkinsfile*", ".pre-commit-config.yaml",
	}},
	{Tests, []string{
		"test/", "tests/", "__tests__/", "testdata/", "spec/", "specs/", "e2e/", "__snapshots__/",
		"test", "test.*", "tests.*", "test_*", "test-*", "*_test.*", "*_tests.*", "*-test.*", "*.test.*", "*.spec.*", "*_spec.*",
		"*test.java", "*tests.java", "*test.kt", "*tests.cs", "*test.cs", "*test.php", "*tests.swift", "*spec.scala",
		"conftest.py", "pytest.ini", "tox.ini", "noxfile.py", "phpunit.xml*", "jest.config.*", "vitest.config.*", "playwright.config.*",
		"cypress.config.*", "karma.conf.*", ".mocharc*", ".rspec", "codecov.yml", ".coveragerc",
	}},
	{Build, []string{
		"makefile", "makefile.*", "gnumakefile", "*.mk", "cmakelists.txt", "*.cmake", "meson.build", "build.ninja", "configure", "configure.ac",
		"build.bazel", "build", "workspace", "module.bazel", "*.bzl", "justfile", "taskfile.y*ml", "rakefile", "*.gemspec", "gemfile", "gemfile.lock",
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
// a name tells. Case does not count, as on some file systems.
func Of(file string, commands []string) Kind {
	if slices.ContainsFunc(commands, func(line string) bool { return runs(line, file) }) {
		return Commands
	}
	parts := strings.Split(strings.ToLower(file), "/")
	for _, row := range table {
		if slices.ContainsFunc(row.names, func(name string) bool { return names(name, parts) }) {
			return row.kind
		}
	}
	return ""
}

// names reports whether a name of the table is that of a file, or of a directory above it.
func names(name string, parts []string) bool {
	in := parts[len(parts)-1:]
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		name, in = dir, parts[:len(parts)-1]
	}
	return slices.ContainsFunc(in, func(part string) bool { ok, _ := path.Match(name, part); return ok })
}

// interpreters are programs whose first argument without a dash is the file that they run.
var interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "source", "."}

// runs reports whether a command line names a file of the tree as a program, or as the script of an interpreter.
func runs(line, file string) bool {
	for _, one := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|()\n", r) }) {
		words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(one))
		switch {
		case len(words) > 1 && slices.Contains(interpreters, path.Base(words[0])):
			words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") })
		case len(words) > 0 && !strings.Contains(words[0], "/"):
			continue // it is looked for on PATH
		}
		if len(words) > 0 && path.Clean(words[0]) == file {
			return true
		}
	}
	return false
}
