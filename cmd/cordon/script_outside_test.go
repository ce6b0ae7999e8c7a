package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// A script's own directory lies in /tmp, and a cell has another /tmp. What is to
// be outside of everything that a worker may write has to lie elsewhere.
var outsidePlaces = []string{"/srv", "/opt", "/var/lib", "/mnt"}

// outsideDir makes a directory outside.
func outsideDir() (string, error) {
	for _, place := range append([]string{os.Getenv("CORDON_TEST_PLACE")}, outsidePlaces...) {
		if place == "" {
			continue
		}
		if dir, err := os.MkdirTemp(place, "cordon-test-"); err == nil {
			return dir, os.Chmod(dir, 0o755)
		}
	}
	return "", fmt.Errorf("none of %v can be written", outsidePlaces)
}

// scriptCondition knows [outside]: there is a place for the command of that name.
func scriptCondition(name string) (bool, error) {
	switch name {
	case "outside":
	case "home":
		dir, err := homeDir()
		return err == nil, os.RemoveAll(dir)
	case "root":
		return os.Geteuid() == 0, nil
	case "unshare": // it is there, and may be used
		return exec.Command("unshare", "-rm", "true").Run() == nil, nil
	default:
		return false, fmt.Errorf("unknown condition %q", name)
	}
	dir, err := outsideDir()
	if err != nil {
		return false, nil
	}
	return true, os.Remove(dir)
}

// outside sets OUTSIDE to a directory outside, which is gone after the script.
func scriptOutside(ts *testscript.TestScript, neg bool, args []string) {
	dir, err := outsideDir()
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	ts.Setenv("OUTSIDE", dir)
}

// homeDir makes a directory where homes are: in /home, or in the home that this user
// has there.
func homeDir() (string, error) {
	dir, err := os.MkdirTemp("/home", "cordon-test-")
	if own := os.Getenv("HOME"); err != nil && strings.HasPrefix(own, "/home/") {
		return os.MkdirTemp(own, "cordon-test-")
	}
	return dir, err
}

// home sets HOME to a directory where homes are, which is gone after the script.
func scriptHome(ts *testscript.TestScript, neg bool, args []string) {
	dir, err := homeDir()
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	ts.Setenv("HOME", dir)
}
