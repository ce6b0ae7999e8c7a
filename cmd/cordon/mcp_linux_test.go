package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cordon/internal/view"
)

// connected is a real client of cordon mcp.
func (s *site) connected(args ...string) *sdk.ClientSession {
	s.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(s.t.Context(), &sdk.CommandTransport{Command: s.command(append([]string{"mcp"}, args...)...)}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() }) // it may have ended
	return session
}

// mcpTool calls a tool, and returns its object and whether it failed.
func (s *site) mcpTool(session *sdk.ClientSession, name string, args map[string]any) (string, bool) {
	s.t.Helper()
	got, err := session.CallTool(s.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	text := got.Content[0].(*sdk.TextContent).Text
	if !got.IsError {
		if err := valid(text); err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
	}
	return text, got.IsError
}

// TestMCP uses the real server with a real client: every tool, and what is refused.
func TestMCP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{5}, "run", "--review", "--", "sh", "-c", `printf '1\n2\n3\n' >src/new; cordon ask --no-wait "left or right?"`)
	id := s.only().Worker
	session := s.connected("--max-write", "docs")

	// The list of tools is published, and nothing in it decides.
	for file, c := range map[string]*sdk.ClientSession{"tools.json": session, "tools_answer.json": s.connected("--may-answer")} {
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(list.Tools, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/mcp/"+file, append(text, '\n'))
		for _, tool := range list.Tools {
			for _, verb := range []string{"merge", "release", "discard", "stop", "policy", "retry", "resume", "land"} {
				if strings.Contains(tool.Name, verb) {
					t.Errorf("the tool %s decides", tool.Name)
				}
			}
		}
	}

	var status struct {
		Workers []struct{ Worker, Status string }
	}
	text, failed := s.mcpTool(session, "cordon_status", nil)
	s.parse(text, &status)
	if failed || len(status.Workers) != 1 || status.Workers[0].Worker != id {
		t.Error(text)
	}
	if text, failed = s.mcpTool(session, "cordon_status", map[string]any{"worker": id}); failed || !strings.Contains(text, `"cordon.worker/1"`) {
		t.Error(text)
	}
	if text, failed = s.mcpTool(session, "cordon_review", map[string]any{"worker": id}); failed || !strings.Contains(text, `"verdict"`) {
		t.Error(text)
	}
	if text, failed = s.mcpTool(session, "cordon_diff", map[string]any{"worker": id, "from": 0, "lines": 3}); failed || !strings.Contains(text, "src/new") {
		t.Error(text)
	}
	if text, failed = s.mcpTool(session, "cordon_plan_status", nil); failed || !strings.Contains(text, `"plans"`) {
		t.Error(text)
	}

	// Waiting: what was, then nothing new, then what comes.
	var happened struct {
		After   uint64
		Workers []struct{ Worker string }
	}
	text, failed = s.mcpTool(session, "cordon_wait", map[string]any{"after": 0})
	s.parse(text, &happened)
	if failed || happened.After == 0 || len(happened.Workers) != 1 {
		t.Error(text)
	}
	after := happened.After
	text, _ = s.mcpTool(session, "cordon_wait", map[string]any{"after": after})
	s.parse(text, &happened)
	if happened.After != after || len(happened.Workers) != 0 {
		t.Error(text)
	}
	got := make(chan string, 1)
	go func() {
		text, _ := s.mcpTool(session, "cordon_wait", map[string]any{"after": after, "seconds": 60})
		got <- text
	}()
	s.cordon([]int{0}, "answer", id, "left")
	s.parse(<-got, &happened)
	if happened.After != after+1 || len(happened.Workers) != 1 || happened.Workers[0].Worker != id {
		t.Error(happened)
	}

	// What is refused.
	for _, c := range []struct {
		tool string
		args map[string]any
		says string
	}{
		{"cordon_answer", map[string]any{"worker": id, "text": "right"}, "cordon_answer"},
		{"cordon_merge", map[string]any{"worker": id}, "cordon_merge"},
		{"cordon_dispatch", map[string]any{"client": "--merge", "prompt": "x"}, "--merge"},
		{"cordon_dispatch", map[string]any{"client": exampleClient, "prompt": " "}, "needs a prompt"},
		{"cordon_dispatch", map[string]any{"client": exampleClient, "prompt": "x", "policy": "isolation: none"}, "policy"},
		{"cordon_review", map[string]any{"worker": id[:3]}, "no worker is called"},
	} {
		if text, failed := s.mcpTool(session, c.tool, c.args); !failed || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
	if o := s.cordon([]int{0}, "ls", "--json"); strings.Count(o.out, `"worker":`) != 1 {
		t.Error(o.out)
	}
}

// golden compares a text with a file, or writes the file with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (%v): go test ./cmd/cordon -run TestMCP -update writes it\n%s", file, err, got)
	}
}

// TestAgentsDispatch starts a real client through the real server. Its result ends in review although the policy of the
// repository lands, and no tool lands it.
func TestAgentsDispatch(t *testing.T) {
	t.Parallel()
	s := agentSite(t, exampleClient, playing(t, exampleClient, []deed{{kind: shellTool, command: "echo made by the agent >made.txt"}}, ""))
	s.share(s.names...)
	s.write("repo/cordon.yaml", fmt.Sprintf("version: 1\nsecrets: [%s]\ngate: {land: auto}\nnetwork:\n  host_ports: [%d]\n",
		strings.Join(s.names, ", "), s.model.Port()))
	s.git("add", ".")
	s.git("commit", "-q", "-m", "a policy that lands")
	s.cordon([]int{0}, "config", "share", fmt.Sprintf("port:%d", s.model.Port()))
	session := s.connected()
	text, failed := s.mcpTool(session, "cordon_dispatch", map[string]any{"client": exampleClient, "prompt": s.Prompt})
	var started struct{ Worker string }
	if s.parse(text, &started); failed || started.Worker == "" {
		t.Fatal(text)
	}
	var happened struct {
		After   uint64
		Workers []struct{ Worker, Status, Group string }
	}
	for done := false; !done; { // as an agent waits: until it needs a person
		text, failed = s.mcpTool(session, "cordon_wait", map[string]any{"after": happened.After, "seconds": 60})
		if s.parse(text, &happened); failed {
			t.Fatal(text)
		}
		for _, w := range happened.Workers {
			done = done || w.Worker == started.Worker && w.Group == view.NeedsYou && w.Status != "leased" && w.Status != "ready"
		}
	}
	if got := s.only(); got.Worker != started.Worker || got.Status != "review" {
		t.Errorf("%+v", got)
	}
	if text, failed = s.mcpTool(session, "cordon_diff", map[string]any{"worker": started.Worker}); failed || !strings.Contains(text, "made by the agent") {
		t.Error(text)
	}
	if s.landedFile("made.txt") != "" {
		t.Error("its result is on main")
	}
	s.cordon([]int{0}, "merge", started.Worker) // the control: a person lands it
	if got := s.landedFile("made.txt"); got != "made by the agent" {
		t.Errorf("main has %q", got)
	}
	s.sound()
}

// TestMaxWrite narrows what a worker may write.
func TestMaxWrite(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{exitQuarantined}, "run", "--max-write", "docs", "--", "sh", "-c", "echo x >src/x")
	s.cordon([]int{0}, "run", "--merge", "--max-write", "docs", "--", "sh", "-c", "echo x >docs/x")
	if o := s.cordon([]int{exitRefused}, "run", "--write", "src", "--max-write", "docs", "--", "true"); !strings.Contains(o.err, "lies in --max-write") {
		t.Error(o.err)
	}
}
