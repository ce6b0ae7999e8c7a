package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/policy"
	"cordon/internal/shell"
)

// uncounted are the files that change no answer of the labelled calls and stay
// nevertheless, each with the reason.
var uncounted = map[string]string{
	"shell/brace.go":         "it bounds the work on braces, for TestHostile",
	"shell/partial/brace.go": "it counts what braces make, for TestHostile",
}

// Each file of the packages that the guard reads calls with has to earn its place:
// without it, some labelled call gets another answer. The test compiles the guard
// once with a switch in every function, which makes the functions of one file
// return nothing at once, and judges the labelled calls without each file in turn.
// A file that changes no answer is to be deleted, or explained in uncounted.
func TestAblation(t *testing.T) {
	program, files := switched(t)
	if got := without(t, program, 0); got != "0" {
		t.Fatalf("with every file, %s answers change", got)
	}
	results := make([]string, len(files)+1)
	var group sync.WaitGroup
	turns := make(chan bool, 2)
	for n := range files {
		group.Go(func() {
			turns <- true
			results[n+1] = without(t, program, n+1)
			<-turns
		})
	}
	group.Wait()
	for n, file := range files {
		_, explained := uncounted[file]
		t.Logf("without %s: %s", file, results[n+1])
		if (results[n+1] == "0") != explained {
			t.Errorf("without %s, %s answers change; uncounted explains it: %t", file, results[n+1], explained)
		}
	}
}

// TestWithoutFile is the part of TestAblation that runs in another process.
func TestWithoutFile(t *testing.T) {
	if os.Getenv("CORDON_WITHOUT") == "" {
		return
	}
	shell.DefaultBudget.Deadline = time.Minute // answers must not depend on how busy the machine is
	kept := os.Args[0] + ".answers"
	before, err := os.ReadFile(kept)
	first := err != nil
	strict := leasedTo(t, func(p *policy.Policy) { p.Guard.Mode = policy.GuardStrict })
	var answers []byte
	changed := 0
	for _, name := range []string{"cases", "escapes", "harmless", "limits", "unseen"} {
		for _, c := range readCases(t, "testdata/"+name+".jsonl") {
			for _, s := range []*Scope{worker(t), strict} {
				answer := Decide(s, c.call()).Verdict[0]
				answers = append(answers, answer)
				if !first && before[len(answers)-1] != answer {
					changed++
				}
			}
			if changed > 0 {
				fmt.Println("changed: 1")
				return
			}
		}
	}
	if first {
		if err := os.WriteFile(kept, answers, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("changed: %d\n", changed)
}

// without judges the labelled calls without a file, and tells how many answers
// change, up to one: all, when the guard crashes or hangs. File 0 is none, and its
// answers are those that the others are compared with.
func without(t *testing.T, program string, file int) string {
	cmd := exec.Command(program, "-test.run=^TestWithoutFile$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "CORDON_WITHOUT="+strconv.Itoa(file))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "all"
	}
	_, after, ok := bytes.Cut(out, []byte("changed: "))
	if !ok {
		t.Errorf("without file %d: %s", file, out)
	}
	number, _, _ := strings.Cut(string(after), "\n")
	return number
}

// switched compiles the tests of this package with the switches.
func switched(t *testing.T) (program string, files []string) {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(path string, text []byte) {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		replace[absolute] = filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(replace[absolute], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, pkg := range []string{
		"commands/argtext", "commands/code", "commands/git", "commands/known", "commands/table", "commands/wrap",
		"inline", "inline/lex", "shell", "shell/partial",
	} {
		list, err := filepath.Glob("../" + pkg + "/*.go")
		if err != nil || len(list) < 3 {
			t.Fatalf("%s: %d files, %v", pkg, len(list), err)
		}
		list = slices.DeleteFunc(list, func(f string) bool { return strings.HasSuffix(f, "_test.go") || strings.Contains(f, "clock_") })
		for _, f := range list {
			files = append(files, pkg+"/"+filepath.Base(f))
			put(f, withSwitches(t, f, len(files)))
		}
		put("../"+pkg+"/switch.go", []byte("package "+filepath.Base(pkg)+`

import "os"
import "strconv"

var switchedOff, _ = strconv.Atoi(os.Getenv("CORDON_WITHOUT"))
`))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "guard.test")
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-c", "-o", program, "-overlay", filepath.Join(dir, "overlay.json"), ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program, files
}

// withSwitches is a file whose functions return zero values when it is off.
func withSwitches(t *testing.T, path string, number int) []byte {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	at := 0
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var zeros []string
		if f.Type.Results != nil {
			for _, r := range f.Type.Results.List {
				zero := "*new(" + string(source[offset(r.Type.Pos()):offset(r.Type.End())]) + ")"
				zeros = append(zeros, slices.Repeat([]string{zero}, max(1, len(r.Names)))...)
			}
		}
		b.Write(source[at : offset(f.Body.Lbrace)+1])
		at = offset(f.Body.Lbrace) + 1
		fmt.Fprintf(&b, "if switchedOff == %d { return %s };", number, strings.Join(zeros, ", "))
	}
	b.Write(source[at:])
	return b.Bytes()
}
