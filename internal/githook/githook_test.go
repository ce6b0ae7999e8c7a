package githook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/git"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// place is a directory with a checkout and a directory of the operator's own.
func place(t *testing.T) (top, own string, c *checker) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top, own = filepath.Join(dir, "repo"), filepath.Join(dir, "own")
	write(t, filepath.Join(top, "scripts/check"), "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(top, "lib.sh"), "", 0o644)
	write(t, filepath.Join(own, "helper"), "#!/bin/sh\necho fine\n", 0o755)
	return top, own, &checker{own: git.Operator{}, trees: []string{top}, tops: []string{top}, path: own + ":/usr/bin:/bin", seen: map[string]bool{}}
}

// What a script names decides whether it runs. An empty want: it runs.
func TestScripts(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"plain":                 {"#!/bin/sh\ngrep -q '^feat' \"$1\" || { echo 'npm test, scripts/check' >&2; exit 1; }\n", ""},
		"comments":              {"#!/bin/sh\n# npx and ./scripts/check\ntrue # make\n", ""},
		"words in a pattern":    {"#!/bin/sh\ntypes='feat|fix|make|go'\nrefs=refs/heads/main\ncase $1 in docs/*) ;; esac\n", ""},
		"names of paths":        {"#!/bin/sh\ngit diff --cached --quiet -- scripts/check\n", ""},
		"a helper on PATH":      {"#!/bin/sh\nhelper \"$1\"\n", ""},
		"a helper beside it":    {"#!/bin/sh\n. \"$(dirname \"$0\")/helper\"\n", ""},
		"its home":              {"#!/bin/sh\n\"$HOME/scripts/check\"\n", ""},
		"python":                {"#!/usr/bin/env python3\n# scripts/check\nimport sys, re\nsys.exit(0 if re.match('a/b', open(sys.argv[1]).read()) else 1)\n", ""},
		"a runner":              {"#!/bin/sh\nexec npx --no-install commitlint\n", "it calls npx"},
		"a runner behind env":   {"#!/bin/sh\nCI=1 env X=1 pre-commit run\n", "it calls pre-commit"},
		"a runner in code":      {"#!/bin/sh\nsh -c 'make lint'\n", "it calls make"},
		"a runner in eval":      {"#!/bin/sh\neval \"npm test\"\n", "it calls npm"},
		"a runner in a value":   {"#!/bin/sh\nTOOL='npx commitlint'\n$TOOL\n", "it calls npx"},
		"a path":                {"#!/bin/sh\n./scripts/check\n", "it names ./scripts/check"},
		"an argument of sh":     {"#!/bin/bash\nbash scripts/check\n", "it names scripts/check"},
		"a file that it reads":  {"#!/bin/sh\n. ./lib.sh\n", "it names ./lib.sh"},
		"a directory":           {"#!/bin/sh\ncd scripts && ./x\n", "it names scripts"},
		"behind git":            {"#!/bin/sh\n$(git rev-parse --show-toplevel)/scripts/check\n", "it names scripts/check"},
		"behind a variable":     {"#!/bin/sh\n\"$ROOT\"/scripts/check\n", "it names scripts/check"},
		"behind the directory":  {"#!/bin/sh\n\"$PWD\"/scripts/check\n", "it names scripts/check"},
		"above":                 {"#!/bin/sh\n../scripts/check\n", "it names ../scripts/check"},
		"PATH":                  {"#!/bin/sh\nPATH=scripts:$PATH\ncheck\n", "it names scripts"},
		"absolute":              {"#!/bin/sh\nsh TOP/scripts/check\n", "lies in a tree"},
		"absolute, to come":     {"#!/bin/sh\nlint --config TOP/later\n", "lies in a tree"},
		"the interpreter":       {"#!TOP/scripts/check\n", "lies in a tree"},
		"a relative one":        {"#!bin/sh\n", "is not an absolute path"},
		"an absent one":         {"#!/usr/bin/env absent-interpreter\n", "is not on the PATH"},
		"no interpreter":        {"true\n", "no #! line"},
		"python, a path":        {"#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['./scripts/check'])\n", "it names ./scripts/check"},
		"python, a runner":      {"#!/usr/bin/env python3\nimport subprocess\nsubprocess.run([\"npx\", 'x'])\n", "it names npx"},
		"python, absolute":      {"#!/usr/bin/env python3\nopen('TOP/x')\n", "lies in a tree"},
		"a helper that does so": {"#!/bin/sh\nother\n", "it names ./scripts/check"},
	} {
		t.Run(name, func(t *testing.T) {
			top, own, check := place(t)
			write(t, filepath.Join(own, "other"), "#!/bin/sh\n./scripts/check\n", 0o755)
			write(t, filepath.Join(own, "python3"), "\x7fELF\x00", 0o755)
			t.Setenv("HOME", own)
			hook := filepath.Join(own, "commit-msg")
			write(t, hook, strings.ReplaceAll(c.script, "TOP", top), 0o755)
			err := check.program(hook, 0)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Where a hook lies decides too. The first one is the control.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, top, own string)
		want  string
	}{
		"as it is": {func(*testing.T, string, string) {}, ""},
		"compiled": {func(t *testing.T, _, own string) {
			write(t, filepath.Join(own, "hook"), "\x7fELF\x00"+strings.Repeat("x", 2<<20), 0o755)
		}, ""},
		"world":     {func(t *testing.T, _, own string) { chmod(t, filepath.Join(own, "hook"), 0o757) }, "others can write it"},
		"group":     {func(t *testing.T, _, own string) { chmod(t, filepath.Join(own, "hook"), 0o775) }, "others can write it"},
		"directory": {func(t *testing.T, _, own string) { chmod(t, own, 0o777) }, "others can write it"},
		"a link": {func(t *testing.T, top, own string) {
			link(t, filepath.Join(top, "scripts/check"), filepath.Join(own, "hook"))
		}, "lies in a tree"},
		"a link to /a": {func(t *testing.T, top, own string) { link(t, "/nowhere/at/all", filepath.Join(own, "hook")) }, "no such file"},
		"a loop":       {func(t *testing.T, top, own string) { link(t, filepath.Join(own, "hook"), filepath.Join(own, "hook")) }, "too many"},
		"a hop": {func(t *testing.T, top, own string) {
			link(t, filepath.Join(own, "helper"), filepath.Join(top, "hop"))
			link(t, filepath.Join(top, "hop"), filepath.Join(own, "hook"))
		}, "a tree or checkout on the way"},
		"a directory": {func(t *testing.T, top, own string) {
			link(t, own, filepath.Join(own, "hook"))
		}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			top, own, check := place(t)
			write(t, filepath.Join(own, "hook"), "#!/bin/sh\n", 0o755)
			c.spoil(t, top, own)
			err := check.program(filepath.Join(own, "hook"), 0)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	_ = os.Remove(at)
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
