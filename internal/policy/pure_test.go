package policy

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPure holds the package to its word: no file system, process, network or
// environment. The sources are parsed here, because a build list would leave
// out the files of other operating systems.
func TestPure(t *testing.T) {
	allowed := []string{"cordon/internal/agent/facts", "cordon/internal/paths", "cordon/internal/reach", "cordon/internal/strictyaml",
		"bytes", "cmp", "embed", "errors", "fmt", "io", "maps", "path", "slices", "strconv", "strings", "sync", "time", "unicode", "unicode/utf8",
		"github.com/bmatcuk/doublestar/v4", "go.yaml.in/yaml/v3", "golang.org/x/text/unicode/norm",
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		seen++
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "time.Now") || strings.Contains(string(text), "time.Since") {
			t.Errorf("%s asks the clock", name)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d sources seen", seen)
	}
}
