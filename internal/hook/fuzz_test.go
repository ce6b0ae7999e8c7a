package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
)

// FuzzDecide: whatever a client sends, and whatever the warrant is, the answer is
// one that every client obeys. Code 0 with nothing said is the only permission,
// and it is never an accident: an input that is no JSON is refused.
func FuzzDecide(f *testing.F) {
	for _, input := range []string{
		"", "{}", "null", "[]", "0", "\"x\"", "{", "\xff", `{"hook_event_name":"PreToolUse"}`,
		`{"session_id":"s","cwd":"/w/tree","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		`{"session_id":"s","cwd":"/w/tree","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cd .. && cat /etc/shadow > ../x"}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"../x","content":"x"}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":["a",{"b":null}]}}`,
		`{"hook_event_name":"PreToolUse","tool_name":null,"tool_input":null}`,
		`{"tool_name":"Bash","tool_name":"Read","tool_input":{"command":"rm -rf ~"}}`,
		`{"toolName":"bash","toolArgs":"{\"command\":\"rm -rf ~\"}"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"rm -rf ~"}}`,
		`{"tool":"bash","args":{"command":"rm -rf ~"}}`,
		`{"hook_event_name":"SessionStart"}`, `{"hook_event_name":"Stop","x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		for _, client := range []string{"claude", "codex", "gemini", "copilot", "opencode", "qwen", "pi", "", "other"} {
			f.Add(client, []byte(input), []byte(nil), true)
		}
	}
	ours := warrant(f, nil)
	f.Fuzz(func(t *testing.T, name string, input, other []byte, interactive bool) {
		given := ours
		if len(other) > 0 {
			given = other
		}
		r := Decide(Question{Client: name, Warrant: given, Input: input, Now: now, Interactive: interactive})
		a := r.Answer
		switch a.Exit {
		case 0:
			obeyed(t, name, input, a.Stdout, interactive)
			if len(other) > 0 && !bytes.Equal(other, ours) && !valid(other) {
				t.Fatalf("%q is allowed by a warrant that is none: %q", input, other)
			}
		case 2:
			if !refuses(name, a) {
				t.Fatalf("a refusal that is none: stdout %q, stderr %q", a.Stdout, a.Stderr)
			}
		default:
			t.Fatalf("code %d", a.Exit)
		}
		if a.Exit == 2 && r.Record.Verdict == "allow" || r.Record.Verdict == "" {
			t.Fatalf("code %d is recorded as %q", a.Exit, r.Record.Verdict)
		}
		if strings.Contains(r.Record.Reason, "the guard failed") || strings.Contains(r.Record.Reason, "runtime error") {
			t.Fatalf("a panic: %s", r.Record.Reason)
		}
	})
}

// obeyed checks an answer that does not refuse: it says nothing, or a word in
// JSON that is no permission either.
func obeyed(t *testing.T, client string, input, stdout []byte, interactive bool) {
	t.Helper()
	if !json.Valid(input) {
		t.Fatalf("%q is no JSON, and is not refused", input)
	}
	if len(stdout) == 0 {
		return
	}
	var said struct {
		Output struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(stdout, &said); err != nil || client != "claude" {
		t.Fatalf("%s is told %q: %v", client, stdout, err)
	}
	if d := said.Output.Decision; d != "" && (d != "ask" || !interactive) {
		t.Fatalf("the answer decides %q", d)
	}
}

// valid reports whether a text may be a warrant that the fuzzer made from ours.
func valid(b []byte) bool { return bytes.Contains(b, []byte("cordon.warrant/1")) }

// refuses asks the client of the name, or one that is not known.
func refuses(name string, a client.Answer) bool {
	known, err := clients.Of(client.Name(name))
	if err != nil {
		return (&client.Dialect{}).Refuses(a)
	}
	return known.Dialect.Refuses(a)
}
