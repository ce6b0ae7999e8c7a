package known

import (
	"strings"
	"testing"

	"cordon/internal/commands/wrap"
)

func TestMakefile(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"all:\n\t@touch x\n\t-rm y\n", "touch x | rm y"},
		{"all: b ; touch x", "touch x"},
		{"# all: ; touch x\nA = 1\n", ""},
		{"D := ..\nall:\n\tcd $(D)/a && ls ${D}", "cd ../a && ls .."},
		{"A != date\n", "date"},
		{"A := $(shell git log)\nall:\n\techo $(A)", "git log | echo «any»"},
		{"all:\n\techo $$HOME $@", "echo $HOME «in»"},
		{"all:\n\t$(CC) -o $(OUT) \\\n\t$<", "maker -o «atom»  \t«in»"},
		{"include ../a.mk\n-include b.mk", "cat ../a.mk | cat b.mk"},
		{"SHELL = /bin/sh -x", "/bin/sh -x"},
		{"X = $(file >../x,a)", ": > ../x"},
		{"X = $(X)\nY = $(Y$(X))", ""},
		{"foo:=$(call f,$(shell ls))", "ls"},
	} {
		var got []string
		for _, r := range wrap.Makefile(c.text) {
			got = append(got, markShown.Replace(r.Code))
		}
		if line := strings.Join(got, " | "); line != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, line, c.want)
		}
	}
	if n := len(wrap.Makefile(strings.Repeat("a:;x\n", 20000))); n > wrap.MaxRuns+1 {
		t.Errorf("%d runs", n)
	}
	wrap.Makefile("A=" + strings.Repeat("$(", 30000))
}
