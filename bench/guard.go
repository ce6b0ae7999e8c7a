package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/agent/clients"
	"cordon/internal/git"
	"cordon/internal/guard"
	"cordon/internal/hook"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

// asked are typical commands, and what the guard answers.
var asked = []struct {
	name, command string
	code          int
}{
	{"git status", "git status", 0},
	{"a pipe", "git log --oneline -20 | grep fix | head -5", 0},
	{"cd, &&, a test run", "cd src && go test ./... 2>&1 | tail -20", 0},
	{"a loop with substitutions", `for f in $(git ls-files '*.go'); do gofmt -l "$f"; done`, 0},
	{"a commit with a here-document", "git commit -m \"$(cat <<'EOF'\nfix: the thing\n\nlonger text\nEOF\n)\"", 0},
	{"inline Python", `python3 -c "import json;print(json.load(open('package.json'))['name'])"`, 0},
	{"denied: an escape", "cd ../.. && git commit -am x", 2},
}

// noops are hooks that do nothing, in what hooks are usually written in.
var noops = []struct {
	name string
	argv []string
}{
	{"python3, no-op", []string{"python3", "-c", "import sys, json; json.load(sys.stdin)"}},
	{"node, no-op", []string{"node", "-e", "JSON.parse(require('fs').readFileSync(0))"}},
	{"bash and jq, no-op", []string{"bash", "-c", "jq -r .tool_input.command >/dev/null"}},
}

// guards measures what a decision costs: from the start of the hook to its
// answer, and in process.
func guards(rounds int) error {
	dir, err := os.MkdirTemp("", "cordon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // made just now
	cordon := filepath.Join(dir, "cordon")
	if err := build(cordon, "./cmd/cordon"); err != nil {
		return err
	}
	warrant, scope, err := benchWarrant(dir)
	if err != nil {
		return err
	}
	describe()
	if err := coldHooks(cordon, warrant, scope.Worktree, rounds); err != nil {
		return err
	}
	if err := inProcess(scope, rounds); err != nil {
		return err
	}
	hostile(scope)
	return nil
}

// benchWarrant writes a warrant for a worker in a directory.
func benchWarrant(dir string) (string, *guard.Scope, error) {
	tree := filepath.Join(dir, "host", "trees", "one")
	if err := os.MkdirAll(filepath.Join(tree, "src"), 0o755); err != nil {
		return "", nil, err
	}
	sealed, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brave-otter", Branch: "cordon/brave-otter", Base: git.OID(strings.Repeat("1", 40)), Target: "refs/heads/main",
			Created: time.Now(), Expires: time.Now().Add(time.Hour), Executed: []string{}, Source: "bench", Policy: policy.Default(),
		},
		Place: lease.Place{Worktree: tree, Home: filepath.Join(dir, "home")},
	})
	if err != nil {
		return "", nil, err
	}
	w := guard.NewWarrant(sealed)
	w.Hosts, w.State, w.Private, w.Confined = []string{filepath.Join(dir, "host")}, filepath.Join(dir, "state"), true, true
	w.Journal = filepath.Join(dir, "decisions")
	b, err := json.Marshal(w)
	if err != nil {
		return "", nil, err
	}
	scope, err := w.Scope(time.Now())
	if err != nil {
		return "", nil, err
	}
	name := filepath.Join(dir, "warrant.json")
	return name, scope, os.WriteFile(name, b, 0o600)
}

func hookInput(tree, command string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"session_id": "s", "cwd": tree, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t",
		"tool_input": map[string]string{"command": command},
	})
}

// coldHooks measures whole hooks against /bin/true, interleaved.
func coldHooks(cordon, warrant, tree string, rounds int) error {
	times := stopwatch{}
	for range rounds {
		if err := times.round(cordon, warrant, tree); err != nil {
			return err
		}
	}
	times.print()
	return nil
}

// stopwatch is how long programs took, by what they are called in the table.
type stopwatch map[string][]time.Duration

// round starts each program once.
func (s stopwatch) round(cordon, warrant, tree string) error {
	plain, err := hookInput(tree, "git status")
	if err != nil {
		return err
	}
	if err := s.measure("/bin/true", 0, plain, "/bin/true"); err != nil {
		return err
	}
	for _, a := range asked {
		input, err := hookInput(tree, a.command)
		if err != nil {
			return err
		}
		if err := s.measure("cordon hook: "+a.name, a.code, input, cordon, "hook", "--client", string(clients.Names()[0]), "--lease", warrant); err != nil {
			return err
		}
	}
	for _, n := range noops {
		if missing(n.argv[0]) || n.name == "bash and jq, no-op" && missing("jq") {
			continue
		}
		if err := s.measure(n.name, 0, plain, n.argv...); err != nil {
			return err
		}
	}
	return nil
}

// measure starts a program and wants it to end with a code.
func (s stopwatch) measure(name string, code int, input []byte, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	began := time.Now()
	err := cmd.Run()
	s[name] = append(s[name], time.Since(began))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		return fmt.Errorf("%s ended with %v, want code %d", name, cmd.ProcessState, code)
	}
	return nil
}

func (s stopwatch) print() {
	fmt.Printf("| a hook, from its start to its answer | median | × /bin/true |\n|---|---|---|\n")
	for _, n := range orderOf(s) {
		m := median(s[n])
		fmt.Printf("| %s | %.2f ms | %.1f |\n", n, ms(m), ratio(m, median(s["/bin/true"])))
	}
	fmt.Println()
}

func missing(program string) bool { _, err := exec.LookPath(program); return err != nil }

// orderOf is the order in which things are shown.
func orderOf(times map[string][]time.Duration) []string {
	list := []string{"/bin/true"}
	for _, a := range asked {
		list = append(list, "cordon hook: "+a.name)
	}
	for _, n := range noops {
		list = append(list, n.name)
	}
	return slices.DeleteFunc(list, func(n string) bool { return len(times[n]) == 0 })
}

// corpus is the calls that come with the guard.
const corpus = "internal/guard/testdata/cases.jsonl"

// inProcess measures decisions on the labelled calls, without a process.
func inProcess(s *guard.Scope, rounds int) error {
	f, err := os.Open(corpus)
	if err != nil {
		return fmt.Errorf("%w (run it at the top of the repository)", err)
	}
	defer f.Close()
	var calls []guard.Call
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ Tool, Command string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		calls = append(calls, hook.Typed(c.Tool, c.Command, ""))
	}
	var all []time.Duration
	for range rounds {
		for _, c := range calls {
			began := time.Now()
			guard.Decide(s, c)
			all = append(all, time.Since(began))
		}
	}
	slices.Sort(all)
	fmt.Printf("| a decision in process, %d labelled calls | |\n|---|---|\n", len(calls))
	for _, p := range []int{50, 90, 99} {
		fmt.Printf("| p%d | %.3f ms |\n", p, ms(all[len(all)*p/100]))
	}
	fmt.Println()
	return nil
}

// hostile measures commands that are made to be expensive.
func hostile(s *guard.Scope) {
	fmt.Printf("| made to be expensive | time | answer |\n|---|---|---|\n")
	for _, h := range []struct{ name, command string }{
		{"4 MB of text", "echo " + strings.Repeat("x", 4<<20)},
		{"64 KB of open brackets", strings.Repeat("(", 64<<10)},
		{"60 KB of nested substitutions", strings.Repeat("$(", 30<<10)},
		{"braces, 9 to the power of 9", "ls " + strings.Repeat("{1..9}", 9)},
		{"a value that doubles", "x=aaaaaaaa; while :; do x=$x$x; done"},
		{"a fork bomb", ":(){ :|:& };:"},
		{"4,000 conditions", strings.Repeat("x && y || z;", 4000)},
		{"nested loops", "for a in {1..900}; do for b in {1..900}; do for c in {1..900}; do x; done; done; done"},
		{"evals within evals", "x='eval \"$x\"'; eval \"$x\""},
	} {
		began := time.Now()
		d := guard.Decide(s, guard.Call{Tool: "Bash", Shell: []string{h.command}})
		fmt.Printf("| %s | %.1f ms | %s |\n", h.name, ms(time.Since(began)), d.Verdict)
	}
}
