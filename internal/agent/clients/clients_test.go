package clients

import (
	"testing"

	"cordon/internal/agent/facts"
	"cordon/internal/client"
)

// TestListsAgree holds the registry and the facts to one list, and each client to one name.
func TestListsAgree(t *testing.T) {
	if len(All()) != len(facts.All()) {
		t.Fatalf("%d clients, and the facts of %d", len(All()), len(facts.All()))
	}
	for i, c := range facts.All() {
		a := All()[i]
		if string(a.Name) != c.Name || string(a.Dialect.Name) != c.Name {
			t.Errorf("the facts of %s, the adapter of %s, the dialect of %s", c.Name, a.Name, a.Dialect.Name)
		}
		if a.Preset != "@"+c.Models.Preset {
			t.Errorf("%s needs %s, and its models are @%s", a.Name, a.Preset, c.Models.Preset)
		}
		if len(c.Protected) == 0 || len(c.Logins) == 0 || c.Title == "" {
			t.Errorf("%s has no title, no protected name or no login", c.Name)
		}
		if a.Stream == nil || a.Build == nil || a.Dialect.Config == nil || a.Dialect.Form == "" {
			t.Errorf("%s is not complete", a.Name)
		}
		if (a.Dialect.Keys.Event == "") != (a.Dialect.Tell != nil) {
			t.Errorf("%s neither names its events nor tells them", a.Name)
		}
	}
}

// TestHooksAreWrittenInNativeWords holds the words of hooks to the tools of the client
// whose words they are.
func TestHooksAreWrittenInNativeWords(t *testing.T) {
	native := 0
	for _, d := range Dialects() {
		if !d.Native {
			continue
		}
		native++
		for _, tool := range d.Tools {
			if kind, ok := client.HookTool(tool.Name); !ok || kind != tool.Kind {
				t.Errorf("%s is %q of %s, and %q in hooks", tool.Name, tool.Kind, d.Name, kind)
			}
		}
	}
	if native != 1 {
		t.Errorf("hooks are written in the words of %d clients", native)
	}
}
