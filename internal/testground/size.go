package testground

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Size says when a test runs.
type Size string

const (
	Fast   Size = ""       // go test ./...
	Change Size = "change" // .ci/run: for every change
	Full   Size = "full"   // .ci/full: before an issue is resolved
)

// Wanted is the size that this run asks for.
func Wanted() Size { return Size(os.Getenv("CORDON_TESTS")) }

// sizes.txt lists each test that is not fast: the folder of its package, its name, its size.
//
//go:embed sizes.txt
var sizes string

// Row is a line of sizes.txt.
type Row struct {
	Folder, Test string // Test may name a subtest: TestScripts/queue
	Size         Size
}

// Rows reads sizes.txt.
func Rows() ([]Row, error) {
	var rows []Row
	for n, line := range strings.Split(sizes, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 3 || Size(f[2]) != Change && Size(f[2]) != Full {
			return nil, fmt.Errorf("sizes.txt:%d: want a folder, a test, and change or full, not %q", n+1, line)
		}
		rows = append(rows, Row{f[0], f[1], Size(f[2])})
	}
	return rows, nil
}

// choose sets what the flags -run and -skip of a test binary leave open. Without CORDON_TESTS, tests run
// that are fast, or that -run names. With it, those of this size and of the sizes below but the fast ones.
func choose(folder string) error {
	wanted := Wanted()
	if wanted != Fast && wanted != Change && wanted != Full {
		return fmt.Errorf("CORDON_TESTS is %q: want change or full, or nothing", wanted)
	}
	rows, err := Rows()
	if err != nil {
		return err
	}
	named := flag.Lookup("test.run").Value.String() != ""
	var run, skip []string
	for _, r := range rows {
		switch {
		case r.Folder != folder:
		case wanted == Fast && named:
		case wanted == Fast, wanted == Change && r.Size == Full:
			skip = append(skip, pattern(r.Test))
		case !named:
			run = append(run, pattern(r.Test))
		}
	}
	if wanted != Fast && !named {
		run = append(run, "^$") // none is not all
		if err := flag.Set("test.run", strings.Join(run, "|")); err != nil {
			return err
		}
	}
	if given := flag.Lookup("test.skip").Value.String(); given != "" {
		skip = append(skip, given)
	}
	return flag.Set("test.skip", strings.Join(skip, "|"))
}

// pattern matches one test, which may be a subtest, in the form of -run.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
