package codewords

import (
	"slices"
	"testing"
)

// A simple command is its words; whatever else a shell would do makes a script something else.
func TestSimple(t *testing.T) {
	for script, want := range map[string][]string{
		`cordon review approve 'It works'`:                {"cordon", "review", "approve", "It works"},
		`  cordon truth 1 no "a \"b\" c" and\ more # why`: {"cordon", "truth", "1", "no", `a "b" c`, "and more"},
		"cordon review feedback 'two\nlines; $HOME `x`'":  {"cordon", "review", "feedback", "two\nlines; $HOME `x`"},
		`cordon review approve "all [1] * {a,b} ~ fine?"`: {"cordon", "review", "approve", "all [1] * {a,b} ~ fine?"},
	} {
		if got, ok := Simple(script); !ok || !slices.Equal(got, want) {
			t.Errorf("%q is %q, %t", script, got, ok)
		}
	}
	for _, script := range []string{
		"", "# nothing", "true; cordon review approve x", "true && cordon review approve x", "cordon review approve x | cat", "cordon review approve x &",
		"! cordon review approve x", "cordon review approve x\nsh t.sh", "A=b cordon review approve x", "A=b", "cordon review approve x >out",
		"cordon review approve <<<x", "cordon review approve $(sh t.sh)", "cordon review approve \"`sh t.sh`\"", "cordon review approve $X",
		"cordon review approve \"$X\"", "cordon review approve *", "cordon review {approve,feedback} x", "cordon review approve <(sh t.sh)",
		"(cordon review approve x)", "{ cordon review approve x; }", "if true; then cordon review approve x; fi", "cordon review approve 'x",
		"cordon() { true; }", "coproc cordon review approve x", "cordon review approve ~",
	} {
		if got, ok := Simple(script); ok {
			t.Errorf("%q is %q", script, got)
		}
	}
}
