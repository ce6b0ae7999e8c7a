package session_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestSlowPlainTrees runs the tests of this package again, on trees that are plain
// directories.
func TestSlowPlainTrees(t *testing.T) {
	slow(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.skip", "^TestSlowPlainTrees$", "-test.timeout", "10m")
	cmd.Env = append(os.Environ(), "CORDON_TREE=copy")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with CORDON_TREE=copy: %v\n%s", err, out)
	}
}

// slow leaves a test to the slow suites.
func slow(t *testing.T) {
	t.Helper()
	if os.Getenv("CORDON_SLOW") == "" {
		t.Skip("a slow test: set CORDON_SLOW=1")
	}
}
