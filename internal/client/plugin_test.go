package client_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "cordon/internal/client"
)

// driver loads the plugin as OpenCode does, makes one call and says what came of it.
const driver = `
const { Cordon } = await import(process.argv[2]);
let hooks;
try { hooks = await Cordon({ directory: "/w" }); } catch (e) { console.log("LOAD " + e.message); process.exit(0); }
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command: "ls 'é'" } });
  console.log("ALLOWED");
} catch (e) { console.log("THROWN " + e.message); }
process.exit(0);
`

// TestPlugin runs the plugin in Node, with guards that answer and guards that fail
// in every way. Nothing but a guard that ends well lets the call through.
func TestPlugin(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run the plugin in")
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	drive := write("drive.mjs", driver, 0o644)
	// A guard is asked at the start as well, and behaves badly only at the call.
	later := "#!/bin/sh\nread -r input\ncase $input in *session.start*) exit 0;; esac\n"
	for _, row := range []struct {
		name, body string
		mode       os.FileMode
		extra      Hooks
		want       string
	}{
		{"allows", later + "exit 0\n", 0o755, nil, "ALLOWED"},
		{"never reads", "#!/bin/sh\nexit 0\n", 0o755, nil, "ALLOWED"},
		{"denies", later + "echo 'BLOCKED: no' >&2; exit 2\n", 0o755, nil, "THROWN BLOCKED: no"},
		{"denies at the start", "#!/bin/sh\necho 'BLOCKED: never' >&2; exit 2\n", 0o755, nil, "THROWN BLOCKED: never"},
		{"denies without a word", later + "exit 2\n", 0o755, nil, "THROWN BLOCKED: cordon refuses"},
		{"fails", later + "exit 1\n", 0o755, nil, "THROWN BLOCKED: the guard failed (code 1)"},
		{"dies", later + "kill -9 $$\n", 0o755, nil, "THROWN BLOCKED: the guard failed (SIGKILL)"},
		{"hangs", later + "exec sleep 60\n", 0o755, nil, "THROWN BLOCKED: the guard did not answer"},
		{"cannot be run", later, 0o644, nil, "THROWN BLOCKED: the guard cannot be started"},
		{"missing", "", 0, nil, "THROWN BLOCKED: the guard cannot be started"},
		{"is asked what is asked", later + `case $input in *'"tool":"bash"'*'"cwd":"/w"'*"\"args\":{\"command\":\"ls 'é'\"}"*) exit 0;; esac; echo "$input" >&2; exit 2`, 0o755, nil, "ALLOWED"},
		{"allows, operator denies", later, 0o755, Hooks{{"PreToolUse", "bash", []Handler{run("echo operator >&2; exit 2")}}}, "THROWN operator"},
		{"allows, operator denies in Claude's words", later, 0o755, Hooks{{"PreToolUse", "Bash", []Handler{run("echo operator >&2; exit 2")}}}, "THROWN operator"},
		{"allows, operator denies by an expression", later, 0o755, Hooks{{"PreToolUse", "^Ba.h$", []Handler{run("echo operator >&2; exit 2")}}}, "THROWN operator"},
		{"allows, operator is for others", later, 0o755, Hooks{{"PreToolUse", "Edit", []Handler{run("exit 2")}}}, "ALLOWED"},
		{"allows, operator fails", later, 0o755, Hooks{{"PreToolUse", "", []Handler{run("exit 1")}}}, "ALLOWED"},
		{"allows, operator must not fail", later, 0o755, Hooks{{"PreToolUse", "", []Handler{{Type: "command", Command: "exit 1", OnFailure: "block"}}}}, "THROWN BLOCKED: the hook that judges"},
		{"denies, operator allows", later + "echo ours >&2; exit 2\n", 0o755, Hooks{{"PreToolUse", "", []Handler{run("exit 0")}}}, "THROWN ours"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			wires := wiring(OpenCode)
			wires.Binary, wires.Extra = filepath.Join(dir, row.name), row.extra
			if row.body != "" {
				write(row.name, row.body, row.mode)
			}
			text, err := of(OpenCode).Plugin(wires)
			if err != nil {
				t.Fatal(err)
			}
			patience := 300_000 // only the guard that hangs uses it up
			if row.name == "hangs" {
				patience = 5_000 // its answer at the start has to come in that time, too
			}
			const usual = `"timeout":10000`
			if !strings.Contains(text, usual) {
				t.Fatalf("the plugin does not wait for %s", usual)
			}
			plugin := write(row.name+".mjs", strings.ReplaceAll(text, usual, fmt.Sprintf(`"timeout":%d`, patience)), 0o644)
			out, err := exec.Command(node, drive, plugin).CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), row.want) {
				t.Errorf("%s%v", out, err)
			}
		})
	}
}

// TestPluginSpeaksOurDialect decodes what the plugin sends.
func TestPluginSpeaksOurDialect(t *testing.T) {
	text, err := of(OpenCode).Plugin(wiring(OpenCode))
	if err != nil {
		t.Fatal(err)
	}
	d := of(OpenCode)
	for _, word := range []string{d.Keys.Event, d.Keys.Tool, d.Keys.Input, d.Keys.Session, d.Keys.Call, "cwd", d.Events[0][1], "session.start"} {
		if !strings.Contains(text, word) {
			t.Errorf("the plugin does not say %q", word)
		}
	}
	_, after, _ := strings.Cut(text, "const guards = ")
	array, _, _ := strings.Cut(after, ";\n")
	var guards []struct{ Block bool }
	if err := json.Unmarshal([]byte(array), &guards); err != nil || len(guards) != 1 || !guards[0].Block {
		t.Errorf("%s: %v", array, err)
	}
}
