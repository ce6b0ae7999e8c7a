package unpacked

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/state"
)

const name = "toy-1.2.3-0123456789ab"

func newStore(t *testing.T) Store {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	at := filepath.Join(t.TempDir(), "repo")
	d, err := state.For(git.Host{Repo: git.Repo{Dir: filepath.Join(at, ".git")}, Top: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"unpacked", "trash"} {
		if err := os.MkdirAll(filepath.Join(d.Path(), part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return Store{d}
}

// filled is a fill that counts how often it is asked.
func filled(t *testing.T, n *int) func(string) error {
	return func(dir string) error {
		*n++
		return os.WriteFile(filepath.Join(dir, "program"), []byte("code"), 0o755)
	}
}

func (s Store) used(t *testing.T, n *int) (string, func()) {
	t.Helper()
	dir, release, err := s.Use(context.Background(), name, filled(t, n))
	if err != nil {
		t.Fatal(err)
	}
	return dir, release
}

// Files are made once, and again as soon as one of them is not what was made.
func TestOnce(t *testing.T) {
	s, n := newStore(t), 0
	dir, release := s.used(t, &n)
	release()
	program := filepath.Join(dir, "program")
	for i, damage := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(program, []byte("evil"), 0o755) },
		func() error { return os.Chmod(program, 0o777) },
		func() error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o600) },
		func() error { return os.Remove(program) },
		func() error { return os.Remove(filepath.Join(filepath.Dir(dir), recordFile)) },
		func() error { return os.WriteFile(filepath.Join(filepath.Dir(dir), recordFile), []byte("{}"), 0o600) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		want := n + 1
		if i == 0 {
			want = n
		}
		_, release := s.used(t, &n)
		release()
		if text, err := os.ReadFile(program); n != want || err != nil || string(text) != "code" {
			t.Errorf("damage %d: made %d times, want %d; the program is %q, %v", i, n, want, text, err)
		}
	}
}

// What could not be made is not there, and neither is what has a strange name.
func TestFailed(t *testing.T) {
	s, broken := newStore(t), errors.New("it fell over")
	if _, _, err := s.Use(context.Background(), name, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if kept, err := s.List(); len(kept) > 0 || err != nil {
		t.Errorf("%+v %v", kept, err)
	}
	for _, strange := range []string{"", "..", "a/b-1.2.3-00", "../toy-1.2.3-00", name + ".new"} {
		if _, _, err := s.Use(context.Background(), strange, func(string) error { return nil }); err == nil {
			t.Errorf("%q was taken", strange)
		}
	}
}

// What somebody uses stays.
func TestRemove(t *testing.T) {
	s, n := newStore(t), 0
	dir, release := s.used(t, &n)
	kept, err := s.List()
	if err != nil || len(kept) != 1 || !kept[0].Held || kept[0].Of != "toy" || kept[0].Bytes == 0 {
		t.Fatalf("%+v %v", kept, err)
	}
	if err := s.Remove(kept[0], time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error("it was removed under its user")
	}
	release()
	if err := s.Remove(kept[0], time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
	half := s.State.Unpacked(name + unfinished)
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if kept, err = s.List(); err != nil || len(kept) != 1 || !kept[0].Unfinished() || kept[0].Held {
		t.Fatalf("%+v %v", kept, err)
	}
	if err := s.Remove(kept[0], time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("what was left unfinished is still there")
	}
}
