package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func draftOf(t *testing.T, d Draft) (string, Policy) {
	t.Helper()
	text, err := d.YAML()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse("draft", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text), p
}

// TestDraftEmpty: a draft that fills in nothing is the default policy, and names no key
// about which it has nothing to say.
func TestDraftEmpty(t *testing.T) {
	text, p := draftOf(t, Draft{})
	if !p.Equal(Default()) {
		t.Errorf("an empty draft is not the default:\n%s", p.YAML())
	}
	if text != "version: 1\n" {
		t.Errorf("an empty draft says more than its version:\n%s", text)
	}
	if _, err := (Draft{Lists: map[string]Entry{"filesystem.unknown": {Set: []string{"x"}}}}).YAML(); err == nil {
		t.Error("a key that no policy has was dropped without a word")
	}
}

// TestDraftSets: what is set holds, what is offered does not, and the rest is
// the default.
func TestDraftSets(t *testing.T) {
	_, p := draftOf(t, Draft{
		Head: []string{"one", "two"},
		Lists: map[string]Entry{
			"filesystem.scratch":      {Set: []string{"**/node_modules"}, Offer: []string{"dist"}, Note: "perhaps"},
			"network.allowed_domains": {Offer: []string{"example.com"}},
			"acceptance":              {Set: []string{`go test "./..." # all`}},
		},
	})
	want := Default()
	want.Filesystem.Scratch = []string{"**/node_modules"}
	want.Acceptance = []string{`go test "./..." # all`}
	want.Gate.Land = LandCareful
	if !p.Equal(want) {
		t.Errorf("got\n%s", p.YAML())
	}
}

// TestDraftUncommented: deleting each # that has no blank after it gives a
// policy in which every offer holds.
func TestDraftUncommented(t *testing.T) {
	text, _ := draftOf(t, Draft{Lists: map[string]Entry{
		"filesystem.write_roots":  {Set: []string{"."}, Offer: []string{"src", "a b"}, Note: "narrower"},
		"network.allowed_domains": {Offer: []string{"example.com"}},
		"setup":                   {Offer: []string{"npm ci"}, Note: "none was found"},
	}})
	p, err := Parse("uncommented", []byte(regexp.MustCompile(`(?m)^( *)#(\S)`).ReplaceAllString(text, "$1$2")))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Filesystem.WriteRoots = []string{".", "src", "a b"}
	want.Network.AllowedDomains = []string{"example.com"}
	want.Setup = []string{"npm ci"}
	if !p.Equal(want) {
		t.Errorf("got\n%s", p.YAML())
	}
}

// TestDraftRefuses: nothing is returned for a draft that is not a policy.
func TestDraftRefuses(t *testing.T) {
	for name, lists := range map[string]map[string]Entry{
		"unknown key":   {"filesystem.write_root": {Set: []string{"."}}},
		"not a list":    {"version": {Set: []string{"2"}}},
		"a section":     {"filesystem": {Set: []string{"."}}},
		"a bad entry":   {"filesystem.write_roots": {Set: []string{"../x"}}},
		"empty command": {"acceptance": {Set: []string{"# nothing"}}},
	} {
		if text, err := (Draft{Lists: lists}).YAML(); err == nil || text != nil {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
}

// TestDraftWidth: comments are broken, and no line is longer than it must be.
func TestDraftWidth(t *testing.T) {
	text, _ := draftOf(t, Draft{Head: []string{strings.Repeat("word ", 40)}})
	long := slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return len(s) <= draftWidth })
	if len(long) > 0 {
		t.Errorf("too long: %q", long)
	}
}
