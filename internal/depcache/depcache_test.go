package depcache

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// A variable or a link moves a cache, and none of them makes the home or a repository one.
func TestMoved(t *testing.T) {
	env := map[string]string{
		"GOMODCACHE": "/data/gomod", "CARGO_HOME": "/home/me", "GOPATH": "/work/a:/home/me/go:relative", "NVM_DIR": "/", "PUB_CACHE": "/srv/*",
		"PIP_CACHE_DIR": "/home",
	}
	got := Moved(Roots("/home/me", func(name string) string { return env[name] }), "/home/me", []string{"/work/a/pkg/mod/tree"})
	for _, want := range []string{"/data/gomod", "/work/a/bin", "/home/me/registry"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, root := range got {
		if root == "/" || root == "/home" || root == "/home/me" || root == "/work/a/pkg/mod" || !path.IsAbs(root) || strings.Contains(root, "*") {
			t.Errorf("%s is taken for a cache", root)
		}
	}
}

func TestHolds(t *testing.T) {
	for p, want := range map[string]bool{
		"/home/me/go/pkg/mod/x":                                    true,
		"/home/me/go/pkg/modern/x":                                 false,
		"/home/me/go/src/x":                                        false,
		"/home/me/go/pkg/mod/cache/vcs/x/config":                   false,
		"/home/me/go/pkg/mod/cache/download/x":                     true,
		"/home/me/go/pkg/mod/golang.org/x/tools/go/vcs/vcs.go":     true,
		"/home/me/.local/lib/python3.11/site-packages/x.py":        true,
		"/home/me/.local/lib/other/site-packages/x.py":             false,
		"/home/me/.nvm/versions/node/v22/etc/NPMRC":                false,
		"/home/me/.cache/pypoetry/virtualenvs/x/pip.conf":          false,
		"/home/me/.pyenv/versions/3/lib/python3/site-packages/pip": true,
		"/home/me":         false,
		"/home/me2/go/pkg": false,
		"/data/gomod/x":    true,
		"/data/gomodx":     false,
	} {
		if got := Holds(p, "/home/me", []string{"/data/gomod"}); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}
