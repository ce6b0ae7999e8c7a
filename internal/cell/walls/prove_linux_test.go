package walls

import (
	"errors"
	"os"
	"testing"
)

// A directory in which nothing can be made is no proof that the worker can write, also
// where the kernel says "not found", as it does in /proc.
func TestProofOfWritingNeedsAWrite(t *testing.T) {
	if err := os.Mkdir("/proc/cordon-test", 0o700); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the control: %v", err)
	}
	if err := writeInside("/proc"); err == nil {
		t.Error("writing in /proc was proven")
	}
	if err := writeInside(t.TempDir()); err != nil {
		t.Error(err)
	}
}
