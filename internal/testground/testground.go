// Package testground decides which tests of a binary run, and gives them ground of their own: what the
// machine has in its environment, its home or above its directory for temporary files does not change a
// result. It refuses to start tests where it cannot. It is not part of the product.
package testground

import (
	"flag"
	"fmt"
	"os"
)

// M is a test binary's tests.
type M interface{ Run() int }

// Tests are the tests of one package, as TestMain is given them.
type Tests struct {
	M
	Folder string // of the package, such as "cmd/cordon"
	memory bool
}

// Run runs the tests of a package that have the size that CORDON_TESTS asks for, and returns the exit code.
func (t Tests) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	leave, err := t.prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer leave()
	return t.M.Run()
}

// Run is Tests.Run.
func Run(folder string, m M) int { return Tests{M: m, Folder: folder}.Run() }

// RunInMemory is Run for a package that makes many small files and starts no cell, which would not see them: its
// temporary files lie in memory where that is possible. Tests of synced and full disks use Run.
func RunInMemory(folder string, m M) int { return Tests{m, folder, true}.Run() }

func (t Tests) prepare() (leave func(), err error) {
	if err := choose(t.Folder); err != nil {
		return nil, err
	}
	if t.memory && os.Getenv("TMPDIR") == "" {
		return stand(inMemory())
	}
	return stand("")
}
