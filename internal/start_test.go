package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// compiledAtStart lists where a file compiles a regular expression in a variable of its
// package, that is at every start of the program. Inside a function it is compiled on demand.
func compiledAtStart(name string, source any) ([]string, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, d := range f.Decls {
		if _, ok := d.(*ast.GenDecl); !ok {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "regexp" && strings.HasPrefix(s.Sel.Name, "MustCompile") {
					list = append(list, set.Position(n.Pos()).String())
				}
			}
			_, inside := n.(*ast.FuncLit)
			return !inside
		})
	}
	return list, nil
}

// TestNothingIsCompiledAtStart keeps regular expressions out of the start of the program:
// cordon hook starts for every tool call and needs none of them.
func TestNothingIsCompiledAtStart(t *testing.T) {
	for _, dir := range []string{"../cmd/cordon", "../internal"} {
		err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "../internal/test") {
				return err
			}
			list, err := compiledAtStart(file, nil)
			for _, at := range list {
				t.Errorf("%s compiles a regular expression at every start: use sync.OnceValue", at)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The control: an expression of a package is found, and one inside a function is not.
func TestCompiledAtStartIsFound(t *testing.T) {
	const text = "package x\nvar a = []*regexp.Regexp{regexp.MustCompile(`a`)}\n" +
		"var b = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`b`) })\nfunc c() { regexp.MustCompile(`c`) }\n"
	list, err := compiledAtStart("x.go", text)
	if err != nil || len(list) != 1 || !strings.HasPrefix(list[0], "x.go:2:") {
		t.Errorf("%v, %v", list, err)
	}
}
