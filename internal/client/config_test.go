package client_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/agent/clients"
	. "cordon/internal/client"
)

var update = flag.Bool("update", false, "write the golden files")

func wiring(n Name) Wiring {
	return Wiring{Client: of(n), Binary: "/opt/it's here/cordon", Lease: "/state/lease.json", Label: "k3v9-q7x2-m4p8-z1", Plugin: "/state/a b.js"}
}

// operators are hooks that every client has words for.
func operators(t *testing.T, n Name) Hooks {
	matcher := `"matcher":"Bash|Edit",`
	if n == Copilot {
		matcher = ""
	}
	h, err := ParseHooks([]byte(`{"hooks":{"PreToolUse":[{` + matcher + `"hooks":[{"type":"command","command":"log \"$HOME\" # all","timeout":5},
		{"type":"command","command":"/opt/check","args":["a b"],"onFailure":"block"}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestConfig compares what is rendered with what was looked at by a person.
func TestConfig(t *testing.T) {
	for _, n := range clients.Names() {
		for _, with := range []string{"alone", "merged"} {
			wires := wiring(n)
			if with == "merged" {
				wires.Extra = operators(t, n)
			}
			got, err := Config(wires)
			if err != nil {
				t.Errorf("%s: %v", n, err)
				continue
			}
			if n != Codex && !json.Valid(got) {
				t.Errorf("%s: not JSON: %s", n, got)
			}
			golden(t, string(n)+"_"+with+".golden", got)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, append(bytes.TrimSuffix(got, []byte("\n")), '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(want)) {
		t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
	}
}

// TestConfigRefuses lists what must not be lost in silence.
func TestConfigRefuses(t *testing.T) {
	change := func(n Name, f func(*Wiring)) Wiring { w := wiring(n); f(&w); return w }
	hook := func(event, matcher string, h Handler) func(*Wiring) {
		return func(w *Wiring) { w.Extra = Hooks{{event, matcher, []Handler{h}}} }
	}
	for what, w := range map[string]Wiring{
		"no client":                  {Binary: "/x", Lease: "/y"},
		"a relative binary":          change(Claude, func(w *Wiring) { w.Binary = "cordon" }),
		"no lease":                   change(Claude, func(w *Wiring) { w.Lease = "" }),
		"a guessable name":           change(Gemini, func(w *Wiring) { w.Label = "cordon" }),
		"a name with signs":          change(Gemini, func(w *Wiring) { w.Label = "0123456789abcdef\"" }),
		"no plugin":                  change(OpenCode, func(w *Wiring) { w.Plugin = "" }),
		"codex: http":                change(Codex, hook("PreToolUse", "", Handler{Type: "http", URL: "http://x"})),
		"codex: async":               change(Codex, hook("PreToolUse", "", Handler{Type: "command", Command: "x", Async: true})),
		"codex: an event of another": change(Codex, hook("CwdChanged", "", run("x"))),
		"codex: a matcher on Stop":   change(Codex, hook("Stop", "x", run("x"))),
		"gemini: an event":           change(Gemini, hook("PermissionRequest", "", run("x"))),
		"gemini: prompt":             change(Gemini, hook("PreToolUse", "", Handler{Type: "prompt", Prompt: "x"})),
		"copilot: a matcher":         change(Copilot, hook("PreToolUse", "bash", run("x"))),
		"copilot: an event":          change(Copilot, hook("Stop", "", run("x"))),
		"claude: an unknown tool":    change(Claude, hook("PreToolUse", "Bash|bash", run("x"))),
		"codex: an unknown tool":     change(Codex, hook("PreToolUse", "Bash|Bahs", run("x"))),
		"codex: an expression":       change(Codex, hook("PreToolUse", "^Bahs$", run("x"))),
		"gemini: an unknown tool":    change(Gemini, hook("PostToolUse", "Bahs", run("x"))),
		"gemini: of Claude alone":    change(Gemini, hook("PreToolUse", "SendMessage", run("x"))),
		"gemini: MCP":                change(Gemini, hook("PreToolUse", "mcp__.*", run("x"))),
		"opencode: an unknown tool":  change(OpenCode, hook("PreToolUse", "Bahs", run("x"))),
		"opencode: an event":         change(OpenCode, hook("Stop", "", run("x"))),
		"opencode: http":             change(OpenCode, hook("PreToolUse", "", Handler{Type: "http", URL: "http://x"})),
	} {
		if got, err := Config(w); err == nil || got != nil {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestBlocking runs what a client would run when the guard is there, is missing,
// fails, is killed and does not answer.
func TestBlocking(t *testing.T) {
	dir := t.TempDir()
	for _, row := range []struct {
		name, body string
		code       int
		says       string
	}{
		{"allows", "exit 0", 0, ""},
		{"denies", "echo BLOCKED: no >&2; exit 2", 2, "BLOCKED: no\n"},
		{"fails", "exit 1", 2, "BLOCKED: the hook"},
		{"dies", "kill -9 $$", 2, "BLOCKED: the hook"},
		{"missing", "", 2, "BLOCKED: the hook"},
		{"is told off", "kill -PIPE $$", 2, "BLOCKED: the hook"}, // it may die of that itself
		{"hangs", "kill -STOP $$", 2, "BLOCKED: the hook"},
		{"reads", "read -r line && [ \"$line\" = asked ]", 0, ""},
	} {
		program := filepath.Join(dir, row.name+"'s")
		if row.body != "" {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n[ $# -eq 0 ] || [ \"$*\" = \"it's a\\\\b \\\"\\$HOME\\\"\" ] || exit 3\n"+row.body+"\n"),
				0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range []Handler{
			{Type: "command", Command: program, Args: &[]string{"it's", `a\b "$HOME"`}, OnFailure: "block", Timeout: 2},
			{Type: "command", Command: Quote(program) + " # it", OnFailure: "block", Timeout: 2},
			{Type: "command", Command: Quote(program) + "; exit $?", OnFailure: "block", Timeout: 2},
		} {
			if row.name == "hangs" && h.Args == nil {
				continue // what an operator's own line has started is not known here
			}
			text, err := h.ShellText()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("/bin/sh", "-c", text)
			var stderr strings.Builder
			cmd.Stdin, cmd.Stderr = strings.NewReader("asked\n"), &stderr
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != row.code || row.says != "" && !strings.Contains(stderr.String(), row.says) ||
				row.says == "" && stderr.Len() > 0 {
				t.Errorf("%s: code %d, %q", row.name, code, stderr.String())
			}
			if row.name == "denies" && stderr.String() != row.says {
				t.Errorf("a denial says %q", stderr.String())
			}
			if code := unheard(t, text); code != row.code {
				t.Errorf("%s, with nobody to tell: code %d", row.name, code)
			}
		}
	}
}

// unheard runs a command whose stderr nobody reads, and returns its code.
func unheard(t *testing.T, text string) int {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.Stdin, cmd.Stderr = strings.NewReader("asked\n"), w
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode()
}
