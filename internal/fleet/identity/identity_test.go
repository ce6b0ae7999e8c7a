package identity

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestOnce: many processes that start at the same time have one key and one certificate, which
// only their user can read.
func TestOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	var all sync.WaitGroup
	var keys, sums [16]string
	for i := range keys {
		all.Go(func() {
			k, err := Key(dir)
			if err != nil {
				t.Error(err)
				return
			}
			if keys[i], err = k.PublicKey(); err != nil {
				t.Error(err)
			}
			c, err := Certificate(dir)
			if err != nil {
				t.Error(err)
				return
			}
			sums[i] = Sum(c)
		})
	}
	all.Wait()
	for i := range keys {
		if keys[i] != keys[0] || sums[i] != sums[0] || keys[i] == "" || sums[i] == "" {
			t.Errorf("%d: %q and %q", i, keys[i], sums[i])
		}
	}
	for _, at := range []string{"", keyFile, certificateFile} {
		fi, err := os.Stat(filepath.Join(dir, at))
		if err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", at, fi.Mode(), err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("there are drafts: %v, %v", list, err)
	}
	other, err := Certificate(t.TempDir())
	if err != nil || Sum(other) == sums[0] {
		t.Errorf("another home has the same certificate: %v", err)
	}
}

// TestRefuses: a file that others can read, that is damaged, or that is a link is an error, and
// stays as it is.
func TestRefuses(t *testing.T) {
	use := map[string]func(string) error{
		keyFile:         func(dir string) error { _, err := Key(dir); return err },
		certificateFile: func(dir string) error { _, err := Certificate(dir); return err },
	}
	for name, use := range use {
		for what, spoil := range map[string]func(t *testing.T, path string){
			"nothing": nil,
			"readable by others": func(t *testing.T, path string) {
				if err := os.Chmod(path, 0o644); err != nil {
					t.Fatal(err)
				}
			},
			"damaged": func(t *testing.T, path string) {
				if err := os.WriteFile(path, []byte("SU"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			"a link": func(t *testing.T, path string) {
				if err := os.Rename(path, path+"-moved"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path+"-moved", path); err != nil {
					t.Fatal(err)
				}
			},
		} {
			t.Run(name+", "+strings.ReplaceAll(what, " ", "-"), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, name)
				if err := use(dir); err != nil {
					t.Fatal(err)
				}
				if spoil != nil {
					spoil(t, path)
				}
				before, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := use(dir); (err == nil) != (spoil == nil) {
					t.Errorf("%v", err)
				}
				if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
					t.Errorf("it was replaced: %v", err)
				}
			})
		}
	}
}
