package companion

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	self, beside, onPath := filepath.Join(dir, "bin", "cordon"), filepath.Join(dir, "bin", "cordon-x"), filepath.Join(dir, "path", "cordon-x")
	t.Setenv("PATH", filepath.Dir(onPath))
	put := func(file string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	find := func(written ...string) string {
		at, err := Find(self, "cordon-x", written)
		if err != nil {
			return err.Error()
		}
		return at
	}
	put(self, 0o755)
	if got := find(); !strings.Contains(got, "neither beside") {
		t.Errorf("nowhere: %s", got)
	}
	put(onPath, 0o755)
	if got := find(); got != onPath {
		t.Errorf("on PATH: %s", got)
	}
	if got := find(filepath.Dir(onPath)); !strings.Contains(got, "workers can write there") {
		t.Errorf("on PATH, where workers write: %s", got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Dir(onPath), link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", link)
	if got := find(filepath.Dir(onPath)); !strings.Contains(got, "workers can write there") {
		t.Errorf("behind a link: %s", got)
	}
	put(beside, 0o644)
	if got := find(); got != filepath.Join(link, "cordon-x") {
		t.Errorf("what lies beside cannot be executed: %s", got)
	}
	put(beside, 0o755)
	if err := os.Chmod(beside, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := find(); got != beside {
		t.Errorf("beside: %s", got)
	}
}
