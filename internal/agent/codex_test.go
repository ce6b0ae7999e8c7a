package agent_test

import (
	"slices"
	"testing"

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
	got := codex.Client.Needs([]string{"-c", `model_providers.x={base_url="http://h/v1",env_key="MY_KEY"}`, "-c", "model_providers.y.env_key='OTHER'", "-m", "env"})
	want := append(slices.Clone(codex.Client.Variables), "MY_KEY", "OTHER")
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := claude.Client.Needs(nil); !slices.Equal(got, claude.Client.Variables) {
		t.Errorf("%q", got)
	}
}
