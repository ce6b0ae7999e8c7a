package agent_test

import (
	"strings"
	"testing"

	"cordon/internal/client"

	. "cordon/internal/agent"
	"cordon/internal/agent/clients"
)

// TestOtherKits compares the kits of the clients that share no settings.
func TestOtherKits(t *testing.T) {
	for _, n := range []client.Name{"gemini", "opencode", "copilot", "qwen", "pi"} {
		for _, row := range kits {
			o := order(n)
			row.with(&o)
			o.Version = Version{1, 2, 3}
			goldenKit(t, string(n)+"_"+row.name, o)
		}
		a, err := clients.Of(n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Settings(rules())
		if (err != nil) != (a.Permissions == nil) {
			t.Fatal(err)
		}
		if a.Permissions != nil {
			golden(t, string(n)+"_settings.golden", got)
		}
		o := order(n)
		o.Prompt = ""
		if _, err := a.Kit(o); err == nil {
			t.Errorf("%s has nothing to do", n)
		}
	}
}

// TestOwnSettings: of the operator's settings and the machine's, what chooses a model
// is kept, and what would switch hooks off or bring others is not.
func TestOwnSettings(t *testing.T) {
	for _, row := range []struct {
		client         client.Name
		own, machine   string
		file           string // that the settings are in; "": a variable
		keeps, refuses []string
	}{
		{"gemini", `{ // mine
			"security":{"auth":{"selectedType":"oauth-personal"},"folderTrust":{"enabled":false}},"model":{"name":"m-1"},"hooksConfig":{"enabled":false},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"theirs"}]}]},}`,
			`{"mcpServers":{"corp":{}},"hooksConfig":{"enabled":false},"telemetry":{"enabled":true}}`, "gemini.json",
			[]string{`"selectedType":"oauth-personal"`, `"name":"m-1"`, `"corp"`, `"hooksConfig":{"enabled":true`, `"telemetry":{"enabled":false}`,
				`"folderTrust":{"enabled":true}`},
			[]string{"theirs"}},
		{"opencode", `{"provider":{"p":{"npm":"x"}},"model":"p/m","plugin":["theirs.js"],"permission":{"*":"allow"},"mcp":{"theirs":{}}}`,
			`{"username":"corp","plugin":["theirs.js"]}`, "opencode.json",
			[]string{`"p":{"npm":"x"}`, `"model":"p/m"`, `"username":"corp"`, "file:///post/cordon.js"}, []string{"theirs"}},
		{"copilot", "// by itself\n" + `{"loggedInUsers":[{"login":"op"}],"trustedFolders":["/"],"installedPlugins":["theirs"],"disableAllHooks":true}`, "", "config.json",
			[]string{`"login":"op"`}, []string{"trustedFolders", "theirs", "disableAllHooks"}},
		{"qwen", `{"security":{"auth":{"selectedType":"openai","apiKey":"x"},"folderTrust":{"enabled":false}},"model":{"name":"m-1"},"disableAllHooks":true,` +
			`"env":{"MY_API_KEY":"k-1","NODE_OPTIONS":"theirs"},"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"theirs"}]}]},"mcpServers":{"theirs":{}}}`,
			`{"permissions":{"deny":["WebFetch"]},"telemetry":{"enabled":true},"disableAllHooks":true}`, "qwen.json",
			[]string{`"selectedType":"openai"`, `"name":"m-1"`, `"MY_API_KEY":"k-1"`, `"disableAllHooks":false`, `"telemetry":{"enabled":false}`, `"WebFetch"`,
				`"folderTrust":{"enabled":true}`},
			[]string{"theirs", `"apiKey"`}},
		{"pi", `{"defaultModel":"m-1","extensions":["theirs.js"],"packages":["npm:theirs"],"shellPath":"/theirs","shellCommandPrefix":"theirs"}`, "", "pi.json",
			[]string{`"defaultModel":"m-1"`, `"extensions":[]`, `"packages":[]`}, []string{"theirs", "shell"}},
	} {
		a, err := clients.Of(row.client)
		if err != nil {
			t.Fatal(err)
		}
		o := order(row.client)
		o.Managed, o.Own = true, map[string][]byte{a.Config[0]: []byte(row.own)}
		if row.machine != "" {
			o.Machine = map[string][]byte{a.Managed[0]: []byte(row.machine)}
		}
		if o.Chosen, _, err = a.Choose(o.Own); err != nil {
			t.Fatal(err)
		}
		k, err := a.Kit(o)
		if err != nil {
			t.Fatal(err)
		}
		text := textOf(k, row.file)
		for _, part := range row.keeps {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %s is not kept: %s", row.client, part, text)
			}
		}
		for _, part := range row.refuses {
			if strings.Contains(text, part) {
				t.Errorf("%s: %s is kept: %s", row.client, part, text)
			}
		}
		o.Own[a.Config[0]] = []byte(`{"x":`)
		if _, err := a.Kit(o); err == nil {
			t.Errorf("%s: settings that cannot be read are dropped", row.client)
		}
	}
}

// text is what a file of a kit says.
func textOf(k Kit, name string) string {
	for _, f := range append(k.Files, k.Seeds...) {
		if f.Name == name {
			return string(f.Text)
		}
	}
	return ""
}

func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": \"// no /* no */\", // yes\n\"b\": [1, 2, ],\n}": "{\"a\": \"// no /* no */\", \"b\": [1, 2]}",
		`{"a":"\"//",/* , */}`: `{"a":"\"//"}`,
		`{"a":1} // end`:       `{"a":1} `,
		`/* open`:              ``,
		`"open`:                `"open`,
	} {
		if got := string(PlainJSON([]byte(text))); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestOtherArguments(t *testing.T) {
	for _, row := range []struct {
		client client.Name
		args   []string
		ok     bool
	}{
		{"gemini", []string{"--model", "m", "-d"}, true},
		{"gemini", []string{"--extensions=x"}, false},
		{"gemini", []string{"--policy", "x"}, false},
		{"gemini", []string{"--skip-trust"}, false},
		{"gemini", []string{"do it"}, false},
		{"opencode", []string{"-m", "p/m", "--agent", "build"}, true},
		{"opencode", []string{"--pure"}, false},
		{"opencode", []string{"serve"}, false},
		{"opencode", []string{"--attach=http://x"}, false},
		{"copilot", []string{"--model=m", "--deny-tool", "shell(git push)", "write"}, true},
		{"copilot", []string{"--trust-folder"}, false},
		{"copilot", []string{"--plugin-dir", "x"}, false},
		{"copilot", []string{"--allow-tool", "x"}, false},
		{"qwen", []string{"--model=m", "--max-session-turns", "3", "-d"}, true},
		{"qwen", []string{"--bare"}, false},
		{"qwen", []string{"--safe-mode"}, false},
		{"qwen", []string{"--yolo"}, false},
		{"qwen", []string{"--mcp-config", "x"}, false},
		{"qwen", []string{"--telemetry"}, false},
		{"pi", []string{"--provider", "p", "--model", "m", "--tools", "read,grep"}, true},
		{"pi", []string{"-e", "x.js"}, false},
		{"pi", []string{"--extension=x.js"}, false},
		{"pi", []string{"--api-key", "x"}, false},
		{"pi", []string{"install"}, false},
		{"pi", []string{"--some-flag-of-an-extension"}, false},
	} {
		a, err := clients.Of(row.client)
		if err != nil {
			t.Fatal(err)
		}
		o := order(row.client)
		o.Args = row.args
		if _, err := a.Kit(o); (err == nil) != row.ok {
			t.Errorf("%s %q: %v", row.client, row.args, err)
		}
	}
}

// TestObject: what of a project's own files stands against a launch.
func TestObject(t *testing.T) {
	for _, row := range []struct {
		client   client.Name
		terminal bool
		text     string
		ok       bool
	}{
		{"opencode", false, `{"model":"x","plugin":[], // none
		}`, true},
		{"opencode", false, `{"plugin":["./x.js"]}`, false},
		{"opencode", false, `{"plugins":[{"package":"x"}]}`, false},
		{"opencode", false, `{"plugin":`, false},
		{"copilot", false, `{"disableAllHooks":true}`, true},
		{"copilot", true, `{"disableAllHooks":true}`, false},
		{"copilot", true, `{"disableAllHooks":false,"model":"x"}`, true},
		{"copilot", true, `{"hooks":{"PreToolUse":[]}}`, false},
		{"pi", false, `{"packages":["npm:x"],"defaultModel":"m"}`, true},
		{"pi", false, `{"shellPath":"./sh"}`, false},
		{"pi", false, `{"shellCommandPrefix":"x;"}`, false},
		{"pi", true, `{"npmCommand":["x"]}`, false},
		{"pi", true, `{"somethingNew":1}`, false},
		{"gemini", false, "", false},
		{"claude", true, `{"disableAllHooks":true}`, true},
	} {
		a, err := clients.Of(row.client)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Object(row.terminal, []byte(row.text)); (err == nil) != row.ok {
			t.Errorf("%s %s: %v", row.client, row.text, err)
		}
	}
}
