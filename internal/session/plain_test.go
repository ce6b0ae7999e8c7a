package session_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestPlainTrees runs the tests of this package again, on trees that are plain
// directories.
func TestPlainTrees(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.skip", "^TestPlainTrees$", "-test.timeout", "10m")
	cmd.Env = append(os.Environ(), "CORDON_TREE=copy")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with CORDON_TREE=copy: %v\n%s", err, out)
	}
}
