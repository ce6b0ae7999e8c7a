package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/git"
	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

// bwrap is what comes nearest to the cell: the machine read-only, one directory writable, no network.
func bwrap(dir string, argv ...string) []string {
	return append([]string{"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
		"--bind", dir, dir, "--unshare-all", "--die-with-parent", "--new-session", "--chdir", dir, "--"}, argv...)
}

func needsBwrap(b *testing.B) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("bwrap is not installed")
	}
}

// BenchmarkStart compares the start of a cell with that of bwrap.
func BenchmarkStart(b *testing.B) {
	needsBwrap(b)
	dir := place(b)
	program, plain, repo := cordon(b, dir), filepath.Join(dir, "plain"), generate(b, filepath.Join(dir, "host"), 1000)
	if err := os.Mkdir(plain, 0o755); err != nil {
		b.Fatal(err)
	}
	t := turns{}
	for b.Loop() {
		for name, in := range map[string]struct {
			dir  string
			argv []string
		}{
			"bare": {plain, []string{"/bin/true"}}, "bwrap": {plain, bwrap(plain, "/bin/true")},
			"plain": {plain, []string{program, "exec", "--", "/bin/true"}}, "repository": {repo, []string{program, "exec", "--", "/bin/true"}},
		} {
			t.time(b, name, func() error { _, err := run(in.dir, in.argv...); return err })
		}
	}
	t.compare(b, "`cordon exec -- /bin/true` in a plain directory, compared with bwrap", "× 3", "plain", "bwrap")
	t.compare(b, "the same in a repository of 1,000 files", "× 4", "repository", "bwrap")
	t.compare(b, "bwrap, compared with `/bin/true`", "", "bwrap", "bare")
}

// tasks are everyday work in the current directory.
var tasks = []struct {
	name, what string
	do         func() error
}{
	{"status", "`git status`, 20,000 files", func() error { return again(3, "git", "status", "--porcelain") }},
	{"files", "20,000 small files written, read, removed", smallFiles},
	{"build", "`go build`, warm cache", func() error { return again(1, "go", "build", "-C", "module", "-o", os.DevNull, ".") }},
	{"spawn", "300 processes", func() error { return again(300, "/bin/true") }},
}

// BenchmarkWork compares work in a sandbox with the same work outside, without the sandbox's start.
func BenchmarkWork(b *testing.B) {
	needsBwrap(b)
	dir := place(b)
	program, me, repo := cordon(b, dir), self(b, dir), generate(b, filepath.Join(dir, "host"), 20000)
	writeFiles(b, filepath.Join(repo, "module"), map[string]string{"go.mod": "module example\n\ngo 1.24\n",
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc main() { fmt.Println(http.StatusOK) }\n"})
	t := turns{}
	for b.Loop() {
		for _, task := range tasks {
			for name, argv := range map[string][]string{
				"bare": {me, "work", task.name}, "cordon exec": {program, "exec", "--", me, "work", task.name}, "bwrap": bwrap(repo, me, "work", task.name),
			} {
				took, err := run(repo, argv...)
				ns, perr := strconv.ParseInt(strings.TrimSpace(took), 10, 64)
				if err := errors.Join(err, perr); err != nil {
					b.Fatal(err)
				}
				t[task.name+" "+name] = append(t[task.name+" "+name], time.Duration(ns))
			}
		}
	}
	for _, task := range tasks {
		for _, box := range []string{"cordon exec", "bwrap"} {
			t.compare(b, task.what+" under "+box+", compared with bare", "", task.name+" "+box, task.name+" bare")
		}
	}
}

// workPart does one task and prints how long it took. Caches are warm when it counts.
func workPart(args []string) error {
	if err := os.Setenv("TMPDIR", "/tmp"); err != nil { // a sandbox has its own
		return err
	}
	for _, task := range tasks {
		if task.name != args[0] {
			continue
		}
		if err := task.do(); err != nil {
			return err
		}
		began := time.Now()
		err := task.do()
		fmt.Println(time.Since(began).Nanoseconds())
		return err
	}
	return fmt.Errorf("no such work: %s", args[0])
}

func again(n int, argv ...string) error {
	for range n {
		if _, err := run("", argv...); err != nil {
			return err
		}
	}
	return nil
}

func smallFiles() error {
	dir, err := os.MkdirTemp(".", "small-")
	if err != nil {
		return err
	}
	for i := range 20000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("small\n"), 0o644); err != nil {
			return err
		}
	}
	for i := range 20000 {
		if _, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// BenchmarkHook compares whole hooks, from their start to their answer, with a Go program that only speaks
// JSON. (In process: go test -bench Decide ./internal/guard.)
func BenchmarkHook(b *testing.B) {
	dir := place(b)
	program, me := cordon(b, dir), self(b, dir)
	warrant, tree := hookWarrant(b, dir)
	hook := []string{program, "hook", "--client", string(clients.Names()[0]), "--lease", warrant}
	t := turns{}
	for b.Loop() {
		for name, h := range map[string]struct {
			command string
			code    int
			argv    []string
		}{
			"json": {"git status", 0, []string{me, "json"}}, "allowed": {"git status", 0, hook}, "denied": {"cd ../.. && git commit -am x", 2, hook},
			"python": {"git status", 0, []string{"python3", "-c", "import sys, json; json.load(sys.stdin)"}},
		} {
			input, err := json.Marshal(map[string]any{"session_id": "s", "cwd": tree, "hook_event_name": "PreToolUse", "tool_name": "Bash",
				"tool_use_id": "t", "tool_input": map[string]string{"command": h.command}})
			if err != nil {
				b.Fatal(err)
			}
			t.time(b, name, func() error {
				_, err := runWith(tree, nil, string(input), h.argv...)
				var exit *exec.ExitError
				if h.code > 0 && errors.As(err, &exit) && exit.ExitCode() == h.code {
					return nil
				}
				return err
			})
		}
	}
	t.compare(b, "`cordon hook`, an allowed command, compared with a Go program that only reads JSON", "× 1.6", "allowed", "json")
	t.compare(b, "the same, a denied command", "", "denied", "json")
	t.compare(b, "Python that only reads JSON, compared with it", "", "python", "json")
}

// jsonPart is the hook that does nothing.
func jsonPart([]string) error { var v any; return json.NewDecoder(os.Stdin).Decode(&v) }

// hookWarrant writes a warrant for a worker in a directory.
func hookWarrant(b *testing.B, dir string) (file, tree string) {
	tree = filepath.Join(dir, "host", "trees", "one")
	if err := os.MkdirAll(filepath.Join(tree, "src"), 0o755); err != nil {
		b.Fatal(err)
	}
	sealed, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brave-otter", Branch: "cordon/brave-otter", Base: git.OID(strings.Repeat("1", 40)), Target: "refs/heads/main",
			Created: time.Now(), Expires: time.Now().Add(time.Hour), Executed: []string{}, Source: "bench", Policy: policy.Default(),
		},
		Place: lease.Place{Worktree: tree, Home: filepath.Join(dir, "home")},
	})
	if err != nil {
		b.Fatal(err)
	}
	w := guard.NewWarrant(sealed)
	w.Hosts, w.State, w.Private, w.Confined = []string{filepath.Join(dir, "host")}, filepath.Join(dir, "state"), true, true
	w.Journal = filepath.Join(dir, "decisions")
	text, err := json.Marshal(w)
	if err != nil {
		b.Fatal(err)
	}
	writeFiles(b, dir, map[string]string{"warrant.json": string(text)})
	return filepath.Join(dir, "warrant.json"), tree
}
