package hook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func warrant(t testing.TB, change func(*guard.Warrant)) []byte {
	t.Helper()
	return warrantOf(t, policy.Default(), change)
}

// warrantOf is a warrant for a lease with a policy.
func warrantOf(t testing.TB, p policy.Policy, change func(*guard.Warrant)) []byte {
	t.Helper()
	s, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brave-otter", Branch: "cordon/brave-otter", Base: git.OID(strings.Repeat("1", 40)), Target: "refs/heads/main",
			Created: now.Add(-time.Hour), Expires: now.Add(time.Hour), Executed: []string{}, Source: "test", Policy: p,
		},
		Place: lease.Place{Worktree: "/w/tree", Home: "/home/agent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := guard.NewWarrant(s)
	w.Hosts, w.State, w.Private, w.Confined, w.Journal = []string{"/w/repo"}, "/state", true, true, "/state/x"
	if change != nil {
		change(&w)
	}
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func claude(tool string, input map[string]any) []byte {
	b, err := json.Marshal(map[string]any{"session_id": "s", "cwd": "/w/tree", "hook_event_name": "PreToolUse", "tool_name": tool,
		"tool_input": input, "tool_use_id": "t"})
	if err != nil {
		panic(err)
	}
	return b
}

func ask(t testing.TB, input []byte) Reply {
	t.Helper()
	return Decide(Question{Client: "claude", Warrant: warrant(t, nil), Input: input, Now: now})
}

// What a client's tools do is judged whatever they are called.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		tool  string
		input map[string]any
		code  int
	}{
		{"Bash", map[string]any{"command": "git status"}, 0},
		{"Bash", map[string]any{"command": "touch /w/repo/x"}, 2},
		{"Monitor", map[string]any{"command": "touch /w/repo/x"}, 2},
		{"Read", map[string]any{"file_path": "/w/tree/x"}, 0},
		{"Read", map[string]any{"file_path": "/w/repo/x"}, 2},
		{"Edit", map[string]any{"file_path": "/w/tree/x", "old_string": "/w/repo", "new_string": "y"}, 0},
		{"Write", map[string]any{"file_path": "/w/tree/.claude/settings.json", "content": "{}"}, 2},
		{"Write", map[string]any{"file_path": "/w/tree/../repo/x", "content": "x"}, 2},
		{"NotebookEdit", map[string]any{"notebook_path": "/w/repo/x.ipynb", "new_source": "x"}, 2},
		{"Grep", map[string]any{"pattern": "/w/repo", "path": "/w/tree"}, 0},
		{"Grep", map[string]any{"pattern": "x", "path": "/w/repo"}, 2},
		{"EnterWorktree", map[string]any{"name": "x"}, 2},
		{"WebFetch", map[string]any{"url": "https://example.com", "prompt": "x"}, 0}, // the cell's network decides
		{"WebSearch", map[string]any{"query": "x"}, 2},
		{"Agent", map[string]any{"description": "x", "prompt": "read /w/repo", "subagent_type": "x"}, 0},
		{"Agent", map[string]any{"description": "x", "prompt": "x", "isolation": "worktree"}, 2},
		{"TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "touch /w/repo/x", "status": "pending"}}}, 0},
		{"mcp__fs__write_file", map[string]any{"path": "/w/repo/x", "content": "y"}, 2},
		{"mcp__fs__read_file", map[string]any{"path": "/w/tree/x"}, 0},
		{"Unheard", map[string]any{"target": "/home/agent/.bashrc"}, 2},
		{"Terminal", map[string]any{"input": "rm -rf /w/repo"}, 2},
		{"Execute", map[string]any{"line": "cd ~ && rm -rf x"}, 2},
		{"mcp__sh__run", map[string]any{"text": "rm -rf x"}, 2},
		{"mcp__sh__run", map[string]any{"command": "rm -rf x"}, 0},
		{"mcp__fs__delete", map[string]any{"pattern": "/w/repo/**"}, 2},
		{"mcp__fs__delete", map[string]any{"pattern": "/w/tree/**"}, 0},
		{"mcp__fs__write", map[string]any{"data": "/w/repo/x"}, 2},
		{"mcp__fs__write", map[string]any{"path": "x", "data": "/w/repo/x"}, 0},
		{"B\u0430sh", map[string]any{"c\u043emmand": "rm -rf /w/repo"}, 2},
	} {
		r := ask(t, claude(c.tool, c.input))
		if r.Answer.Exit != c.code {
			t.Errorf("%s %v: exit %d, want %d: %s", c.tool, c.input, r.Answer.Exit, c.code, r.Answer.Stderr)
		}
		if c.code == 2 && (!refuses("claude", r.Answer) || !strings.HasPrefix(string(r.Answer.Stderr), "BLOCKED: ")) {
			t.Errorf("%s: stdout %q, stderr %q", c.tool, r.Answer.Stdout, r.Answer.Stderr)
		}
		if r.Journal != "/state/x" || r.Record.Tool != c.tool || r.Record.Call != "t" || (r.Record.Verdict == guard.Allow) != (c.code == 0) {
			t.Errorf("%s: recorded %+v", c.tool, r.Record)
		}
	}
}

// A search at the maker's servers is refused with the name of the setting that allows it.
func TestMakersWeb(t *testing.T) {
	input := claude("WebSearch", map[string]any{"query": "x"})
	if r := ask(t, input); !strings.Contains(string(r.Answer.Stderr), "past the network of your lease, and the policy does not say agent.web: true") {
		t.Errorf("%s", r.Answer.Stderr)
	}
	p := policy.Default()
	p.Agent.Web = true
	r := Decide(Question{Client: "claude", Warrant: warrantOf(t, p, nil), Input: input, Now: now})
	if r.Record.Verdict != guard.Allow {
		t.Errorf("with agent.web: %+v", r.Record)
	}
}

// Every failure is a denial, with a text.
func TestFailures(t *testing.T) {
	good := claude("Bash", map[string]any{"command": "ls"})
	for name, q := range map[string]Question{
		"no client":       {Warrant: warrant(t, nil), Input: good, Now: now},
		"unknown client":  {Client: "nobody", Warrant: warrant(t, nil), Input: good, Now: now},
		"no warrant":      {Client: "claude", Input: good, Now: now},
		"two warrants":    {Client: "claude", Warrant: append(warrant(t, nil), warrant(t, nil)...), Input: good, Now: now},
		"another schema":  {Client: "claude", Warrant: warrant(t, func(w *guard.Warrant) { w.Schema = "x" }), Input: good, Now: now},
		"another hash":    {Client: "claude", Warrant: warrant(t, func(w *guard.Warrant) { w.Hash = strings.Repeat("0", 64) }), Input: good, Now: now},
		"a relative host": {Client: "claude", Warrant: warrant(t, func(w *guard.Warrant) { w.Hosts = []string{"x"} }), Input: good, Now: now},
		"the root a host": {Client: "claude", Warrant: warrant(t, func(w *guard.Warrant) { w.Hosts = []string{"/"} }), Input: good, Now: now},
		"no state":        {Client: "claude", Warrant: warrant(t, func(w *guard.Warrant) { w.State = "" }), Input: good, Now: now},
		"not begun":       {Client: "claude", Warrant: warrant(t, nil), Input: good, Now: now.Add(-2 * time.Hour)},
		"expired":         {Client: "claude", Warrant: warrant(t, nil), Input: good, Now: now.Add(2 * time.Hour)},
		"no input":        {Client: "claude", Warrant: warrant(t, nil), Now: now},
		"half an input":   {Client: "claude", Warrant: warrant(t, nil), Input: good[:20], Now: now},
		"two inputs":      {Client: "claude", Warrant: warrant(t, nil), Input: append(append([]byte{}, good...), good...), Now: now},
		"too much input":  {Client: "claude", Warrant: warrant(t, nil), Input: claude("Bash", map[string]any{"command": strings.Repeat("x", 2<<20)}), Now: now},
		"marks":           {Client: "claude", Warrant: warrant(t, nil), Input: claude("Bash", map[string]any{"command": "rm -rf \U0010FF02"}), Now: now},
	} {
		r := Decide(q)
		if r.Answer.Exit != 2 || !refuses(q.Client, r.Answer) || !strings.HasPrefix(string(r.Answer.Stderr), "BLOCKED: ") || r.Record.Verdict != guard.Deny {
			t.Errorf("%s: %d %q %q %s", name, r.Answer.Exit, r.Answer.Stdout, r.Answer.Stderr, r.Record.Verdict)
		}
	}
	if r := Decide(Question{Client: "claude", Warrant: warrant(t, nil), Input: good, Now: now}); r.Answer.Exit != 0 {
		t.Errorf("the control is refused: %s", r.Answer.Stderr)
	}
}

// What a client reports without asking is recorded, and is no call.
func TestEvents(t *testing.T) {
	r := ask(t, []byte(`{"session_id":"s","cwd":"/w/tree","hook_event_name":"SessionStart","source":"startup"}`))
	if r.Answer.Exit != 0 || r.Record.Event != "session-start" || r.Record.Tool != "" || r.Record.Verdict != guard.Allow || r.Journal == "" {
		t.Errorf("%+v", r)
	}
	if r := ask(t, claude("Bash", map[string]any{"command": "ls"})); r.Record.Event != "" || r.Record.Tool != "Bash" {
		t.Errorf("a call: %+v", r.Record)
	}
}

// The operator hears of what is broken; an agent of what it has got wrong itself.
func TestWhoIsTold(t *testing.T) {
	for _, c := range []struct {
		input []byte
		slip  bool
		says  string
	}{
		{claude("Write", map[string]any{"content": "x"}), true, "BLOCKED: Write names no file\n"},
		{claude("Bash", map[string]any{"command": []string{"ls"}}), true, "BLOCKED: Bash: \"command\" is not text\n"},
		{claude("Bash", map[string]any{"command": strings.Repeat("x", 2<<20)}), true, "too long to be judged\n"},
		{[]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`), false, "is no directory to start from\n"},
		{[]byte(`{`), false, "BLOCKED: the call could not be judged: what claude says is not understood: it is not JSON\n"},
	} {
		r := ask(t, c.input)
		said := string(r.Answer.Stderr)
		if r.Answer.Exit != 2 || !strings.Contains(said, c.says) || strings.Contains(said, "repeat the call with") != c.slip || strings.Contains(said,
			"tell the operator") == c.slip {
			t.Errorf("%.80s: %s", c.input, said)
		}
		if c.slip && !strings.Contains(said, "too long") && r.Record.Tool == "" {
			t.Errorf("recorded without its tool: %+v", r.Record)
		}
	}
}

// What goes wrong before the call is looked at is recorded where the warrant says.
func TestRefuse(t *testing.T) {
	for name, row := range map[string]struct {
		warrant []byte
		journal string
	}{"a warrant": {warrant(t, nil), "/state/x"}, "none": {nil, ""}, "one with a relative journal": {warrant(t, func(w *guard.Warrant) { w.Journal = "x" }), ""}} {
		r := Refuse(Question{Client: "claude", Warrant: row.warrant, Now: now}, errors.New("it took too long"))
		if r.Journal != row.journal || r.Answer.Exit != 2 || !strings.Contains(string(r.Answer.Stderr), "it took too long") ||
			r.Record.Verdict != guard.Deny || r.Record.Reason != "it took too long" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := Decide(Question{Client: "nobody", Warrant: warrant(t, nil), Now: now}); r.Journal != "/state/x" || r.Record.Client != "nobody" {
		t.Errorf("an unknown client: %+v", r)
	}
}

// The mode warn lets a call run and tells.
func TestWarn(t *testing.T) {
	p := policy.Default()
	p.Guard.Mode = policy.GuardWarn
	s, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: "brave-otter", Branch: "b", Base: git.OID(strings.Repeat("1", 40)), Target: "refs/heads/main",
			Created: now.Add(-time.Hour), Expires: now.Add(time.Hour), Executed: []string{}, Source: "test", Policy: p,
		},
		Place: lease.Place{Worktree: "/w/tree", Home: "/home/agent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := guard.NewWarrant(s)
	w.State = "/state"
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	r := Decide(Question{Client: "claude", Warrant: b, Input: claude("Bash", map[string]any{"command": "touch /home/agent/x"}), Now: now})
	if r.Answer.Exit != 0 || !strings.Contains(string(r.Answer.Stdout), "WARNING: ") || !r.Record.Warned {
		t.Errorf("%d %s %+v", r.Answer.Exit, r.Answer.Stdout, r.Record)
	}
}
