package policy

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TestFoldedIsFullFolding compares the table of expansions with the planes of Unicode
// that have characters.
func TestFoldedIsFullFolding(t *testing.T) {
	foldsFully(t, 0x80, 0x3ffff)
	foldsFully(t, 0xe0000, 0xe0fff)
}

// TestFoldedIsFullFoldingAll compares it with all of Unicode.
func TestFoldedIsFullFoldingAll(t *testing.T) {
	foldsFully(t, 0x80, unicode.MaxRune)
}

func foldsFully(t *testing.T, first, last rune) {
	t.Helper()
	full := cases.Fold()
	for r := first; r <= last; r++ {
		name := "x" + string(r) + "y\ufffd"
		want := norm.NFC.String(strings.Map(foldRune, full.String(norm.NFD.String(name))))
		if dropInvisible(r) < 0 {
			want = "XY\ufffd"
		}
		if got := Folded(name); got != want {
			t.Errorf("%U: Folded(%q) is %q, not %q", r, name, got, want)
		}
	}
}

// A deny holds for every name that some file system takes for the denied one. A
// root opens exactly what it says.
func TestDeniesFold(t *testing.T) {
	fs := Filesystem{
		WriteRoots: []string{".", "docs"},
		DenyWrite:  []string{".github", "src/caf\u00e9", "ci/*.yml", "straße", "long name.text", "CLAUDE.md", "**/Secret.d", "weird.", "conf[!a]"},
		DenyRead:   []string{"@default", "keys/*.pem"},
	}
	r := rulesOf(t, tree, fs)
	denied := []string{
		".github/x", ".GitHub/workflows/x.yml", ".github./x", ".github /x", ".github. ./x", ".git\u200bhub/x", ".g\ufe0fithub/x",
		".github::$INDEX_ALLOCATION/x", ".GITHUB:s", "GITHUB~1/x", "github~2/x", "GITHU~12/x", "GI12AF~1/x",
		"src/caf\u00e9", "src/cafe\u0301", "SRC/CAFE\u0301/x", "src/café.",
		"ci/a.yml", "ci/A.YML", "CI/a.yml.", "ci/a.yml::$DATA", "STRASSE", "strasse/x",
		"long name.text", "LONGNA~1.TEX", "claude.md", "Claude.MD", "CLAUDE.md ", "a/b/SECRET.D/x", "weird.", "weird", "WEIRD",
		"confB", "CONFb", "keys/a.pem", "Keys/A.PEM", "keys/a.pem.",
		// and the built-in table
		"CLAUDE~1/settings.json", "VSCODE~1/tasks.json", "ENVRC~1", "CORDON~1.YAM", "cordon.yaml::$DATA", ".claude::$INDEX_ALLOCATION/x",
		"a/.Roo/mcp.json", "LEFTHO~1.YML", "X~1.COD", "HUSKYR~1", ".cargo/Config.toml", "CARGO~1/CONFIG~1.TOM",
	}
	for _, p := range denied {
		if v := r.Judge(p); v.Class != Violation || v.Rule == "outside write_roots" {
			t.Errorf("%q is %s by %s", p, v.Class, v.Rule)
		}
	}
	allowed := []string{
		"github/x", ".githubb/x", ".git-hub/x", "GITHUX~1/x", "GITHUB~x/x", "GITHUB~1.TXT/x", "GITHUB~/x", "~1", "src/cafe", "src/caf", "ci/a.yaml", "ci/a.yml/../x",
		"strase", "LONGNB~1.TEX", "LONGNA~1.TXT", "claude.mdx", "CLAUDE~1.TXT", "confa", "keys/a.txt", "keys", "FOO~1.TXT", "backup~2", "CORDON~1.TXT", ".cargo/x",
	}
	for _, p := range allowed {
		if v := r.Judge(p); strings.Contains(p, "..") != v.Class.IsViolation() {
			t.Errorf("the control %q is %s by %s", p, v.Class, v.Rule)
		}
	}
	exact := rulesOf(t, tree, Filesystem{WriteRoots: []string{"docs", "caf\u00e9"}})
	for _, p := range []string{"Docs/x", "docs./x", "docs:s", "DOCS~1/x", "cafe\u0301/x"} {
		if v := exact.Judge(p); v.Class.Lands() {
			t.Errorf("a root that is not exact covers %q", p)
		}
	}
}

// What may not be read does not land, unless a write root names it.
func TestDenyReadDoesNotLand(t *testing.T) {
	r := rulesOf(t, tree, Filesystem{
		WriteRoots: []string{".", "src/sec/out", "**/*.pem", "conf/.env.example", "mix/sec/*.md", "gen"},
		DenyRead:   []string{"src/sec", "**/*.pem", "**/.env*", "mix/sec", "gen/**", "../up"},
		Scratch:    []string{"tmp"},
	})
	for path, want := range map[string]Class{
		"src/sec": Violation, "src/sec/k1": Violation, "src/secx": Landing, "src": Landing, "src/Sec/k": Violation,
		"src/sec/out": Landing, "src/sec/out/x": Landing, "src/sec/out/.env": Violation,
		"a.pem": Landing, "b/c.pem": Landing, // named by the same words
		"conf/.env.example": Landing, "conf/.env": Violation, ".env.production": Violation,
		"mix/sec/a.md": Landing, "mix/sec/a.txt": Violation, "gen/x": Landing, "gen": Landing, "tmp/.env": Scratch,
	} {
		if got := r.Judge(path); got.Class != want {
			t.Errorf("%s is %s by %s, want %s", path, got.Class, got.Rule, want)
		}
	}
	for path, want := range map[string]Class{"src": Violation, "mix": Violation, "other": Landing} {
		if got := r.JudgeLink(path); got.Class != want {
			t.Errorf("a link at %s is %s by %s, want %s", path, got.Class, got.Rule, want)
		}
	}
	if got := r.JudgeIgnored("src/sec/cache"); got.Class != Landing {
		t.Errorf("an ignored file, which never lands, is %s by %s", got.Class, got.Rule)
	}
}
