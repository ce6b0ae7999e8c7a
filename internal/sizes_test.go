package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cordon/internal/testground"
)

// Each line of sizes.txt names a test that exists, in a package whose TestMain reads the table: otherwise a
// test would run in no size, or in the wrong one.
func TestSizesNameTests(t *testing.T) {
	rows, err := testground.Rows()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[testground.Row]bool{}
	for _, r := range rows {
		if err := exists(r); err != nil {
			t.Errorf("internal/testground/sizes.txt: %v", err)
		}
		if r.Size = ""; seen[r] {
			t.Errorf("internal/testground/sizes.txt: %s %s stands there twice", r.Folder, r.Test)
		}
		seen[r] = true
	}
	// The control: what is not there is reported.
	for _, r := range []testground.Row{
		{Folder: "cmd/cordon", Test: "TestNothing"}, {Folder: "cmd/cordon", Test: "TestScripts/no_such_script"}, {Folder: "internal/legible", Test: "TestMain"},
	} {
		if exists(r) == nil {
			t.Errorf("%v is taken for a test that sizes.txt may name", r)
		}
	}
}

// runsGit matches test code that starts git, itself or through package git.
var runsGit = regexp.MustCompile(`exec\.Command(Context)?\(([\w().]+, )?"git"|git\.(Located|Find)\(`)

// What the machine has in its environment changes what git does: tests that start it stand on ground of their own.
func TestGitRunsOnOwnGround(t *testing.T) {
	count := 0
	err := filepath.WalkDir("..", func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if strings.HasPrefix(e.Name(), ".") && file != ".." || e.Name() == "testdata" {
			return fs.SkipDir
		}
		folder := strings.TrimPrefix(filepath.ToSlash(file), "../")
		if here := testsIn(folder); runsGit.MatchString(here.text) && folder != "internal" {
			if count++; !strings.Contains(here.text, "testground.") {
				t.Errorf("the tests of %s start git, and no TestMain calls testground.Run(%q, m)", folder, folder)
			}
		}
		return nil
	})
	if err != nil || count < 10 {
		t.Errorf("%d folders have tests that start git; %v", count, err)
	}
}

// At most three tests are known to be unsteady at a time, each with its cause.
func TestUnsteadyTestsAreFew(t *testing.T) {
	text, err := os.ReadFile("../.ci/unsteady")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if count++; count > 3 {
			t.Error(".ci/unsteady has more than three tests: mend one first")
		}
		if len(f) < 12 {
			t.Errorf(".ci/unsteady: %q does not say the cause, and what it would take to mend it", line)
		} else if here := testsIn(f[0]); !here.functions[strings.Split(f[1], "/")[0]] {
			t.Errorf(".ci/unsteady: %s has no %s", f[0], f[1])
		}
	}
}

// exists looks for the test of a row, and for what makes the row count.
func exists(r testground.Row) error {
	here := testsIn(r.Folder)
	test, sub, _ := strings.Cut(r.Test, "/")
	switch {
	case !here.functions[test]:
		return fmt.Errorf("%s has no %s", r.Folder, test)
	case sub != "" && !here.names(sub):
		return fmt.Errorf("%s has no %s", r.Folder, r.Test)
	case !strings.Contains(here.text, fmt.Sprintf("testground.Run(%q, m)", r.Folder)) && !strings.Contains(here.text, fmt.Sprintf("testground.RunInMemory(%q, m)", r.Folder)) &&
		!strings.Contains(here.text, fmt.Sprintf("testground.Tests{M: m, Folder: %q}", r.Folder)):
		return fmt.Errorf("the TestMain of %s does not call testground.Run(%q, m)", r.Folder, r.Folder)
	}
	return nil
}

// tests are what the test files of a folder hold.
type tests struct {
	folder, text string
	functions    map[string]bool
}

// names says whether the folder has a subtest or a script of a name.
func (h *tests) names(sub string) bool {
	scripts, err := filepath.Glob(filepath.Join("..", h.folder, "testdata", "*", sub+".txtar"))
	return err == nil && len(scripts) > 0 || strings.Contains(h.text, strconv.Quote(sub)) || strings.Contains(h.text, strconv.Quote(strings.ReplaceAll(sub, "_", " ")))
}

var testsRead = map[string]*tests{}

// testsIn reads the test files of a folder once. A folder that cannot be read has no tests.
func testsIn(folder string) *tests {
	if h := testsRead[folder]; h != nil {
		return h
	}
	h := &tests{folder: folder, functions: map[string]bool{}}
	testsRead[folder] = h
	files, _ := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	for _, name := range files {
		text, _ := os.ReadFile(name)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			continue
		}
		h.text += string(text)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				h.functions[f.Name.Name] = true
			}
		}
	}
	return h
}
