package gemini

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
)

func TestInlineShell(t *testing.T) {
	for prompt, want := range map[string][]string{
		"nothing":                          nil,
		"a !{ls -l} b !{ echo {{args}} } ": {"ls -l", "echo {{args}}"},
		"!{f() { ls; }; f}":                {"f() { ls; }; f"},
		"!{ls} !{open":                     {"ls"},
		"!{}":                              {""},
	} {
		if got := inlineShell(prompt); !slices.Equal(got, want) {
			t.Errorf("%q has %q, not %q", prompt, got, want)
		}
	}
}

// The pattern holds what the client asks its policy engine about, and nothing that has more arguments.
func TestOnlyCommand(t *testing.T) {
	for _, shell := range []string{"ls", `echo "a\b" $(x) [y] | z`, "a\nb\tc", "grep -- {{args}} <x >&2"} {
		re, some := regexp.MustCompile(onlyCommand(shell)), regexp.MustCompile(anyCommand)
		text, err := json.Marshal(shell)
		if err != nil {
			t.Fatal(err)
		}
		quoted := regexp.MustCompile(`\\u00(3c|3e|26)`).ReplaceAllStringFunc(string(text), func(s string) string {
			return map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"}[s]
		})
		if asked := "{\x00\"command\":" + quoted + "\x00}"; !re.MatchString(asked) || !some.MatchString(asked) {
			t.Errorf("%s does not match %q", re, asked)
		}
		if called := "{\x00\"command\":" + quoted + "\x00,\x00\"description\":\"x\"\x00}"; re.MatchString(called) || some.MatchString(called) {
			t.Errorf("%s matches %q", re, called)
		}
	}
}
