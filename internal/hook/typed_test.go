package hook

import (
	"testing"

	"cordon/internal/guard"
)

// What a person is told about a tool is what its client would be told.
func TestTypedAgreesWithTheHook(t *testing.T) {
	w, err := guard.ReadWarrant(warrant(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	scope, err := w.Scope(now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, text string
		input      map[string]any // what Claude would send; nil for the tools of others
		want       guard.Verdict
	}{
		{"Bash", "ls", map[string]any{"command": "ls"}, guard.Allow},
		{"Bash", "touch /w/repo/x", map[string]any{"command": "touch /w/repo/x"}, guard.Deny},
		{"Read", "/w/tree/x", map[string]any{"file_path": "/w/tree/x"}, guard.Allow},
		{"Read", "/usr/x", map[string]any{"file_path": "/usr/x"}, guard.Allow},
		{"Write", "/usr/x", map[string]any{"file_path": "/usr/x"}, guard.Deny},
		{"Write", "", map[string]any{"file_path": ""}, guard.Deny},
		{"NotebookRead", "/usr/x", map[string]any{"notebook_path": "/usr/x"}, guard.Allow},
		{"Grep", "/w/repo", map[string]any{"path": "/w/repo", "pattern": "x"}, guard.Deny},
		{"SendMessage", "hello", map[string]any{"message": "hello"}, guard.Deny},
		{"CronCreate", "do it", map[string]any{"prompt": "do it"}, guard.Ask},
		{"CronDelete", "1", map[string]any{"id": "1"}, guard.Ask},
		{"EnterWorktree", "x", map[string]any{"path": "x"}, guard.Deny},
		{"ExitWorktree", "", map[string]any{"action": "keep"}, guard.Deny},
		{"TodoWrite", "/w/repo/x", map[string]any{"todos": "/w/repo/x"}, guard.Allow},
		{"Agent", "read /w/repo", map[string]any{"prompt": "read /w/repo"}, guard.Allow},
		{"mcp__fs__read_file", "/usr/x", map[string]any{"path": "/usr/x"}, guard.Allow},
		{"mcp__fs__write_file", "/usr/x", map[string]any{"path": "/usr/x"}, guard.Deny},
		{"mcp__sh__run", "touch /usr/x", map[string]any{"command": "touch /usr/x"}, guard.Deny},

		{"powershell", "ls", nil, guard.Ask},
		{"write_stdin", "ls", nil, guard.Deny},
		{"write_stdin", "", nil, guard.Allow},
		{"run_shell_command", "touch /usr/x", nil, guard.Deny},
		{"run_shell_command", "ls", nil, guard.Allow},
		{"apply_patch", "src/x", nil, guard.Allow},
		{"apply_patch", "../repo/x", nil, guard.Deny},
		{"apply_patch", "*** Begin Patch\n*** Delete File: ../repo/x\n", nil, guard.Deny},
		{"bash", "touch /usr/x", nil, guard.Deny},
		{"BASH", "touch /usr/x", nil, guard.Deny},
		{"notebookedit", "/usr/x", nil, guard.Deny},
		{"Unheard", "/usr/x", nil, guard.Deny},
		{"Unheard", "x", nil, guard.Allow},
		{"Terminal", "cd .. && ls", nil, guard.Deny},
		{"", "x", nil, guard.Deny},
	} {
		if d := guard.Decide(scope, Typed(c.tool, c.text, "")); d.Verdict != c.want {
			t.Errorf("%s %q is typed: %s, want %s: %s", c.tool, c.text, d.Verdict, c.want, d.Reason)
		}
		if c.input == nil {
			continue
		}
		if r := ask(t, claude(c.tool, c.input)); r.Record.Verdict != c.want {
			t.Errorf("%s %v is asked about: %s, want %s: %s", c.tool, c.input, r.Record.Verdict, c.want, r.Record.Reason)
		}
	}
}
