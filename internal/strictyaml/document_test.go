package strictyaml

import (
	"maps"
	"testing"
)

type small struct {
	name string
	on   bool
}

func smallKind() Kind[small] {
	same := func(s string) (string, error) {
		if s == "bad" {
			return "", Fault("bad is not a name", "write good")
		}
		return s, nil
	}
	show := func(on bool) string {
		if on {
			return "true"
		}
		return "false"
	}
	return Kind[small]{Noun: "note", Empty: "write name: x", Fields: []Field[small]{
		Text("name", "A name.", func(s *small) *string { return &s.name }, same),
		Section("more", "Other things.", []Field[small]{
			Scalar("on", "A switch.", func(s *small) *bool { return &s.on }, ReadBool, show),
		}),
	}}
}

func TestParse(t *testing.T) {
	s := small{name: "default"}
	given, err := smallKind().Parse("n", []byte("more:\n  on: true\n"), &s)
	if err != nil || s.name != "default" || !s.on || !maps.Equal(given, Given{"more.on": 2}) {
		t.Errorf("got %+v, %v, %v", s, given, err)
	}
	var again small
	if _, err := smallKind().Parse("n", Write(s, smallKind().Fields), &again); err != nil || again.name != s.name || again.on != s.on {
		t.Errorf("the written form reads as %+v: %v", again, err)
	}
}

// The kind of file stands in every message.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "n:1:1: the note is empty (write name: x)",
		"[]":                  "n:1:1: a note is a mapping, not a list (write its keys, or leave it out)",
		"nam: x":              `n:1:1: unknown key "nam" (did you mean name?)`,
		"on: true":            `n:1:1: unknown key "on" (on belongs under more)`,
		"name: bad":           "n:1:7: bad is not a name (write good)",
		"name: 5":             `n:1:7: expected text, not the number 5 (quote it: "5")`,
		"name: a\nname: b":    `n:2:1: the key "name" is given twice (first on line 1)`,
		"name: &a x":          "n:1:7: an anchor is not allowed in a note (write the value out where it is needed)",
		"name: *a":            "n:1:7: an alias is not allowed in a note (write the value out, so that a note reads the same to everyone)",
		"name: a\n---\nb: 1":  "n:2:1: a second document begins here (a note is one document; remove the --- line)",
		"more: {on: yes}":     `n:1:12: expected true or false, not the text "yes"`,
		"more: {other: true}": `n:1:8: unknown key "other" (the keys here are on)`,
	} {
		var s small
		if _, err := smallKind().Parse("n", []byte(text), &s); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
