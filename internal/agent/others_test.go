package agent

import (
	"regexp"
	"strings"
	"testing"

	"cordon/internal/client"
)

// TestOtherKits compares the kits of the clients that share no settings.
func TestOtherKits(t *testing.T) {
	for _, n := range []client.Name{client.Gemini, client.OpenCode, client.Copilot} {
		for _, row := range kits {
			o := order(n)
			row.with(&o)
			o.Version = Version{1, 2, 3}
			goldenKit(t, string(n)+"_"+row.name, o)
		}
		a, err := Of(n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Settings(rules())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, string(n)+"_settings.golden", got)
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
		{client.Gemini, `{ // mine
			"security":{"auth":{"selectedType":"oauth-personal"},"folderTrust":{"enabled":false}},"model":{"name":"m-1"},"hooksConfig":{"enabled":false},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"theirs"}]}]},}`,
			`{"mcpServers":{"corp":{}},"hooksConfig":{"enabled":false},"telemetry":{"enabled":true}}`, "gemini.json",
			[]string{`"selectedType":"oauth-personal"`, `"name":"m-1"`, `"corp"`, `"hooksConfig":{"enabled":true`, `"telemetry":{"enabled":false}`,
				`"folderTrust":{"enabled":true}`},
			[]string{"theirs"}},
		{client.OpenCode, `{"provider":{"p":{"npm":"x"}},"model":"p/m","plugin":["theirs.js"],"permission":{"*":"allow"},"mcp":{"theirs":{}}}`,
			`{"username":"corp","plugin":["theirs.js"]}`, "opencode.json",
			[]string{`"p":{"npm":"x"}`, `"model":"p/m"`, `"username":"corp"`, "file:///post/cordon.js"}, []string{"theirs"}},
		{client.Copilot, "// by itself\n" + `{"loggedInUsers":[{"login":"op"}],"trustedFolders":["/"],"installedPlugins":["theirs"],"disableAllHooks":true}`, "", "config.json",
			[]string{`"login":"op"`}, []string{"trustedFolders", "theirs", "disableAllHooks"}},
	} {
		a, err := Of(row.client)
		if err != nil {
			t.Fatal(err)
		}
		o := order(row.client)
		o.Managed, o.Own = true, map[string][]byte{a.Config[0]: []byte(row.own)}
		if row.machine != "" {
			o.Machine = map[string][]byte{a.Managed[0]: []byte(row.machine)}
		}
		k, err := a.Kit(o)
		if err != nil {
			t.Fatal(err)
		}
		text := k.text(row.file)
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
func (k Kit) text(name string) string {
	for _, f := range append(k.Files, k.Seeds...) {
		if f.Name == name {
			return string(f.Text)
		}
	}
	return ""
}

// TestExpression holds globs against paths as a call of Gemini says them. Nothing of
// an expression may be what the client refuses to read.
func TestExpression(t *testing.T) {
	for _, row := range []struct {
		glob, path string
		want       bool
	}{
		{".", "x", true}, {".", "a/b", true},
		{"src", "src", true}, {"src", "src/a/b", true}, {"src", "srcs/a", false}, {"src", "a/src", false},
		{"src/**", "src/a/b", true}, {"./src", "src/a", true},
		{"*.md", "a.md", true}, {"*.md", "b/a.md", false}, {"*.md", "aXmd", false},
		{"**/.git", ".git", true}, {"**/.git", "a/b/.git/config", true}, {"**/.git", "a.git", false},
		{"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true},
		{"src/{gen,vendor}", "src/gen/x", true}, {"src/{gen,vendor}", "src/general", false},
		{`a\[x\]`, "a[x]", true}, {"a?c", "abc", true}, {"a?c", "a/c", false}, {"a(1)", "a(1)/x", true},
	} {
		e := expression(row.glob)
		if got := regexp.MustCompile(`"file_path":"` + e + `"`).MatchString(`{"content":"y","file_path":"` + row.path + `"}`); got != row.want {
			t.Errorf("%s and %s: %v, by %s", row.glob, row.path, got, e)
		}
		if regexp.MustCompile(`\([^)]*[*+?{].*\)[*+?{]`).MatchString(e) {
			t.Errorf("%s: the client does not read %s", row.glob, e)
		}
	}
}

func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": \"// no /* no */\", // yes\n\"b\": [1, 2, ],\n}": "{\"a\": \"// no /* no */\", \"b\": [1, 2]}",
		`{"a":"\"//",/* , */}`: `{"a":"\"//"}`,
		`{"a":1} // end`:       `{"a":1} `,
		`/* open`:              ``,
		`"open`:                `"open`,
	} {
		if got := string(plainJSON([]byte(text))); got != want {
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
		{client.Gemini, []string{"--model", "m", "-d"}, true},
		{client.Gemini, []string{"--extensions=x"}, false},
		{client.Gemini, []string{"--policy", "x"}, false},
		{client.Gemini, []string{"--skip-trust"}, false},
		{client.Gemini, []string{"do it"}, false},
		{client.OpenCode, []string{"-m", "p/m", "--agent", "build"}, true},
		{client.OpenCode, []string{"--pure"}, false},
		{client.OpenCode, []string{"serve"}, false},
		{client.OpenCode, []string{"--attach=http://x"}, false},
		{client.Copilot, []string{"--model=m", "--deny-tool", "shell(git push)", "write"}, true},
		{client.Copilot, []string{"--trust-folder"}, false},
		{client.Copilot, []string{"--plugin-dir", "x"}, false},
		{client.Copilot, []string{"--allow-tool", "x"}, false},
	} {
		a, err := Of(row.client)
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
		{client.OpenCode, false, `{"model":"x","plugin":[], // none
		}`, true},
		{client.OpenCode, false, `{"plugin":["./x.js"]}`, false},
		{client.OpenCode, false, `{"plugins":[{"package":"x"}]}`, false},
		{client.OpenCode, false, `{"plugin":`, false},
		{client.Copilot, false, `{"disableAllHooks":true}`, true},
		{client.Copilot, true, `{"disableAllHooks":true}`, false},
		{client.Copilot, true, `{"disableAllHooks":false,"model":"x"}`, true},
		{client.Copilot, true, `{"hooks":{"PreToolUse":[]}}`, false},
		{client.Gemini, false, "", false},
		{client.Claude, true, `{"disableAllHooks":true}`, true},
	} {
		a, err := Of(row.client)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Object(row.terminal, []byte(row.text)); (err == nil) != row.ok {
			t.Errorf("%s %s: %v", row.client, row.text, err)
		}
	}
}
