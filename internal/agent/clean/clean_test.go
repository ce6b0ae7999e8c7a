package clean

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

var rule = Rule{Plain: []string{"name", "description", "model"}, Tools: []string{"tools"}, Only: map[string][]string{"kind": {"local"}}}

// cases are texts, what becomes of them, and what is reported.
var cases = []struct{ name, in, out, removed string }{
	{"nothing to do", "---\nname: a\ndescription: does a\n---\nbody\n", "---\nname: \"a\"\ndescription: \"does a\"\n---\nbody\n", ""},
	{"no front matter", "body\n", "---\nname: \"n\"\ndescription: \"n\"\n---\nbody\n", ""},
	{"hooks", "---\nname: a\ndescription: d\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: touch x}]\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "hooks"},
	{"permissions", "---\nname: a\ndescription: d\nallowed-tools: Bash(*)\npermissionMode: bypassPermissions\nmodel: opus\n---\nb",
		"---\nname: \"a\"\ndescription: \"d\"\nmodel: \"opus\"\n---\nb", "allowed-tools, permissionMode"},
	{"a list of tools", "---\nname: a\ndescription: d\ntools: [Read, \"Bash(rm *)\", mcp__x__*]\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\ntools: [\"Read\",\"mcp__x__*\"]\n---\nb", "tools"},
	{"a text of tools", "---\nname: a\ndescription: d\ntools: Read, Grep\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\ntools: \"Read, Grep\"\n---\nb", ""},
	{"a table of tools", "---\nname: a\ndescription: d\ntools: {write: false, bash: true}\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\ntools: {\"write\":false}\n---\nb", "tools"},
	{"one of some words", "---\nname: a\ndescription: d\nkind: remote\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "kind"},
	{"an anchor", "---\nname: a\ndescription: &x {hooks: y}\nmodel: *x\n---\nb", "---\nname: \"a\"\ndescription: \"&x {hooks: y}\"\nmodel: \"*x\"\n---\nb", ""},
	{"a merge", "---\nbase: &b\n  hooks: x\nname: a\ndescription: d\n<<: *b\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "front matter that is not plain YAML, base"},
	{"a tag", "---\nname: !!js/function \"x\"\ndescription: d\n---\nb", "---\nname: \"!!js/function \\\"x\\\"\"\ndescription: \"d\"\n---\nb", ""},
	{"twice", "---\nname: a\nname: b\ndescription: d\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "a second name"},
	{"a colon in a text", "---\nname: a\ndescription: Use when: it breaks\n---\nb", "---\nname: \"a\"\ndescription: \"Use when: it breaks\"\n---\nb", ""},
	{"line ends", "---\r\nname: a\r\ndescription: d\r\nhooks: x\r\n---\r\nb\r\n", "---\nname: \"a\"\ndescription: \"d\"\n---\nb\n", "hooks"},
	{"old line ends", "---\rname: a\rdescription: d\rhooks: x\r---\rb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "hooks"},
	{"a byte order mark", "\uFEFF---\nname: a\ndescription: d\nhooks: x\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "hooks"},
	{"blank lines first", "\n \n---\nname: a\ndescription: d\nhooks: x\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", "hooks"},
	{"another language", "---js\n{name: require('child_process').execSync('id')}\n---\nb", "---\nname: \"n\"\ndescription: \"n\"\n---\nb", "front matter in another language"},
	{"no end", "---\nhooks: x\nb", "---\nname: \"n\"\ndescription: \"n\"\n---\n---\nhooks: x\nb", "front matter without an end"},
	{"another block", "---\nname: a\ndescription: d\n---\n---\nhooks: x\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\n---\nhooks: x\n---\nb", ""},
	{"an end in a value", "---\nname: a\ndescription: \"x --- y\"\n---\nb", "---\nname: \"a\"\ndescription: \"x -- y\"\n---\nb", ""},
	{"lines in a value", "---\nname: a\ndescription: |\n  x\n  ---\n  hooks: y\n---\nb", "---\nname: \"a\"\ndescription: \"x\\n--\\nhooks: y\\n\"\n---\nb", ""},
	{"a long text", "---\nname: a\ndescription: >-\n  x\n  y\n---\nb", "---\nname: \"a\"\ndescription: \"x y\"\n---\nb", ""},
	{"two documents", "---\nname: a\ndescription: d\n...\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", ""},
	{"other letters", "---\nname: a\ndescription: d\nhооks: x\n---\nb", "---\nname: \"a\"\ndescription: \"d\"\n---\nb", `"hооks"`}, // Cyrillic
	{"no object", "---\n- hooks\n---\nb", "---\nname: \"n\"\ndescription: \"n\"\n---\nb", "front matter that is not plain YAML"},
	{"inline shell", "run !`touch x` and !!`touch y`\n```!\ntouch z\n```\n~~~ !\nq\n~~~\n", "---\nname: \"n\"\ndescription: \"n\"\n---\nrun `touch x` and `touch y`\n```\ntouch z\n```\n~~~\nq\n~~~\n", "inline shell"},
	{"shell in a block of code", "```md\n!`id`\n```\n", "---\nname: \"n\"\ndescription: \"n\"\n---\n```md\n`id`\n```\n", "inline shell"},
	{"shell that removal would make", "!```!`id`", "---\nname: \"n\"\ndescription: \"n\"\n---\n````id`", "inline shell"},
	{"an exclamation", "Do it! `now`", "---\nname: \"n\"\ndescription: \"n\"\n---\nDo it! `now`", ""},
}

func TestMarkdown(t *testing.T) {
	for _, c := range cases {
		got, err := Markdown("n", []byte(c.in), rule)
		if err != nil || string(got.Text) != c.out || strings.Join(got.Removed, ", ") != c.removed {
			t.Errorf("%s: %q, removed %q, %v", c.name, got.Text, got.Removed, err)
		}
	}
	for _, bad := range []string{"a\x00b", "\xff\xfe-\x00"} {
		if got, err := Markdown("n", []byte(bad), rule); err == nil {
			t.Errorf("%q: %q", bad, got.Text)
		}
	}
}

func TestPrompt(t *testing.T) {
	got, removed := Prompt("a !{touch x} !!{y} @{file} !`z`")
	if got != "a {touch x} {y} @{file} `z`" || !slices.Equal(removed, []string{"inline shell"}) {
		t.Errorf("%q %q", got, removed)
	}
}

// Whatever goes in: the front matter that comes out has only members of the rule, each
// once, and cleaning again changes nothing.
func TestWhateverGoesIn(t *testing.T) {
	parts := []string{"---", "\n", "hooks: x", "name: a", "description: ", "tools: [", "]", "!", "`", "```", "{", "&a ", "*a", "<<: ", "\r", "\uFEFF", "...", "'", `"`, ": ", "- ",
		"|\n  ", "allowed-tools: Bash", "js", "\u2028", "\u0085", "~~~", " ", "\t", "#", "!!binary "}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(t, "parts"), "")
		got, err := Markdown("n", []byte(in), rule)
		if err != nil {
			return
		}
		front, body, ok := strings.Cut(strings.TrimPrefix(string(got.Text), "---\n"), "\n---\n")
		var table map[string]any
		if err := yaml.Unmarshal([]byte(front), &table); !ok || err != nil {
			t.Fatalf("%q: %v", got.Text, err)
		}
		for key := range table {
			if !slices.Contains([]string{"name", "description", "model", "tools", "kind"}, key) {
				t.Fatalf("%q has %q", got.Text, key)
			}
		}
		if strings.Contains(body, "!`") || strings.Contains(body, "```!") {
			t.Fatalf("shell in %q", body)
		}
		again, err := Markdown("n", got.Text, rule)
		if err != nil || string(again.Text) != string(got.Text) {
			t.Fatalf("again: %q, then %q, %v", got.Text, again.Text, err)
		}
		_ = fmt.Sprint(got.Removed)
	})
}
