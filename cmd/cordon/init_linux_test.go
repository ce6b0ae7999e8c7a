package main

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/testnet"
)

// initProject is a repository for which cordon init writes a policy, with which the first
// run lands.
type initProject struct {
	name  string
	needs string
	files map[string]string
	// prepare is run outside of a cell before the files are committed.
	prepare string
	policy  string // what the policy must have
	env     []string
}

func initProjects(integrity string) []initProject {
	npm := `{"name":"x","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"tiny":"1.0.0"}}`
	test := fmt.Sprintf("if (require('tiny') !== %q) process.exit(1);\n", testnet.Tiny)
	lock := fmt.Sprintf(`{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0","dependencies":{"tiny":"1.0.0"}},"node_modules/tiny":{"version":"1.0.0","resolved":%q,"integrity":%q}}}`,
		testnet.TinyTarball, integrity)
	rc := "cafile=" + testnet.CA + "\nregistry=https://" + firstOf("@npm") + "/\naudit=false\nfund=false\nupdate-notifier=false\n"
	goEnv := []string{"GOPROXY=https://" + firstOf("@go"), "GOTOOLCHAIN=local", "GONOSUMDB=*", "GOFLAGS="}
	return []initProject{
		{"npm with a lock file", "npm", map[string]string{"package.json": npm, "package-lock.json": lock, "test.js": test, ".npmrc": rc, ".gitignore": "node_modules/\n"}, "", `"npm ci"`, nil},
		{"npm without a lock file", "npm", map[string]string{"package.json": npm, "test.js": test, ".npmrc": rc, ".gitignore": "node_modules/\n"}, "", `"npm install --no-package-lock"`, nil},
		{"Go with a cold cache", "go", map[string]string{
			"go.mod":    "module x.example.com/x\n\ngo 1.20\n\nrequire " + testnet.TinyModule + " v1.0.0\n",
			"x_test.go": "package x\n\nimport (\n\t\"testing\"\n\n\t\"" + testnet.TinyModule + "\"\n)\n\nfunc TestX(t *testing.T) {\n\tif tiny.Text == \"\" {\n\t\tt.Fatal()\n\t}\n}\n",
		}, "GOMODCACHE=$PWD/../mod GOCACHE=$PWD/../cache go mod tidy && chmod -R u+w ../mod", `"go mod download"`, goEnv},
		{"Make", "make", map[string]string{"Makefile": "check:\n\ttest -f src/a.txt\n"}, "", `"make check"`, nil},
	}
}

func (p initProject) check(t *testing.T) {
	need(t, p.needs)
	s := newSite(t)
	s.env = append(s.env, p.env...)
	for name, text := range p.files {
		s.write("repo/"+name, text)
	}
	if p.prepare != "" {
		if o := s.try(s.process("sh", "-c", p.prepare)); o.code != 0 {
			t.Fatalf("outside of a cell: %+v", o)
		}
	}
	s.git("add", ".")
	s.git("commit", "-q", "-m", p.name)
	s.cordon([]int{0}, "init")
	if text := s.cordon([]int{0}, "init", "--dry-run").out; !strings.Contains(text, p.policy) {
		t.Fatalf("the policy has no %s:\n%s", p.policy, text)
	}
	s.git("add", "cordon.yaml")
	s.git("commit", "-q", "-m", "policy")
	o := s.cordon([]int{0}, "run", "--merge", "--", "sh", "-c", "echo more >>src/a.txt")
	wants(t, "the first run", o.err, "merged into main")
}

// TestInitProjects: with the policy that cordon init writes, the first run passes.
func TestInitProjects(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		if err := n.Registries(); err != nil {
			t.Fatal(err)
		}
		_, integrity, err := testnet.NodePackage()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range initProjects(integrity) {
			t.Run(p.name, func(t *testing.T) { t.Parallel(); p.check(t) })
		}
	})
}
