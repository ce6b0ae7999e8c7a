package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/client"
	"cordon/internal/testmodel"
)

// keyHelpers say where each client keeps a command that prints its key. HELPER stands for
// the command, SCRIPT for its script, HOME for the home, and URL for the address of the model.
var keyHelpers = map[client.Name]struct {
	without string // the variable with the key
	point   point
	flags   bool // the settings name the provider that flags name in other tests
}{
	"claude": {without: "ANTHROPIC_API_KEY", point: point{
		env:   map[string]string{"CLAUDE_CODE_API_KEY_HELPER_TTL_MS": "1000"},
		files: map[string]string{".claude/settings.json": `{"apiKeyHelper":"HELPER"}`}}},
	"codex": {without: "OPENAI_API_KEY", flags: true, point: point{files: map[string]string{".codex/config.toml": `
model = "gpt-5.2"
model_provider = "corp"
[model_providers.corp]
name = "corp"
base_url = "URL/v1"
wire_api = "responses"
[model_providers.corp.auth]
command = "sh"
args = ["SCRIPT"]
refresh_interval_ms = 1000
[model_providers.other]
name = "other"
base_url = "URL/v1"
[model_providers.other.auth]
command = "touch"
args = ["HOME/other"]
`}}},
	"copilot": {without: "COPILOT_PROVIDER_API_KEY", point: point{env: map[string]string{"COPILOT_PROVIDER_API_KEY_COMMAND": "HELPER"}}},
	"pi": {without: "OPENAI_API_KEY", point: point{files: map[string]string{".pi/agent/models.json": `{"providers":{"scripted":{"baseUrl":"URL/v1",` +
		`"api":"openai-completions","apiKey":"!HELPER","models":[{"id":"gpt-4.1"}]},"other":{"baseUrl":"URL/v1","apiKey":"!touch $HOME/other"}}}`}}},
}

// helped makes a site whose operator gets the key of the client from a command, which counts
// its runs. The project has another one.
func helped(t *testing.T, name client.Name, turns ...testmodel.Turn) *staged {
	t.Helper()
	s := agentSite(t, name, testmodel.Script{Turns: append(turns, testmodel.Turn{Text: lastWords})})
	h := keyHelpers[name]
	s.env = slices.DeleteFunc(s.env, func(v string) bool { return strings.HasPrefix(v, h.without+"=") })
	s.names = slices.DeleteFunc(s.names, func(v string) bool { return v == h.without })
	if h.flags {
		s.args = nil
	}
	script := s.write("home/key.sh", `echo . >> $HOME/runs; echo "key-$(wc -l < $HOME/runs)"`)
	line := "sh " + script
	for name, value := range h.point.env {
		s.set(name, strings.ReplaceAll(value, "HELPER", line))
	}
	for file, text := range h.point.files {
		s.write("home/"+file, strings.NewReplacer("HELPER", line, "SCRIPT", script, "HOME", s.home, "URL", s.model.URL()).Replace(text))
	}
	return s
}

// keys are those that the client sent, in their order.
func (s *staged) keys() []string {
	var list []string
	for _, r := range s.model.Requests() {
		list = append(list, r.Key)
	}
	return list
}

// A client sends the key that its operator's helper prints, by itself and in a cell.
func TestAgentsKeyHelper(t *testing.T) {
	t.Parallel()
	for name := range keyHelpers {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			for how, run := range map[string]func(*staged){
				"by itself": func(s *staged) { s.bare() },
				"in a cell": func(s *staged) {
					if o := s.run([]int{0}); strings.Contains(o.err+o.out, "key-1") {
						t.Errorf("the key is shown:\n%s%s", o.err, o.out)
					}
				},
			} {
				s := helped(t, name)
				run(s)
				if keys := s.keys(); len(keys) == 0 || slices.ContainsFunc(keys, func(k string) bool { return !strings.HasPrefix(k, "key-") }) {
					t.Errorf("%s: the client sent %q", how, keys)
				}
				if _, err := os.Stat(filepath.Join(s.home, "other")); err == nil {
					t.Errorf("%s: the helper of another provider ran", how)
				}
			}
		})
	}
}

// After a renewal the client sends the new key.
func TestAgentsKeyRenewed(t *testing.T) {
	t.Parallel()
	var s *staged
	runs := func() int {
		b, _ := os.ReadFile(filepath.Join(s.home, "runs"))
		return strings.Count(string(b), "\n")
	}
	wait := testmodel.Turn{Calls: []testmodel.Call{{Tool: "Bash", Input: map[string]any{"command": "true", "description": "nothing"}}}}
	wait.Before = func() {
		n := runs()
		s.await("the helper has run twice more", func() bool { return runs() >= n+2 })
	}
	s = helped(t, "claude", wait, wait, wait, wait)
	s.run([]int{0})
	keys := s.keys()
	if len(keys) == 0 || keys[0] == keys[len(keys)-1] || slices.ContainsFunc(keys, func(k string) bool { return !strings.HasPrefix(k, "key-") }) {
		t.Errorf("the client sent %q", keys)
	}
}

// A project's helper runs where the client is by itself. Under cordon it runs neither outside
// the cell nor in it.
func TestAgentsKeyOfProject(t *testing.T) {
	t.Parallel()
	plant := func() (*staged, string) {
		s := helped(t, "claude")
		marker := filepath.Join(s.home, "project-ran")
		s.write("repo/.claude/settings.json", fmt.Sprintf(`{"apiKeyHelper":"touch %s; echo project"}`, marker))
		s.git("add", ".")
		s.git("commit", "-q", "-m", "a helper")
		return s, marker
	}
	s, marker := plant()
	s.bare()
	if _, err := os.Stat(marker); err != nil || !slices.Contains(s.keys(), "project") {
		t.Errorf("the control did not run it: %v, %q", err, s.keys())
	}
	s, marker = plant()
	s.run([]int{0})
	if _, err := os.Stat(marker); err == nil || slices.Contains(s.keys(), "project") || len(s.keys()) == 0 {
		t.Errorf("it ran: %v, %q", err, s.keys())
	}
}
