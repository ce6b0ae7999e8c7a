package plainfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/plainfile"
)

// Everything that has a name and is not a regular file is refused, at once.
func TestOtherKinds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("text"), 0o600),
		os.Symlink("file", at("link")),
		os.Symlink("pipe", at("linked-pipe")),
		syscall.Mkfifo(at("pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path           string
		strict, linked error
	}{
		{at("file"), nil, nil},
		{at("link"), plainfile.ErrKind, nil},
		{at("pipe"), plainfile.ErrKind, plainfile.ErrKind},
		{at("linked-pipe"), plainfile.ErrKind, plainfile.ErrKind},
		{dir, plainfile.ErrKind, plainfile.ErrKind},
		{"/dev/zero", plainfile.ErrKind, plainfile.ErrKind},
		{at("none"), fs.ErrNotExist, fs.ErrNotExist},
	} {
		expect(t, c.path, plainfile.Read, c.strict)
		expect(t, c.path, plainfile.ReadLinked, c.linked)
	}
}

func expect(t *testing.T, path string, read func(string, int64) ([]byte, error), want error) {
	t.Helper()
	text, err := read(path, plainfile.Line)
	if !errors.Is(err, want) || err == nil && string(text) != "text" || err != nil && text != nil {
		t.Errorf("%s: %q, %v; want %v", path, text, err, want)
	}
}

func TestReadIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := plainfile.Read(name, 100); err != nil || len(b) != 100 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := plainfile.Read(name, 99); err == nil || b != nil || !strings.Contains(err.Error(), "larger than 99 bytes") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
