package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"

	. "cordon/internal/agent"
	"cordon/internal/agent/clients"
)

// The tests here start the real clients, without a cell: what a kit alone makes of
// them.

// wired runs a test with each way to wire a client.
func wired(t *testing.T, n client.Name, test func(s *stage)) {
	for _, managed := range []bool{false, true} {
		t.Run(fmt.Sprintf("managed=%v", managed), func(t *testing.T) {
			s := newStage(t, n)
			if managed && os.Getuid() != 0 {
				t.Skip("only root can show a file at another place")
			}
			s.order.Managed = managed
			test(s)
		})
	}
}

// stage is a worktree and what a launch has, for one real client.
type stage struct {
	t     *testing.T
	dir   string
	order Order
	env   []string
}

// newStage makes a repository with something to obey in it, and something outside.
// The guard notes each call and denies those that say DENYME.
func newStage(t *testing.T, n client.Name) *stage {
	t.Helper()
	bin, err := testmodel.Install()
	if err != nil {
		t.Fatalf("the real clients are not here: %v", err)
	}
	program := filepath.Join(bin, string(n))
	s := &stage{t: t, dir: t.TempDir()}
	s.write("outside/secret", "hidden words")
	s.write("tree/CLAUDE.md", "the words of CLAUDE.md")
	s.write("tree/AGENTS.md", "the words of AGENTS.md")
	s.write("tree/src/a.txt", "hello")
	s.write("guard", "#!/bin/sh\ntee -a '"+s.at("judged")+"' | grep -q DENYME || exit 0\necho 'BLOCKED: the guard says no' >&2\nexit 2\n")
	s.write("rewriter", "#!/bin/sh\ncat >/dev/null\ntouch '"+s.at("outside/rewritten")+"'\n"+
		`echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"echo REWRITTEN"}}}'`+"\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "t"}, {"config", "user.email", "t@example.com"}} {
		if out, err := exec.Command("git", append([]string{"-C", s.at("tree")}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	s.order = Order{
		Client: n, Program: program, Prompt: "--begin", Place: s.at("post"), State: s.at("state"), Tree: s.at("tree"), Home: s.at("home"),
		Guard: []string{s.at("guard")}, Label: "k3v9-q7x2-m4p8-z1", Briefing: "the words of the briefing\n", Root: os.Getuid() == 0,
		Rules: Rules{
			Tree: s.at("tree"), Write: []string{"src", "docs/*.md"}, DenyWrite: []string{"**/.git", "src/{gen,vendor}"},
			DenyRead: []string{s.at("outside/secret")},
		},
	}
	return s
}

func (s *stage) at(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.at(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(s.at(name), []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) read(name string) string {
	b, err := os.ReadFile(s.at(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *stage) exists(name string) bool {
	_, err := os.Lstat(s.at(name))
	return err == nil
}

// launch starts the client with its kit, and returns what it printed.
func (s *stage) launch() string {
	t := s.t
	t.Helper()
	a, err := clients.Of(s.order.Client)
	if err != nil {
		t.Fatal(err)
	}
	k, err := a.Kit(s.order)
	if err != nil {
		t.Fatal(err)
	}
	s.furnish(k)
	argv := k.Argv
	for _, shown := range k.Shown {
		if !strings.HasPrefix(shown.At, "/etc/") {
			continue
		}
		argv = append([]string{"unshare", "-m", "sh", "-ec", showing, "sh", filepath.Join(s.order.Place, shown.Name), shown.At}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.order.Tree
	cmd.Env = append(append([]string{"PATH=" + filepath.Dir(s.order.Program) + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + s.order.Home,
		"PWD=" + s.order.Tree}, k.Env...), s.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", s.order.Client, err, errs.String(), out.String())
	}
	return out.String()
}

// showing puts a file at a place below /etc, for this process and its children.
const showing = `mount -t tmpfs none /mnt; cp -a /etc/. /mnt; mkdir -p "/mnt/$(dirname "${2#/etc/}")"; cp "$1" "/mnt/${2#/etc/}"; mount --bind /mnt /etc; shift 2; exec "$@"`

// furnish writes what a kit has, as a launch does.
func (s *stage) furnish(k Kit) {
	s.forget(".")
	for _, f := range k.Files {
		s.write("post/"+f.Name, string(f.Text))
	}
	s.write("state/.here", "")
	for _, f := range k.Seeds {
		if !s.exists("state/" + f.Name) {
			s.write("state/"+f.Name, string(f.Text))
		}
	}
	for _, l := range k.Links {
		at := s.at("state/" + l.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.RemoveAll(at), os.Symlink(l.To, at)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(s.order.Home, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// forget removes what of the client's state is not kept between launches.
func (s *stage) forget(dir string) {
	s.t.Helper()
	a, err := clients.Of(s.order.Client)
	if err != nil {
		s.t.Fatal(err)
	}
	entries, err := os.ReadDir(s.at(filepath.Join("state", dir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch all, some := a.Keeps(name); {
		case all:
		case some && e.IsDir():
			s.forget(name)
		default:
			if err := os.RemoveAll(s.at(filepath.Join("state", name))); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// trial is one call, and what has to come of it.
type trial struct {
	tool  string
	input map[string]any
	says  string // what the client says of it; "": anything
	makes string // a file that it has to make, below the stage
	never string // a file that must not be there after it
}

// play makes the calls, one in each turn, and compares.
func (s *stage) play(m *testmodel.Model, trials []trial) {
	s.t.Helper()
	results := m.Results()
	if len(results) < len(trials) {
		s.t.Fatalf("%d of %d calls came back: %+v", len(results), len(trials), results)
	}
	for i, tr := range trials {
		got := results[i]
		if !strings.Contains(got.Text, tr.says) {
			s.t.Errorf("%s %v: %q, and not %q", tr.tool, tr.input, got.Text, tr.says)
		}
		if tr.makes != "" && !s.exists(tr.makes) {
			s.t.Errorf("%s %v: it made no %s: %q", tr.tool, tr.input, tr.makes, got.Text)
		}
		if tr.never != "" && s.exists(tr.never) {
			s.t.Errorf("%s %v: %s is there: %q", tr.tool, tr.input, tr.never, got.Text)
		}
	}
}

// script is the trials as what a model says.
func script(trials []trial) testmodel.Script {
	var sc testmodel.Script
	for _, tr := range trials {
		sc.Turns = append(sc.Turns, testmodel.Do(testmodel.Call{Tool: tr.tool, Input: tr.input}))
	}
	sc.Turns = append(sc.Turns, testmodel.Say("finished"))
	return sc
}

// heard checks that the guard was told of the session before any call, and that no
// other hook has run.
func (s *stage) heard() {
	s.t.Helper()
	judged := s.read("judged")
	start, call := strings.Index(judged, `"SessionStart"`), strings.Index(judged, `"PreToolUse"`)
	if start < 0 || call < start {
		s.t.Errorf("the start of the session is not the first that the guard hears of: %.300s", judged)
	}
	if s.exists("outside/rewritten") {
		s.t.Error("a hook that is not cordon's has run")
	}
}

// saw checks that the model was shown texts with its first turn.
func saw(t *testing.T, m *testmodel.Model, texts ...string) {
	t.Helper()
	for _, r := range m.Requests() {
		if r.Turn != 0 {
			continue
		}
		for _, text := range texts {
			if !strings.Contains(string(r.Body), text) {
				t.Errorf("the model is not shown %q", text)
			}
		}
		return
	}
	t.Error("the model was asked nothing")
}

// again goes on with the conversation of the launch before.
func (s *stage) again(point func(*testmodel.Model)) {
	s.t.Helper()
	s.order.Again, s.order.Prompt = true, "and now the rest"
	m := testmodel.New(s.t, testmodel.Script{})
	point(m)
	s.launch()
	for _, r := range m.Requests() {
		if body := string(r.Body); strings.Contains(body, "and now the rest") && strings.Contains(body, "--begin") {
			return
		}
	}
	s.t.Error("the conversation does not go on")
}
