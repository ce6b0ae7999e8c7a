package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "cordon/internal/agent"
	"cordon/internal/agent/claude"
	"cordon/internal/agent/codex"
)

func TestCodexKits(t *testing.T) {
	for _, row := range kits {
		o := order("codex")
		row.with(&o)
		goldenKit(t, "codex_"+row.name, o)
	}
}

// TestCodexMachine: the requirements of a machine stay in force.
func TestCodexMachine(t *testing.T) {
	o := order("codex")
	o.Managed = true
	o.Machine = map[string][]byte{codex.Managed: []byte("[features]\n")}
	k, err := codex.Client.Kit(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Shown) > 0 || !slices.Contains(k.Argv, "features.hooks=true") {
		t.Errorf("%q, shown %v", k.Argv, k.Shown)
	}
}

func TestCodexNeeds(t *testing.T) {
	got := codex.Client.Needs(nil, []string{
		"-c", `model_providers.x={base_url="http://h/v1",env_key="MY_KEY"}`, "-c", "model_providers.y.env_key='OTHER'", "-m", "env",
	})
	want := append(slices.Clone(codex.Client.Variables), "MY_KEY", "OTHER")
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := claude.Client.Needs(nil, nil); !slices.Equal(got, claude.Client.Variables) {
		t.Errorf("%q", got)
	}
}

const corporate = `model = "m"
model_provider = "corp"
[model_providers.corp]
name = "corp"
base_url = "https://models.example/v1"
env_key = "CORP_KEY"
http_headers = {X-Team = "a secret"}
supports_standalone_web_search = true
auth = {command = "/opt/print-key", args = ["it's"], refresh_interval_ms = 60000}
[model_providers.cloud]
base_url = "https://cloud.example/v1"
aws = {region = "x"}
[model_providers.spare]
base_url = "https://spare.example/v1"
`

// TestCodexProvider: a provider of the operator's own goes into a worker with what it needs and nothing else; what may be a
// secret is on no command line, and on none that is recorded where no file can be shown.
func TestCodexProvider(t *testing.T) {
	const file = ".codex/config.toml"
	own := map[string][]byte{file: []byte(corporate)}
	o := order("codex")
	o.Own, o.Chosen, o.Keys = own, Chosen{"model": "m", "model_provider": "corp"}, map[string]string{"corp": "/post/keys/key-1"}
	o.Managed = true
	k, err := codex.Client.Kit(o)
	if err != nil {
		t.Fatal(err)
	}
	given, line := textOf(k, "config.toml"), strings.Join(k.Argv, " ")
	for _, want := range []string{"https://models.example/v1", "a secret", "/bin/cat", "/post/keys/key-1"} {
		if !strings.Contains(given, want) || strings.Contains(line, want) {
			t.Errorf("%q: in the file %v, on the command line %v", want, strings.Contains(given, want), strings.Contains(line, want))
		}
	}
	if strings.Contains(given, "print-key") || strings.Contains(given, "standalone") ||
		strings.Contains(given, "spare") || !strings.Contains(line, `model_provider="corp"`) {
		t.Errorf("%s\n%s", given, line)
	}
	o.Managed = false
	if k, err = codex.Client.Kit(o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(k.Argv, " "), "a secret") || strings.Contains(strings.Join(k.Recorded(), " "), "a secret") {
		t.Errorf("%q", k.Recorded())
	}
	o.Own = nil // agent.login: none
	if k, err = codex.Client.Kit(o); err != nil || strings.Contains(strings.Join(k.Argv, " "), "model") {
		t.Errorf("%q, %v", k.Argv, err)
	}
	for _, row := range []struct{ args, provider string }{
		{"", "corp"}, {"-c model_provider=spare", ""}, {"-c model_provider=cloud", ""}, {"-c model_providers.corp={}", ""}, {"--oss", ""},
	} {
		commands, err := codex.Client.KeyCommands(KeySources{Files: own, Args: strings.Fields(row.args)})
		var got string
		for _, c := range commands {
			got += c.ID
			if c.Line != `'/opt/print-key' 'it'"'"'s'` || c.Every != time.Minute || c.Limit != 5*time.Second {
				t.Errorf("%+v", c)
			}
		}
		if err != nil || got != row.provider {
			t.Errorf("%q: %q, %v", row.args, got, err)
		}
		if needs := slices.Contains(codex.Client.Needs(own, strings.Fields(row.args)), "CORP_KEY"); needs != (row.provider != "") {
			t.Errorf("%q: its variable goes in: %v", row.args, needs)
		}
	}
}
