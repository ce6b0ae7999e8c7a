package lfs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pointerTo(content string) Pointer {
	sum := sha256.Sum256([]byte(content))
	return Pointer{OID: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// TestParse: only the exact text of a pointer is one. Its parts become a path.
func TestParse(t *testing.T) {
	good := pointerTo("content")
	if p, ok := Parse(good.Text()); !ok || p != good {
		t.Fatalf("%q: %v %v", good.Text(), p, ok)
	}
	head, oid := "version https://git-lfs.github.com/spec/v1\n", strings.Repeat("a", 64)
	for _, text := range []string{
		"", head, head + "oid sha256:" + oid + "\n", head + "oid sha256:../../../../etc/passwd\nsize 1\n",
		head + "oid sha256:" + strings.Repeat("a", 63) + "/\nsize 1\n", head + "oid sha256:" + strings.ToUpper(oid) + "\nsize 1\n",
		head + "oid sha256:" + oid + "\nsize -1\n", head + "oid sha256:" + oid + "\nsize 01\n", head + "oid sha256:" + oid + "\nsize 99999999999999999999\n",
		head + "oid sha256:" + oid + "\nsize 1", head + "oid sha256:" + oid + "\nsize 1\n\n", head + "ext-0-x sha256:" + oid + "\noid sha256:" + oid + "\nsize 1\n",
		head + "oid md5:" + oid + "\nsize 1\n", strings.Replace(head, "https", "http", 1) + "oid sha256:" + oid + "\nsize 1\n",
		head + "oid sha256:" + oid + "\nsize 1\n" + strings.Repeat("x", MaxPointer),
	} {
		if p, ok := Parse([]byte(text)); ok {
			t.Errorf("%q was read as %v", text, p)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(pointerTo("x").Text())
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, ok := Parse(text); ok && (!bytes.Equal(p.Text(), text) || len(p.OID) != 64 || strings.ContainsAny(p.OID, "./")) {
			t.Errorf("%q is read as %+v", text, p)
		}
	})
}

func TestClean(t *testing.T) {
	for _, content := range []string{"x", strings.Repeat("y", MaxPointer), strings.Repeat("z", MaxPointer+1), strings.Repeat("w", 1<<20)} {
		if p, given, err := Clean(strings.NewReader(content)); err != nil || given || p != pointerTo(content) {
			t.Errorf("%d bytes: %v %v %v", len(content), p, given, err)
		}
	}
	if p, given, err := Clean(bytes.NewReader(pointerTo("x").Text())); err != nil || !given || p != pointerTo("x") {
		t.Errorf("a pointer: %v %v %v", p, given, err)
	}
	if _, _, err := Clean(strings.NewReader("")); !errors.Is(err, ErrEmpty) {
		t.Errorf("nothing: %v", err)
	}
}

// TestStore: content is what its pointer says, or it is nothing.
func TestStore(t *testing.T) {
	s, p := Store{Dir: filepath.Join(t.TempDir(), "objects")}, pointerTo("content")
	var got bytes.Buffer
	if err := s.Copy(p, &got); !errors.Is(err, ErrAbsent) || s.Has(p) {
		t.Errorf("an empty store: %v", err)
	}
	if err := s.Put(p, strings.NewReader("other")); err == nil || s.Has(p) {
		t.Errorf("other content was stored: %v", err)
	}
	if err := s.Put(p, strings.NewReader("content and more")); err == nil || s.Has(p) {
		t.Errorf("longer content was stored: %v", err)
	}
	if err := s.Put(p, strings.NewReader("content")); err != nil || !s.Has(p) {
		t.Fatalf("content was not stored: %v", err)
	}
	if err := s.Copy(p, &got); err != nil || got.String() != "content" {
		t.Errorf("got %q %v", &got, err)
	}
	other := Store{Dir: filepath.Join(t.TempDir(), "other")}
	if err := s.Send(p, other); err != nil || !other.Has(p) {
		t.Errorf("sent: %v", err)
	}
	at := filepath.Join(s.Dir, p.rel())
	for name, act := range map[string]func() error{
		"damaged": func() error { return os.WriteFile(at, []byte("conteNt"), 0o600) },
		"a link": func() error {
			outside := filepath.Join(t.TempDir(), "secret")
			return errors.Join(os.Remove(at), os.WriteFile(outside, []byte("content"), 0o600), os.Symlink(outside, at))
		},
		"a directory": func() error { return errors.Join(os.Remove(at), os.Mkdir(at, 0o700)) },
	} {
		if err := act(); err != nil {
			t.Fatal(name, err)
		}
		if err := s.Copy(p, &got); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(p, strings.NewReader("content")); err != nil {
			t.Fatal(err)
		}
	}
}
