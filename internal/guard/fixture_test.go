package guard

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cordon/internal/policy"
	"cordon/internal/testground"
)

// The corpus assumes a host at /w/repo with worktrees below it, the home
// /home/agent, and nothing in /tmp. The fixture is built for real in a temporary directory, and moved
// lets it be seen at those paths.
type moved struct{ w, home string }

// scratch are directories of the machine in which other programs, such as tests that run beside, have files of any name.
var scratch = []string{"/tmp", "/var/tmp", "/dev/shm"}

func (m moved) at(p string) string {
	if rest, ok := strings.CutPrefix(p, "/w"); ok && (rest == "" || rest[0] == '/') {
		return m.w + rest
	}
	if rest, ok := strings.CutPrefix(p, "/home/agent"); ok && (rest == "" || rest[0] == '/') {
		return m.home + rest
	}
	for _, dir := range scratch {
		if p == dir || strings.HasPrefix(p, dir+"/") && !strings.HasPrefix(p+"/", os.TempDir()+"/") {
			return filepath.Join(filepath.Dir(m.w), "scratch") + p
		}
	}
	return p
}

func (m moved) Readlink(p string) (string, error)       { return os.Readlink(m.at(p)) }
func (m moved) ReadDir(p string) ([]fs.DirEntry, error) { return os.ReadDir(m.at(p)) }

var fixture = sync.OnceValues(func() (moved, error) {
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		return moved{}, err
	}
	m := moved{filepath.Join(dir, "w"), filepath.Join(dir, "home")}
	for _, d := range scratch {
		if err := os.MkdirAll(m.at(d), 0o755); err != nil {
			return m, err
		}
	}
	out, err := exec.Command("bash", "testdata/fixture.sh", m.w, m.home).CombinedOutput()
	if err != nil {
		return m, &exec.Error{Name: string(out), Err: err}
	}
	return m, nil
})

func TestMain(m *testing.M) {
	code := testground.Run("internal/guard", m)
	if f, err := fixture(); err == nil {
		os.RemoveAll(filepath.Dir(f.w))
	}
	os.Exit(code)
}

// worker is the scope that the corpus assumes.
func worker(t testing.TB) *Scope {
	t.Helper()
	files, err := fixture()
	if err != nil {
		t.Fatal(err)
	}
	const tree = "/w/repo/.worktrees/s1"
	p := policy.Default()
	rules, err := policy.Compile(p, policy.Location{Worktree: tree, Home: "/home/agent"})
	if err != nil {
		t.Fatal(err)
	}
	return &Scope{
		Worktree: tree, Hosts: []string{"/w/repo", "/w/repo/.git"}, State: "/home/agent/.local/state/cordon", Home: "/home/agent",
		Branch: "s1", Target: "refs/heads/main", Confined: true, Guard: p.Guard, Rules: rules, Files: files,
	}
}
