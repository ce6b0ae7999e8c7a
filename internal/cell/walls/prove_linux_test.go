package walls

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/cell/plan"
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

// An act that has to fail and succeeds ends the launch: nothing else stands between a wall that is missing and a
// worker that runs without it.
func TestProofOfRefusalNeedsARefusal(t *testing.T) {
	const refused = "write outside was not refused"
	open := plan.Spec{Proof: plan.Proof{Outside: filepath.Join(t.TempDir(), "file")}}
	if proven, err := Prove(open, canary{-1}); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("a directory that can be written: proven is %v, %v", proven, err)
	}
	closed := plan.Spec{Proof: plan.Proof{Outside: "/proc/cordon-test"}} // the control: nobody can make that
	if _, err := Prove(closed, canary{-1}); err != nil && strings.Contains(err.Error(), refused) {
		t.Error(err)
	}
}

// A hidden directory may show what was placed in it and what leads there, and no other name.
func TestProofOfHiddenDirectories(t *testing.T) {
	top := t.TempDir()
	placed := []string{filepath.Join(top, "hidden/a/b/tree")}
	for _, dir := range []string{"hidden/a/b/tree/own", "empty"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"hidden", "empty", "absent"} {
		if err := showOnly(placed, filepath.Join(top, dir)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"other", "a/other", "a/b/other"} {
		at := filepath.Join(top, "hidden", name)
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := showOnly(placed, filepath.Join(top, "hidden")); err == nil || !strings.Contains(err.Error(), at+" is seen") {
			t.Errorf("%s: %v", at, err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}
