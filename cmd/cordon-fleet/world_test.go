package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nkeys"

	"cordon/internal/journal"
	"cordon/internal/testfleet"
	"cordon/internal/testground"
	"cordon/internal/testschema"
	"cordon/internal/testwait"
	"cordon/internal/view"
)

// asProgram makes this test program cordon-fleet.
const asProgram = "CORDON_TEST_PROGRAM"

func TestMain(m *testing.M) {
	testfleet.ServeIfAsked()
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "cordon-fleet-")
	if err != nil {
		panic(err)
	}
	programs = dir
	code := testground.Run("cmd/cordon-fleet", m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// programs is a directory that gets the program cordon, which nodes run stages with.
var programs string

// buildCordon builds it once, unless the environment names one.
var buildCordon = sync.OnceValue(func() error {
	at := filepath.Join(programs, "cordon")
	if made := os.Getenv("CORDON_ESCAPE_PROGRAM"); made != "" {
		return os.Symlink(made, at)
	}
	out, err := exec.Command("go", "build", "-o", at, "cordon/cmd/cordon").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// machine is a directory of its own for the state of a home or of a node.
type machine struct {
	t   *testing.T
	dir string
	in  string   // working directory
	net string   // file of its network namespace; "": that of the test
	env []string // more variables of its user's
}

// newHome is a machine with a repository.
func newHome(t *testing.T, env ...string) machine {
	m := newMachine(t)
	m.env = env
	m.in = filepath.Join(m.dir, "repo")
	showing(t, m.show)
	cmd := exec.Command("git", "init", "-q", m.in)
	cmd.Env = m.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return m
}

func newMachine(t *testing.T) machine {
	if err := buildCordon(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := machine{t: t, dir: dir, in: dir}
	showing(t, m.show)
	return m
}

func (m machine) environ() []string {
	return slices.Concat(os.Environ(), []string{asProgram + "=1"}, m.own(), m.env)
}

// own are the variables that make a user that of the machine.
func (m machine) own() []string {
	return []string{"HOME=" + m.dir, "XDG_STATE_HOME=" + filepath.Join(m.dir, "state"), "XDG_DATA_HOME=" + filepath.Join(m.dir, "data"),
		"PATH=" + programs + ":" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}
}

// program is a program on the machine.
func (m machine) program(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	if m.net != "" {
		cmd = exec.Command("nsenter", append([]string{"--net=" + m.net, "--", path}, args...)...)
	}
	cmd.Env, cmd.Dir = m.environ(), m.in
	return cmd
}

// command is cordon-fleet on the machine.
func (m machine) command(args ...string) *exec.Cmd {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	return m.program(self, args...)
}

// run runs a command to its end, and returns what it prints.
func (m machine) run(args ...string) string {
	m.t.Helper()
	out, said, err := m.try("", args...)
	if err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, said)
	}
	return out
}

// try runs a command that may fail.
func (m machine) try(input string, args ...string) (out, said string, err error) {
	m.t.Helper()
	cmd := m.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// nodes are the nodes as ls --all --json prints them, by name.
func (m machine) nodes() map[string]view.FleetNode {
	m.t.Helper()
	text := m.run("ls", "--all", "--json")
	schemas, err := testschema.Load("../../docs/schema")
	if err == nil {
		err = schemas.Validate([]byte(text))
	}
	var f view.Fleet
	if err == nil {
		err = json.Unmarshal([]byte(text), &f)
	}
	if err != nil {
		m.t.Fatalf("%v\n%s", err, text)
	}
	byName := map[string]view.FleetNode{}
	for _, n := range f.Nodes {
		byName[n.Name] = n
	}
	return byName
}

// token is the one of a new join line.
func (m machine) token() string {
	m.t.Helper()
	words := strings.Fields(m.run("join"))
	if len(words) != 4 || strings.Join(words[:3], " ") != "cordon fleet node" {
		m.t.Fatalf("join printed %q", words)
	}
	return words[3]
}

// file is the one file of the machine's state with a name.
func (m machine) file(pattern string) string {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.dir, "state", "cordon", pattern))
	if err != nil || len(found) != 1 {
		m.t.Fatalf("%s is %v, %v", pattern, found, err)
	}
	fi, err := os.Stat(found[0])
	if err != nil || fi.Mode().Perm() != 0o600 {
		m.t.Errorf("%s: %v, %v", found[0], fi.Mode(), err)
	}
	return found[0]
}

// journal is the verified journal of the machine's only repository.
func (m machine) journal() ([]journal.Event, error) {
	found, err := filepath.Glob(filepath.Join(m.dir, "state", "cordon", "*", "journal*"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("the journal is %v: %w", found, err)
	}
	log, err := journal.Open(filepath.Dir(found[0]))
	if err != nil {
		return nil, err
	}
	return log.Events()
}

func (m machine) key(pattern string) nkeys.KeyPair {
	m.t.Helper()
	seed, err := os.ReadFile(m.file(pattern))
	if err != nil {
		m.t.Fatal(err)
	}
	k, err := nkeys.FromSeed(seed)
	if err != nil {
		m.t.Fatal(err)
	}
	return k
}

// process is a command that goes on, and what it has printed.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	mu   sync.Mutex
	said []string
	done chan struct{} // closed when it has ended
}

// start starts a command that goes on.
func (m machine) start(input string, args ...string) *process {
	m.t.Helper()
	return m.follow(input, m.command(args...))
}

// follow starts a program that goes on.
func (m machine) follow(input string, cmd *exec.Cmd) *process {
	m.t.Helper()
	p := &process{t: m.t, cmd: cmd, done: make(chan struct{})}
	r, w := io.Pipe()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = strings.NewReader(input), w, w
	if err := p.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		w.Close()
	}()
	go p.read(r)
	m.t.Cleanup(p.kill)
	showing(m.t, func() string {
		return fmt.Sprintf("--- %s, ended: %v\n%s", strings.Join(cmd.Args, " "), p.over(), p.tail())
	})
	return p
}

func (p *process) read(from io.Reader) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		p.mu.Lock()
		p.said = append(p.said, lines.Text())
		p.mu.Unlock()
	}
	close(p.done)
}

// await waits for a line that holds a text, and returns it.
func (p *process) await(text string) string {
	p.t.Helper()
	var line, all string
	testwait.Until(p.t, fmt.Sprintf("it says %q", text), func() bool {
		over := p.over() // before the look: it may say it, and end
		p.mu.Lock()
		defer p.mu.Unlock()
		if i := slices.IndexFunc(p.said, func(line string) bool { return strings.Contains(line, text) }); i >= 0 {
			line, p.said = p.said[i], p.said[i+1:]
			return true
		}
		if all = strings.Join(p.said, "\n"); over {
			p.t.Fatalf("it ended without %q:\n%s", text, all)
		}
		return false
	}, func() string { return all }, evidence(p.t))
	return line
}

// over reports whether the process has ended.
func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// tail is the end of what a process has said.
func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said[max(0, len(p.said)-30):], "\n")
}

// ends waits until the process has ended, and returns its code.
func (p *process) ends() int {
	p.t.Helper()
	testwait.Until(p.t, strings.Join(p.cmd.Args, " ")+" has ended", p.over, p.tail, evidence(p.t))
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
