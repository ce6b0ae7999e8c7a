package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// projects are modules of go.mod that bring tests of their own, which need nothing but
// what building cordon needs.
var projects = []string{"github.com/spf13/cobra"}

// TestProjects runs the tests of real projects in a worker's tree and in a plain
// clone, and wants the same tests to pass and the same to fail.
func TestProjects(t *testing.T) {
	for _, module := range projects {
		t.Run(filepath.Base(module), func(t *testing.T) {
			s := newSite(t)
			s.project(module)
			clone := s.place("clone")
			s.git("clone", "-q", ".", clone)
			goTest := "go test -json -count=1 ./... || :"
			outside := exec.Command("sh", "-c", goTest)
			if os.Getuid() == 0 { // a worker has no capabilities, and some tests want to be refused something
				outside = exec.Command("setpriv", "--inh-caps=-all", "--bounding-set=-all", "sh", "-c", goTest)
			}
			outside.Dir, outside.Env = clone, s.env
			plain, err := outside.Output()
			if err != nil {
				t.Fatal(err)
			}
			want := verdicts(t, plain)
			if len(want) < 20 {
				t.Fatalf("%d tests: this shows nothing\n%s", len(want), plain)
			}
			s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "{ "+goTest+"; } >src/result")
			inside, err := os.ReadFile(filepath.Join(s.only().Tree, "src/result"))
			if err != nil {
				t.Fatal(err)
			}
			got := verdicts(t, inside)
			t.Logf("%d tests, %d of them pass", len(want), counting(want, "pass"))
			if maps.Equal(got, want) {
				return
			}
			for _, name := range slices.Sorted(maps.Keys(want)) {
				if got[name] != want[name] {
					t.Errorf("%s: %q in a worker's tree, %q in a clone", name, got[name], want[name])
				}
			}
			for name := range got {
				if want[name] == "" {
					t.Errorf("%s: only in a worker's tree", name)
				}
			}
		})
	}
}

func counting(all map[string]string, word string) (n int) {
	for _, v := range all {
		if v == word {
			n++
		}
	}
	return n
}

// project puts a module of the module cache into the repository. It is tested with
// nothing but what the cache has.
func (s *site) project(module string) {
	s.t.Helper()
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	out, err := list.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		s.t.Skipf("the module cache of this machine does not have %s: %v", module, err)
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(s.repo, "project"), os.DirFS(dir)); err != nil {
		s.t.Fatal(err)
	}
	// A module of its own at the top, so that its tests find what they look for.
	sh := exec.Command("sh", "-euc", "chmod -R u+w project && cp -r project/. . && rm -r project")
	sh.Dir = s.repo
	if out, err := sh.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", module)
	// The module cache is where a worker can read it, and in its own home.
	cache := filepath.Join(s.home, "go", "pkg", "mod")
	if err := os.MkdirAll(filepath.Dir(cache), 0o755); err != nil {
		s.t.Fatal(err)
	}
	copied := exec.Command("cp", "-r", strings.TrimSpace(string(modules)), cache)
	if out, err := copied.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	s.t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", cache).Run() })
	s.env = append(s.env, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOPATH="+filepath.Join(s.home, "go"))
}

// verdicts are what became of each test: pass, fail or skip.
func verdicts(t *testing.T, stream []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range bytes.Lines(stream) {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(line, &e) != nil || !slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			continue
		}
		all[e.Package+" "+e.Test] = e.Action
	}
	return all
}
