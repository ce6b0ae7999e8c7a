package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forTests tells whether a file is part of tests only: a test, or a package that exists for tests.
func forTests(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/test")
}

// TestNothingSleeps: a test that waits for a time fails on a slow machine and wastes time on a fast one. It
// waits for a condition with internal/testwait, which is the only place that sleeps.
func TestNothingSleeps(t *testing.T) {
	read, seen := 0, map[string]bool{}
	err := filepath.WalkDir("..", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && file != ".." || e.Name() == "testdata") {
			return fs.SkipDir
		}
		name := strings.TrimPrefix(filepath.ToSlash(file), "../")
		if e.IsDir() || !strings.HasSuffix(name, ".go") || !forTests(name) || path.Dir(name) == "internal/testwait" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		read++
		found, err := sleeps(name, text)
		seen[name] = true
		for _, f := range found {
			t.Errorf("%s: wait for a condition with internal/testwait", f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"internal/waits_test.go", "internal/testnet/web.go", "cmd/cordon/signals_test.go", "bench/turns_test.go"} {
		if !seen[name] {
			t.Errorf("%s is not among the %d files that were read", name, read)
		}
	}
}

// sleeps lists what waits for a time in a file: time.Sleep, time.Tick, and a timer that nothing else can overtake.
// In a bubble of testing/synctest, time.Sleep moves the bubble's own clock and takes no time.
func sleeps(name string, text []byte) ([]string, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := sleepFinder{files: files, clock: imported(parsed, "time"), bubble: imported(parsed, "testing/synctest"), program: imported(parsed, "os/exec")}
	ast.Walk(&s, parsed)
	return s.found, nil
}

// imported is the name by which a file calls a package: empty without an import.
func imported(file *ast.File, pkg string) string {
	for _, i := range file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err != nil || p != pkg {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

type sleepFinder struct {
	files                  *token.FileSet
	clock, bubble, program string
	found                  []string
}

func (s *sleepFinder) add(n ast.Node, what string) {
	s.found = append(s.found, fmt.Sprintf("%s: %s", s.files.Position(n.Pos()), what))
}

// Visit looks at one node.
func (s *sleepFinder) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.ImportSpec:
		if s.clock == "." {
			s.add(n, "an import of all names of time")
			s.clock = ""
		}
	case *ast.CallExpr:
		if isName(n.Fun, s.bubble, "Test") {
			return nil
		}
		if s.runsSleep(n) {
			s.add(n, "a run of the program sleep")
		}
	case *ast.SelectorExpr: // a sleep that is handed over as a function sleeps, too
		for _, f := range []string{"Sleep", "Tick"} {
			if isName(n, s.clock, f) {
				s.add(n, "time."+f)
			}
		}
	case *ast.SelectStmt:
		return s.choice(n)
	case *ast.UnaryExpr:
		if s.isTimer(n) {
			s.add(n, "a timer that is waited for alone")
		}
	case *ast.RangeStmt:
		if s.makesTimer(n.X) {
			s.add(n, "a loop over a timer")
		}
	}
	return s
}

// runsSleep tells whether a call starts the program sleep and waits for it. One that is started and ended is a bystander.
func (s *sleepFinder) runsSleep(n *ast.CallExpr) bool {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Run", "Output", "CombinedOutput"}, sel.Sel.Name) {
		return false
	}
	made, ok := sel.X.(*ast.CallExpr)
	return ok && (isName(made.Fun, s.program, "Command") || isName(made.Fun, s.program, "CommandContext")) &&
		slices.ContainsFunc(made.Args, func(arg ast.Expr) bool {
			text, ok := arg.(*ast.BasicLit)
			return ok && text.Value == `"sleep"`
		})
}

// choice judges a select statement: a timer may bound another wait, and may not be the only one. The end of a context
// is no condition that a test waits for.
func (s *sleepFinder) choice(n *ast.SelectStmt) ast.Visitor {
	timers, others := 0, 0
	for _, c := range n.Body.List {
		c := c.(*ast.CommClause)
		switch got := received(c.Comm); {
		case got != nil && s.isTimer(got):
			timers++
		case c.Comm != nil:
			ast.Walk(s, c.Comm)
			fallthrough
		default:
			if !isDone(got) {
				others++
			}
		}
		for _, b := range c.Body {
			ast.Walk(s, b)
		}
	}
	if timers > 0 && others == 0 {
		s.add(n, "a select with nothing but timers and ends of contexts")
	}
	return nil
}

// isDone tells whether an expression receives from the Done of a context.
func isDone(e ast.Expr) bool {
	u, ok := e.(*ast.UnaryExpr)
	if !ok || u.Op != token.ARROW {
		return false
	}
	call, ok := u.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Done"
}

// received is the receive operation of a case, if it is one.
func received(comm ast.Stmt) ast.Expr {
	switch c := comm.(type) {
	case *ast.ExprStmt:
		return c.X
	case *ast.AssignStmt:
		return c.Rhs[0]
	}
	return nil
}

// isTimer tells whether an expression receives from a timer that is made right there.
func (s *sleepFinder) isTimer(e ast.Expr) bool {
	u, ok := e.(*ast.UnaryExpr)
	return ok && u.Op == token.ARROW && s.makesTimer(u.X)
}

func (s *sleepFinder) makesTimer(e ast.Expr) bool {
	for {
		switch inner := e.(type) {
		case *ast.ParenExpr:
			e = inner.X
		case *ast.SelectorExpr: // time.NewTimer(d).C
			e = inner.X
		case *ast.CallExpr:
			return slices.ContainsFunc([]string{"After", "NewTimer", "NewTicker", "Tick"}, func(f string) bool { return isName(inner.Fun, s.clock, f) })
		default:
			return false
		}
	}
}

// isName tells whether an expression is a name of a package.
func isName(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || pkg == "" || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

// TestSleepsAreFound is the control: what waits for a time is found, and what waits for something else is not.
func TestSleepsAreFound(t *testing.T) {
	for _, c := range []struct {
		imports, body string
		found         int
	}{
		{`"time"`, `time.Sleep(time.Second)`, 1},
		{`"time"`, `go time.Sleep(time.Second)`, 1},
		{`"time"`, `for ; ; time.Sleep(1) { }`, 1},
		{`"time"`, `rest := time.Sleep; rest(1)`, 1},
		{`clock "time"`, `clock.Sleep(1)`, 1},
		{`. "time"`, `Sleep(1)`, 1},
		{`"time"`, `<-time.After(time.Second)`, 1},
		{`"time"`, `when := <-(time.After(time.Second)); _ = when`, 1},
		{`"time"`, `<-time.NewTimer(time.Second).C`, 1},
		{`"time"`, `for range time.Tick(1) { break }`, 2},
		{`"time"`, `for range time.NewTicker(1).C { break }`, 1},
		{`"time"`, `select { case <-time.After(1): }`, 1},
		{`"time"`, `select { case <-time.After(1): case <-time.After(2): }`, 1},
		{`"time"`, `select { case <-ctx.Done(): case <-time.After(1): }`, 1},
		{`"time"`, `select { case <-ctx.Done(): case <-time.After(1): default: }`, 0},
		{`"time"`, `select { case <-ctx.Done(): case <-done: case <-time.After(1): }`, 0},
		{`"time"`, `select { case <-done: time.Sleep(1); case <-time.After(2): <-time.After(3) }`, 2},
		{`"time"; "testing/synctest"`, `synctest.Test(t, func(t *testing.T) { rest() }); time.Sleep(1)`, 1},
		{`"time"; "testing/synctest"`, `synctest.Test(t, func(t *testing.T) { time.Sleep(1) })`, 0},
		{`"os/exec"`, `_ = exec.Command("sleep", "1").Run()`, 1},
		{`"os/exec"`, `_ = exec.Command("sleep", "600").Start()`, 0},
		{`"time"`, `select { case <-done: case <-time.After(1): }`, 0},
		{`"time"`, `select { case <-done: case when := <-time.After(1): _ = when }`, 0},
		{`"time"`, `defer time.AfterFunc(1, func() { done() }).Stop()`, 0},
		{`time "example.org/own"`, `time.Sleep(1)`, 0},
		{``, `time.Sleep(1)`, 0},
	} {
		text := fmt.Sprintf("package x\nimport (%s)\nfunc f() { %s }\n", c.imports, c.body)
		found, err := sleeps("x_test.go", []byte(text))
		if err != nil || len(found) != c.found {
			t.Errorf("%s\nfinds %q, want %d; %v", text, found, c.found, err)
		}
	}
	for file, want := range map[string]bool{"internal/git/git.go": false, "internal/git/git_test.go": true, "internal/testnet/web.go": true, "cmd/cordon/run.go": false} {
		if forTests(file) != want {
			t.Errorf("%s is a file of tests: %v", file, !want)
		}
	}
}
