package checkfile

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	commands := []string{"sh ok.sh && ./scripts/check --all", "python3 -u tools/scan.py src/data.txt", "go vet ./...; . env.sh", "test -s src/made.txt",
		"CI=1 ./scripts/env.sh", "timeout 600 ./slow.sh", "bash -euo pipefail scripts/strict.sh", "cd web && ./check.sh", "! sh -c 'sh a/quoted'"}
	for file, want := range map[string]Kind{
		"tests/main.sh": Tests, "src/x_test.go": Tests, "web/App.test.tsx": Tests, "TEST/x": Tests, "pkg/testdata/in.txt": Tests, "test": Tests,
		"src/test_parser.py": Tests, "a/FooTest.java": Tests, "conftest.py": Tests, "spec/a.rb": Tests,
		".github/workflows/x.yml": CI, ".gitlab-ci.yml": CI, "ci/scan.sh": CI, "Jenkinsfile.release": CI, ".github/workflows/test.yml": CI,
		"Makefile": Build, "sub/package.json": Build, "go.mod": Build, "setup.py": Build, "Dockerfile": Build, "x/app.csproj": Build,
		"scripts/env.sh": Commands, "slow.sh": Commands, "scripts/strict.sh": Commands, "web/check.sh": Commands, "a/quoted": Commands, "pipefail.txt": "",
		".golangci.yml": Tests, "tests": Tests, "src/ci/client.go": "", ".github/ISSUE_TEMPLATE/bug.yml": "", "spec/api.md": "", "src/Latest.cs": "", "a/.pytest.ini": Tests,
		"ok.sh": Commands, "scripts/check": Commands, "tools/scan.py": Commands, "env.sh": Commands,
		"src/data.txt": "", "src/made.txt": "", "src/contests/latest.txt": "", "src/attest.go": "", "docs/guide.md": "", "src/protest": "", "build/x.txt": "",
	} {
		if got := Of(file, commands); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	if got := Together([]Kind{CI, Build, Tests}); got != "CI, build files and tests" || Together([]Kind{Tests}) != "tests" || Together(nil) != "" {
		t.Error(got)
	}
}
