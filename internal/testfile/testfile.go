// Package testfile writes and reads files for tests, which end when that fails, and mounts a
// disk for those that need one. It is not part of the product.
package testfile

import (
	"os"
	"path/filepath"
)

// T is a test. Package testing itself is for test files alone.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Write writes a file, with the directories above it.
func Write(t T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns what a file holds.
func Read(t T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
