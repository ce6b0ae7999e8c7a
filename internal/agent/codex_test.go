package agent

import (
	"slices"
	"testing"

	"cordon/internal/client"
)

func TestCodexKits(t *testing.T) {
	for _, row := range kits {
		o := order(client.Codex)
		row.with(&o)
		goldenKit(t, "codex_"+row.name, o)
	}
}

// TestCodexMachine: the requirements of a machine stay in force.
func TestCodexMachine(t *testing.T) {
	o := order(client.Codex)
	o.Managed = true
	o.Machine = map[string][]byte{codexManaged: []byte("[features]\n")}
	k, err := codex.Kit(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Shown) > 0 || !slices.Contains(k.Argv, "features.hooks=true") {
		t.Errorf("%q, shown %v", k.Argv, k.Shown)
	}
}

func TestCodexNeeds(t *testing.T) {
	got := codex.Needs([]string{"-c", `model_providers.x={base_url="http://h/v1",env_key="MY_KEY"}`, "-c", "model_providers.y.env_key='OTHER'", "-m", "env"})
	want := append(slices.Clone(codex.Variables), "MY_KEY", "OTHER")
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := claude.Needs(nil); !slices.Equal(got, claude.Variables) {
		t.Errorf("%q", got)
	}
}
