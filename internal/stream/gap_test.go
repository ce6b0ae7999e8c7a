package stream_test

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/client"

	"cordon/internal/agent/clients"
	. "cordon/internal/stream"
)

// What the hooks of a real run were asked covers all that ran in it.
func TestGapOfRecorded(t *testing.T) {
	for _, r := range recordings(t) {
		_, _, s := r.read(1 << 20)
		if gap, _ := Gap(r.client, clients.Stream(r.client), s, r.decided); len(gap) > 0 {
			t.Errorf("%s: %q", r.name, gap)
		}
	}
}

// Without its hooks, everything of the same run that ran is a gap, and nothing else.
func TestGapWithoutHooks(t *testing.T) {
	for name, want := range map[string][]string{
		"claude_work": {
			"Bash  echo one: no hook was asked",
			"Bash  echo two; echo broken >&2; exit 3: no hook was asked",
			"Write  /home/dev/repo/new.txt: no hook was asked",
			"Bash  echo three: no hook was asked",
			"Read  /home/dev/repo/missing.txt: no hook was asked",
			"ToolSearch  select:TodoWrite,TaskCreate: no hook was asked",
			"ListAgents: no hook was asked",
		},
		"claude_sub":    {"Agent  SUBWORK please: no hook was asked", "Bash  echo inside: no hook was asked"},
		"codex_work":    {"Bash: 3 ran and 0 were allowed", "apply_patch: 1 ran and 0 were allowed"},
		"codex_mcp":     {"mcp__fs__touch: 1 ran and 0 were allowed", "mcp__fs__broken: 1 ran and 0 were allowed"},
		"codex_sub":     {"spawn_agent: 1 ran and 0 were allowed", "Bash: 1 ran and 0 were allowed"},
		"codex_web":     nil, // the provider of the model runs it
		"codex_error":   nil,
		"gemini_mcp":    {"mcp_fs_touch: 1 ran and 0 were allowed", "mcp_fs_broken: 1 ran and 0 were allowed"},
		"opencode_mcp":  {"fs_touch  x: no hook was asked", "fs_touch  FORBIDDEN: no hook was asked", "fs_broken: no hook was asked"},
		"copilot_sub":   {"task: 1 ran and 0 were allowed", "bash: 2 ran and 0 were allowed"},
		"copilot_plain": nil,
		"qwen_work": {
			"run_shell_command  echo one: no hook was asked",
			"run_shell_command  echo two; echo broken >&2; exit 3: no hook was asked",
			"run_shell_command  touch /etc/forbidden: no hook was asked",
			"write_file  /home/dev/repo/new.txt: no hook was asked",
			"run_shell_command  echo three: no hook was asked",
		},
		"qwen_sub": {"agent  SUBWORK please: no hook was asked", "run_shell_command  echo inside: no hook was asked",
			"run_shell_command  touch /etc/forbidden: no hook was asked", "run_shell_command  echo after: no hook was asked"}, // a refusal is not marked
		"pi_work": {
			"bash  echo one: no hook was asked",
			"bash  echo two; echo broken >&2; exit 3: no hook was asked",
			"bash  touch /etc/forbidden: no hook was asked",
			"write  new.txt: no hook was asked",
			"bash  echo three: no hook was asked",
			"read  missing.txt: no hook was asked",
		},
		"copilot_background": {"task: 1 ran and 0 were allowed", "bash: 2 ran and 0 were allowed"}, // the client itself calls read_agent
	} {
		r := recording(t, name)
		_, _, s := r.read(1 << 20)
		if gap, _ := Gap(r.client, clients.Stream(r.client), s, nil); !slices.Equal(gap, want) {
			t.Errorf("%s:\n%s", name, strings.Join(gap, "\n"))
		}
	}
}

// One decision that is missing, or that was another, is seen.
func TestGapOfOne(t *testing.T) {
	for _, n := range clients.Names() {
		r := recording(t, string(n)+"_work")
		_, _, s := r.read(1 << 20)
		first := r.decided[0] // echo one
		if gap, _ := Gap(n, clients.Stream(n), s, r.decided[1:]); len(gap) != 1 || !strings.HasPrefix(gap[0], first.Tool) {
			t.Errorf("%s: without the first decision: %q", n, gap)
		}
		other := slices.Clone(r.decided)
		other[0].Allowed = false
		if gap, _ := Gap(n, clients.Stream(n), s, other); len(gap) != 1 || !strings.HasPrefix(gap[0], first.Tool) {
			t.Errorf("%s: with the first call refused: %q", n, gap)
		}
	}
}

// A tool that nobody knows is not harmless for that.
func TestGapOfUnknownTools(t *testing.T) {
	for _, n := range clients.Names() {
		s := Summary{Calls: []Call{{ID: "1", Tool: "frobnicate", Ran: true, Ended: true}}}
		if gap, _ := Gap(n, clients.Stream(n), s, []Decision{{Call: "2", Tool: "other", Allowed: true}, {Call: "1", Tool: "frobnicate"}}); len(gap) != 1 {
			t.Errorf("%s: %q", n, gap)
		}
		if gap, _ := Gap(n, clients.Stream(n), s, []Decision{{Call: "1", Tool: "frobnicate", Allowed: true}}); len(gap) != 0 {
			t.Errorf("%s: %q", n, gap)
		}
	}
}

// A decision is for one call, even if a client uses a name twice.
func TestGapCountsADecisionOnce(t *testing.T) {
	twice := Summary{Calls: []Call{{ID: "1", Tool: "Bash", Ran: true}, {ID: "1", Tool: "Bash", Ran: true}}}
	for _, n := range clients.Names() {
		if gap, _ := Gap(n, clients.Stream(n), twice, []Decision{{Call: "1", Tool: "Bash", Allowed: true}}); len(gap) != 1 {
			t.Errorf("%s: %q", n, gap)
		}
	}
}

// The patch in a shell command of Codex was asked about as a command; a command is
// An answer of a reviewer that a hook was asked about, and that the client did not make, is a gap: something imitates the client.
func TestGapOfVotes(t *testing.T) {
	said := Summary{Calls: []Call{
		{ID: "1", Tool: "Bash", Input: "cordon review approve 'it is right'", Ran: true, Ended: true}, {ID: "tests", Tool: "Bash", Input: "sh tests.sh", Ran: true, Ended: true},
	}}
	tests := Decision{Call: "tests", Tool: "Bash", Allowed: true}
	vote := Decision{Call: "1", Tool: "Bash", Allowed: true, Votes: true}
	for name, c := range map[string]struct {
		decided []Decision
		gaps    int
	}{
		"made":                                   {[]Decision{tests, vote}, 0},
		"asked twice":                            {[]Decision{tests, vote, vote}, 0},
		"another call":                           {[]Decision{tests, vote, {Call: "2", Tool: "Bash", Allowed: true, Votes: true}}, 1},
		"without a name":                         {[]Decision{tests, vote, {Tool: "Bash", Allowed: true, Votes: true}}, 1},
		"refused":                                {[]Decision{tests, vote, {Call: "2", Tool: "Bash", Votes: true}}, 0},
		"no answer at all":                       {[]Decision{tests, vote, {Call: "2", Tool: "Bash", Allowed: true}}, 0},
		"with the name of the call that runs it": {[]Decision{tests, vote, {Call: "tests", Tool: "Bash", Allowed: true, Votes: true}}, 1},
	} {
		if gap, _ := Gap("claude", clients.Stream("claude"), said, c.decided); len(gap) != c.gaps {
			t.Errorf("%s: %q", name, gap)
		}
	}
}

// not covered by a patch.
func TestGapOfPatches(t *testing.T) {
	patch, bash := Call{Tool: "apply_patch", Ran: true}, Call{Tool: "Bash", Ran: true}
	for _, c := range []struct {
		calls []Call
		tools []string
		gaps  int
	}{
		{[]Call{patch}, []string{"Bash"}, 0},
		{[]Call{patch, bash}, []string{"Bash"}, 1},
		{[]Call{patch, bash}, []string{"Bash", "Bash"}, 0},
		{[]Call{patch, bash}, []string{"Bash", "apply_patch"}, 0},
		{[]Call{bash}, []string{"apply_patch"}, 1},
		{[]Call{{Tool: "wait", Ran: true}}, []string{"multi_agent_v1wait_agent"}, 0},
		{[]Call{{Tool: "close_agent", Ran: true}}, []string{"multi_agent_v1close_agent"}, 0},
		{[]Call{{Tool: "close_agent", Ran: true}}, []string{"multi_agent_v1wait_agent"}, 1},
	} {
		var decided []Decision
		for _, tool := range c.tools {
			decided = append(decided, Decision{Tool: tool, Allowed: true})
		}
		if gap, _ := Gap("codex", clients.Stream("codex"), Summary{Calls: c.calls}, decided); len(gap) != c.gaps {
			t.Errorf("%v with %v: %q", c.calls, c.tools, gap)
		}
	}
}

// A call that a client makes by itself needs no decision. Nobody else's is taken for one: not of
// another tool, not one with a model behind it, and not one that takes the ID of another.
func TestGapOfOwnCalls(t *testing.T) {
	const own = `{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"read_agent","arguments":{}}}`
	const done = `{"type":"tool.execution_complete","data":{"toolCallId":"1","success":true}}`
	for _, c := range []struct {
		name  string
		lines []string
		gap   string
	}{
		{"its own", []string{own, done}, ""},
		{"of another tool", []string{strings.ReplaceAll(own, "read_agent", "bash"), done}, "bash: 1 ran"},
		{"of a model", []string{strings.ReplaceAll(own, `"arguments"`, `"turnId":"1","arguments"`), done}, "read_agent: 1 ran"},
		{"of a sub-agent", []string{strings.ReplaceAll(own, `"arguments"`, `"parentToolCallId":"9","arguments"`), done}, "read_agent: 1 ran"},
		{"over another", []string{`{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","turnId":"0","model":"m"}}`, own, done}, "bash: 1 ran"},
		{"over another, of a tool without hooks", []string{`{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","turnId":"0","model":"m"}}`,
			strings.ReplaceAll(own, "read_agent", "read_bash"), done}, "bash: 1 ran"},
		{"under another", []string{own, `{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","turnId":"0","model":"m"}}`, done}, "bash: 1 ran"},
	} {
		w := NewWriter(clients.Stream("copilot"), nil, nil)
		for _, l := range c.lines {
			w.Write([]byte(l + "\n"))
		}
		w.Close()
		gap, _ := Gap("copilot", clients.Stream("copilot"), w.Summary(), nil)
		if got := strings.Join(gap, "; "); (c.gap == "") != (got == "") || !strings.HasPrefix(got, c.gap) {
			t.Errorf("%s: %q, want %q", c.name, got, c.gap)
		}
	}
}

// What could not be compared is said.
func TestGapSaysWhy(t *testing.T) {
	for _, c := range []struct {
		client client.Name
		s      Summary
		why    string
	}{
		{"claude", Summary{Calls: []Call{{Tool: "Bash"}}, Unknown: 2}, "1 call had not ended; 2 lines of the stream were not understood"},
		{"opencode", Summary{Calls: []Call{{ID: "1", Tool: "task", Ended: true}}}, "sub-agents"},
		{"gemini", Summary{Calls: []Call{{Tool: "glob", Ended: true}}}, "counted by tool"},
		{"cursor", Summary{}, "not understood"},
	} {
		if _, why := Gap(c.client, clients.Stream(c.client), c.s, nil); !strings.Contains(why, c.why) {
			t.Errorf("%s: %q", c.client, why)
		}
	}
	if _, why := Gap("claude", clients.Stream("claude"), Summary{Calls: []Call{{Tool: "Bash", Ended: true}}}, nil); why != "" {
		t.Error(why)
	}
}
