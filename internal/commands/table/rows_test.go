package table

import (
	"strings"
	"testing"
)

// entries are the entries of commands.txt in their order: a name, or a name with
// " = " and another one, and the lines below it.
func entries() (heads []string, lines map[string][]string) {
	lines = map[string][]string{}
	for line := range strings.Lines(entriesText) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			head := heads[len(heads)-1]
			lines[head] = append(lines[head], line)
		default:
			heads = append(heads, line)
		}
	}
	return heads, lines
}

func TestRowsAreSortedAndOnlyOnce(t *testing.T) {
	heads, _ := entries()
	if len(heads) < 1000 {
		t.Fatalf("%d entries", len(heads))
	}
	last := ""
	for _, head := range heads {
		name, to, other := strings.Cut(head, " = ")
		if name <= last {
			t.Errorf("%s comes after %s", name, last)
		}
		last = name
		switch r := Lookup(name); {
		case r == nil:
			t.Errorf("%s is not found", name)
		case other && r.Name != to:
			t.Errorf("%s stands for %s, which stands for another one or is like one", name, to)
		}
	}
	for _, name := range []string{"", "#", "tar ", "ta", "zzzz", "git", "options", "  options"} {
		if Lookup(name) != nil && name != "git" {
			t.Errorf("%q is found", name)
		}
	}
}

// Every line of an entry is one that is known, and so is every style and kind;
// every "when" names options, and no option is there twice.
func TestRowsAreWellFormed(t *testing.T) {
	_, lines := entries()
	for head, list := range lines {
		if strings.Contains(head, " = ") {
			t.Errorf("%s has lines of its own", head)
		}
		own := ""
		for _, line := range list {
			key, value, _ := strings.Cut(strings.TrimPrefix(line, "  "), " ")
			if value == "" || strings.TrimSpace(value) != value || strings.Contains(value, "  ") || !new(Row).set(key, value) {
				t.Errorf("%s: %q", head, line)
			}
			checkLine(t, head, key, value)
			if key == "options" {
				own += " " + value
			}
		}
		checkOptions(t, head, own)
		checkOptions(t, head, Lookup(head).Global)
	}
}

func checkLine(t *testing.T, head, key, value string) {
	t.Helper()
	switch key {
	case "style":
		for _, word := range strings.Fields(value) {
			if styleOf(word) == 0 {
				t.Errorf("%s: style %q", head, word)
			}
		}
	case "operands":
		checkKinds(t, head, value)
	case "when":
		for _, clause := range strings.Split(value, " | ") {
			names, kinds, ok := strings.Cut(clause, ": ")
			if !ok || names == "" {
				t.Errorf("%s: %q has no colon", head, clause)
			}
			checkKinds(t, head, kinds)
		}
	case "like":
		if Lookup(value) == nil {
			t.Errorf("%s is like %s, which has no entry", head, value)
		}
	}
}

func checkOptions(t *testing.T, head, options string) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range strings.Fields(options) {
		if f[0] == '@' && Lookup(f) != nil {
			continue
		}
		it := itemOf(f)
		for _, n := range strings.Split(it.names, ",") {
			bare := n == "-" || Lookup(head).Style&equals != 0
			if n == "" || seen[n] || !bare && (n[0] != '-' || strings.Trim(n, "-") == "") {
				t.Errorf("%s: option %q is there twice, or is none", head, n)
			}
			seen[n] = true
		}
		if it.Kind != "" {
			checkKinds(t, head, strings.ReplaceAll(it.Kind, "+", " "))
		}
	}
}

func checkKinds(t *testing.T, head, kinds string) {
	t.Helper()
	const known = " text verb read write enter exec chdir cd spec out loose arg list commas readat at form field urlencode cookie item node url media" +
		" remote readremote writeremote pod writepod from code perl python ruby javascript sql prog command wanted" +
		" archive member tmpdir template checkpoint sshoption passfile curlrc ansible renaming socket ldflags macro tex hgconfig expression target opaque postscript image writeimage" +
		" pipe set unset nothing later plain joined volume mount device context dest src driver lock number arch script module suffix digits assign separator "
	const ofGit = " paths pager filter editor switch bang helper trace hooks to config setup none revs files "
	for _, kind := range strings.Fields(kinds) {
		kind = " " + strings.TrimSuffix(kind, "*") + " "
		git := strings.HasPrefix(head, "git ") || strings.HasPrefix(head, "@git")
		if !strings.Contains(known, kind) && !(git && strings.Contains(ofGit, kind)) {
			t.Errorf("%s: kind %q", head, kind)
		}
	}
}
