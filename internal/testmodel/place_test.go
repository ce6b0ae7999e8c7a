package testmodel

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A client brings what Node would find for it, nested packages with their parents, and nothing else.
func TestNeeds(t *testing.T) {
	modules := filepath.Join(t.TempDir(), "node_modules")
	for name, text := range map[string]string{
		"client":                 `{"dependencies":{"a":"1","@scope/b":"1"},"optionalDependencies":{"absent":"1","native":"1"}}`,
		"a":                      `{"dependencies":{"c":"2","client":"1"}}`,
		"a/node_modules/c":       `{"peerDependencies":{"d":"1"}}`,
		"@scope/b":               `{}`,
		"native":                 `{}`,
		"c":                      `{}`,
		"d":                      `{}`,
		"other":                  `{"dependencies":{"c":"1"}}`,
		"d/node_modules/nothing": `{}`,
	} {
		dir := filepath.Join(modules, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := needs(modules, filepath.Join(modules, "client"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i], err = filepath.Rel(modules, got[i]); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(got)
	if want := []string{"@scope/b", "a", "client", "d", "native"}; !slices.Equal(got, want) {
		t.Errorf("it needs %q, not %q", got, want)
	}
}
