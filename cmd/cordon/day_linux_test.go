package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/view"
)

// dayClient stands in the place of Claude Code: it asks the guard about every call of a day, as the client does
// before each, and runs none of them.
const dayClient = `#!/bin/sh
case $1 in --version) echo 2.1.325; exit ;; esac
session=3f2c1d04-0000-4000-8000-000000000001
hook() { cordon hook --client claude --lease $CORDON_POST/warrant.json; }
printf '{"hook_event_name":"SessionStart","session_id":"%s","cwd":"%s"}' $session "$PWD" | hook || exit 1
echo '{"type":"system","subtype":"init","session_id":"'$session'","model":"m","tools":[]}'
sed "s|@TREE@|$PWD|g; s|@SESSION@|$session|" calls.jsonl | while IFS= read -r call; do printf '%s' "$call" | hook >/dev/null 2>&1; done
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"'$session'","num_turns":1}'
`

// A day's work under cordon, through the hook and in the cell of a real worker: what is refused or asked about is
// what a person decided about, with a reason, in the guard's corpus, and nothing else.
func TestDay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	calls, expected := dayCalls(t)
	s.write("repo/calls.jsonl", calls)
	s.git("add", ".")
	s.git("commit", "-q", "-m", "calls")
	program := s.write("home/bin/claude", dayClient)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	s.cordon([]int{0}, "run", "claude", "--", "a day's work")
	var shown view.Decisions
	s.parse(s.cordon([]int{0}, "logs", "--guard", "--json", s.only().Worker).out, &shown)
	decided := map[string]view.Decision{}
	for _, d := range shown.Decisions {
		if d.Event == "" {
			decided[d.Call] = d
		}
	}
	if len(decided) != len(expected) {
		t.Errorf("%d calls were judged, want %d", len(decided), len(expected))
	}
	for _, id := range slices.Sorted(maps.Keys(expected)) {
		if d := decided[id]; (d.Verdict != "allow") != (expected[id] != "allow") {
			t.Errorf("%s: %s, decided was %s\n  %s\n  %s", id, d.Verdict, expected[id], d.Input, d.Reason)
		}
	}
}

// dayCalls are the calls of the guard's corpus as hook events, and what was decided about each.
func dayCalls(t *testing.T) (events string, expected map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../internal/guard/testdata/day.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	expected = map[string]string{}
	for line := range bytes.Lines(text) {
		var c struct{ ID, Tool, Command, Cwd, Expect string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Tool != "Bash" {
			t.Fatalf("%s: the input of %s is not known here", c.ID, c.Tool)
		}
		event, err := json.Marshal(input{"hook_event_name": "PreToolUse", "session_id": "@SESSION@", "cwd": c.Cwd, "tool_name": c.Tool,
			"tool_use_id": c.ID, "tool_input": input{"command": c.Command}})
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(strings.ReplaceAll(string(event), "/w/repo/.worktrees/s1", "@TREE@") + "\n")
		expected[c.ID] = c.Expect
	}
	return b.String(), expected
}
