package client_test

import (
	"regexp"
	"testing"

	. "cordon/internal/client"
)

// TestMatchersAreTranslated asks whether a hook that is written in Claude's words
// runs for the tool of another client that does the same, and for no other.
func TestMatchersAreTranslated(t *testing.T) {
	for _, row := range []struct {
		client      Name
		matcher     string
		runs, quiet []string
	}{
		{Claude, "Bash|Edit", list("Bash", "Edit"), list("Read", "MultiEdit")},
		{Codex, "Bash", list("Bash", "exec_command"), list("apply_patch", "view_image")},
		{Codex, "Edit, Write", list("apply_patch"), list("Bash")},
		{Codex, "mcp__fs__write", list("mcp__fs__write"), list("mcp__fs__write2")},
		{Codex, "mcp__fs__.*", list("mcp__fs__write"), list("Bash")},
		{Gemini, "Bash", list("run_shell_command"), list("read_file", "bash")},
		{Gemini, "Bash|Write", list("run_shell_command", "write_file"), list("read_file", "replace")},
		{Gemini, "Edit", list("replace"), list("write_file")},
		{Gemini, "Read", list("read_file"), list("write_file")},
		{Gemini, "run_shell_command", list("run_shell_command"), list("write_file")},
		{Gemini, "^(Bash|Read)$", list("run_shell_command", "read_file"), list("replace")},
		{Gemini, "^write_.*", list("write_file"), list("run_shell_command")},
		{Gemini, "mcp__fs__write", list("mcp_fs_write"), list("mcp__fs__write")},
		{OpenCode, "Bash", list("bash"), list("read", "Bash")},
		{OpenCode, "Edit", list("edit", "multiedit", "apply_patch"), list("write", "bash")},
		{OpenCode, "TodoWrite", list("todowrite"), list("plan_exit", "bash")},
		{OpenCode, "mcp__fs__write", list("fs_write"), list("write")},
	} {
		text, err := Entry{Event: "PreToolUse", Matcher: row.matcher}.Pattern(of(row.client))
		if err != nil {
			t.Errorf("%s %s: %v", row.client, row.matcher, err)
			continue
		}
		expr := regexp.MustCompile(text)
		for _, name := range row.runs {
			if !expr.MatchString(name) {
				t.Errorf("%s: a hook for %s is not asked about %s: %s", row.client, row.matcher, name, text)
			}
		}
		for _, name := range row.quiet {
			if expr.MatchString(name) {
				t.Errorf("%s: a hook for %s is asked about %s: %s", row.client, row.matcher, name, text)
			}
		}
	}
	// What is matched on other events is no tool.
	if text, err := (Entry{Event: "SessionStart", Matcher: "startup"}).Pattern(of(Gemini)); err != nil || text != "^(startup)$" {
		t.Errorf("%s, %v", text, err)
	}
}
