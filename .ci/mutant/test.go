package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordon/internal/testground"
	"cordon/internal/testwait"
)

type result int

const (
	unknown  result = iota // nothing ran, or it was skipped, or not built: neither a pass nor a catch
	passed                 // the named test ran and passed
	failed                 // a test failed
	timedOut               // it failed because its time was over
)

type outcome struct {
	result result
	by     string // the deepest test that failed first
	said   string // the end of the output
}

// timeout bounds one test; the tests of a package that run together have it for each of them. A test that waits in
// vain fails before.
const timeout = testwait.Bound + 2*time.Minute

// build compiles the package of a mutant, so that code that does not compile is not mistaken for a catch.
func build(ctx context.Context, dir, overlay string) (string, error) {
	command := exec.CommandContext(ctx, "go", "build", dir)
	command.Env = environment(testground.Fast, overlay)
	if main, _ := exec.CommandContext(ctx, "go", "list", "-f", "{{.Name}}", dir).Output(); strings.TrimSpace(string(main)) == "main" {
		command.Args = []string{"go", "vet", dir} // go build would leave a program behind
	}
	out, err := command.CombinedOutput()
	return string(out), err
}

func environment(size testground.Size, overlay string) []string {
	var env []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		switch name {
		case "GOFLAGS", "CORDON_TESTS": // set below
		case "CORDON_ESCAPE_PROGRAM": // a cordon without the mutant
		default:
			env = append(env, variable)
		}
	}
	goflags := os.Getenv("GOFLAGS")
	if overlay != "" {
		goflags += " -overlay=" + overlay
	}
	return append(env, "CORDON_TESTS="+string(size), "GOFLAGS="+strings.TrimSpace(goflags))
}

// runTest runs one test, on the unchanged tree if there is no overlay.
func runTest(ctx context.Context, t test, overlay string) outcome {
	return runTests(ctx, []test{t}, overlay)[t]
}

// runTests runs tests of one package and size.
func runTests(ctx context.Context, tests []test, overlay string) map[test]outcome {
	var patterns []string
	for _, t := range tests {
		patterns = append(patterns, pattern(t.name))
	}
	one := tests[0]
	args := []string{"test", "-json", "-count=1", "-timeout", (timeout * time.Duration(len(tests))).String(), "-run", strings.Join(patterns, "|"), one.pkg}
	if larger := partsBeyond(one); larger != "" {
		args = append(args[:len(args)-1], "-skip", larger, one.pkg)
	}
	if drawsCases(one.pkg) {
		args = append(args, "-rapid.nofailfile") // it would write into the tree
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = environment(one.size, overlay)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, _ := command.Output() // what failed stands in the events
	got := map[test]outcome{}
	for _, t := range tests {
		got[t] = outcome{said: "interrupted"}
		if ctx.Err() == nil {
			got[t] = read(out, t, stderr.String())
		}
	}
	return got
}

// runControls runs the tests of the mutants on the unchanged tree, those of a package together.
func runControls(ctx context.Context, chosen []*mutant, size string) map[test]outcome {
	together := map[test][]test{} // by package and size
	all := map[test]outcome{}
	for _, m := range chosen {
		t := m.test
		if _, known := all[t]; known || size == "fast" && !t.fast() {
			continue
		}
		all[t] = outcome{}
		group := test{pkg: t.pkg, size: t.size}
		together[group] = append(together[group], t)
	}
	for _, tests := range together {
		maps.Copy(all, runTests(ctx, tests, ""))
	}
	return all
}

// pattern matches one test in the form of -run.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// partsBeyond matches the parts of fast tests that are not fast: a test binary runs all parts of a test that
// -run names.
func partsBeyond(t test) string {
	rows, err := testground.Rows()
	if err != nil || !t.fast() { // readMutants has read them
		return ""
	}
	var larger []string
	for _, r := range rows {
		if "./"+r.Folder == t.pkg {
			larger = append(larger, pattern(r.Test))
		}
	}
	return strings.Join(larger, "|")
}

// drawsCases reports whether the tests of a package use rapid, which keeps the cases that failed in testdata.
func drawsCases(pkg string) bool {
	files, _ := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && bytes.Contains(text, []byte(`"pgregory.net/rapid"`))
	})
}

// read finds in the events of go test what became of a test.
func read(events []byte, t test, stderr string) outcome {
	var got outcome
	said := strings.Split(stderr, "\n")
	scan := bufio.NewScanner(bytes.NewReader(events))
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(scan.Bytes(), &event) != nil {
			continue
		}
		said = append(said, strings.TrimRight(event.Output, "\n"))
		switch {
		case strings.HasPrefix(event.Output, "panic: test timed out"):
			got.result = timedOut
		case event.Action == "fail" && event.Test != "":
			if got.result != timedOut {
				got.result = failed
			}
			if got.by == "" {
				got.by = event.Test
			}
		case event.Action == "pass" && event.Test == t.name && got.result == unknown:
			got.result = passed
		case event.Action == "skip" && event.Test == t.name:
			said = append(said, fmt.Sprintf("%s was skipped", t))
		}
	}
	if len(said) > 40 {
		said = said[len(said)-40:]
	}
	got.said = strings.Join(said, "\n")
	if got.result == unknown {
		got.said += fmt.Sprintf("\n%s did not run to its end", t)
	}
	return got
}
