package confine

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Names in the tree that a variable would make the operator's programs, libraries or scripts.
func TestVariablesNameTheTree(t *testing.T) {
	for name, c := range map[string]struct {
		variable, value string // @ is the top
		want            []string
		not             []string
	}{
		"a directory of PATH":    {"PATH", "@/.venv/bin:" + os.Getenv("PATH"), []string{".venv/bin/git", ".venv/bin/sh", ".venv/bin/claude"}, []string{".venv/bin", ".venv/bin/python3"}},
		"a relative one":         {"PATH", os.Getenv("PATH") + ":tools", []string{"tools/git"}, []string{"tools", "git"}},
		"no directory of a tree": {"PATH", os.Getenv("PATH"), nil, []string{"git"}},
		"libraries":              {"LD_LIBRARY_PATH", "@/lib", []string{"lib/libc.so.6", "lib/libz.so.1", "lib/glibc-hwcaps"}, []string{"lib", "lib/libmine.so"}},
		"one library":            {"LD_PRELOAD", "/usr/lib/a.so:@/lib/b.so", []string{"lib/b.so"}, nil},
		"a script of bash":       {"BASH_ENV", "@/env", []string{"env"}, nil},
		"a script of sh":         {"ENV", "$PWD/env", []string{"env"}, nil},
		"no script of sh":        {"ENV", "main", nil, []string{"main"}},
		"a module of node":       {"NODE_OPTIONS", "--max-old-space-size=4096 --require ./tools/x.js", []string{"tools/x.js"}, nil},
		"a module of ruby":       {"RUBYOPT", "-r./tools/x", []string{"tools/x"}, nil},
		"a pager":                {"MANPAGER", "sh -c 'col -bx | tools/x'", []string{"tools/x"}, nil},
		"keys":                   {"GNUPGHOME", "@/src", []string{"src"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, top := steeredSite(t)
			t.Setenv(c.variable, strings.ReplaceAll(c.value, "@", top))
			got := executedIn(t, s)
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%v, want %s", got, want)
				}
			}
			for _, not := range c.not {
				if slices.Contains(got, not) {
					t.Errorf("%v holds %s", got, not)
				}
			}
		})
	}
}
