package plainfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/plainfile"
)

// A directory is listed as a whole, or not at all.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	const many = 3*plainfile.Batch + 7
	if err := os.WriteFile(filepath.Join(dir, "0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < many; i++ {
		if err := os.Link(filepath.Join(dir, "0"), filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]error{many: nil, many + 1: nil, many - 1: plainfile.ErrMany, 0: plainfile.ErrMany} {
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		names, err := plainfile.Names(f, most)
		f.Close()
		if !errors.Is(err, want) || err == nil && len(names) != many || err != nil && names != nil {
			t.Errorf("at most %d: %d names, %v", most, len(names), err)
		}
	}
}
