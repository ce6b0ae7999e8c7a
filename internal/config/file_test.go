package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// place makes a configuration directory that only the owner can write.
func place(t *testing.T) (dir, file string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "etc", "cordon")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(dir))
	return dir, filepath.Join(dir, Name)
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

func repository(t *testing.T, gitDir string) {
	t.Helper()
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(gitDir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(gitDir, "HEAD"), "ref: refs/heads/main\n", 0o644)
}

func TestLoad(t *testing.T) {
	_, file := place(t)
	l, err := Load()
	if err != nil || l.There || l.File != file || l.Land.As != AsPolicy {
		t.Fatalf("without a file: %+v, %v", l, err)
	}
	write(t, file, "land: {as: history}\n", 0o644)
	l, err = Load()
	if err != nil || !l.There || l.Land.As != History {
		t.Fatalf("%+v, %v", l, err)
	}
	t.Setenv("XDG_CONFIG_HOME", "relative")
	if _, err := Load(); err == nil || !strings.Contains(err.Error(), "absolute path") {
		t.Errorf("a relative place: %v", err)
	}
}

// Each way in which somebody else could write the file is refused. TestLoad is the control.
func TestForeignFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, file string)
		want  string
	}{
		"others can write it":         {func(t *testing.T, dir, file string) { write(t, file, "{}", 0o646) }, "others can write it (chmod go-w "},
		"the group can write it":      {func(t *testing.T, dir, file string) { write(t, file, "{}", 0o664) }, "others can write it (chmod go-w "},
		"others can write its folder": {func(t *testing.T, dir, file string) { chmod(t, dir, 0o777) }, "cordon: your configuration is not used: others can write it"},
		"and the one above":           {func(t *testing.T, dir, file string) { chmod(t, filepath.Dir(dir), 0o777) }, "etc: your configuration is not used: others can write it"},
		"in a worktree": {func(t *testing.T, dir, file string) {
			repository(t, filepath.Join(filepath.Dir(dir), "apart"))
			write(t, filepath.Join(filepath.Dir(dir), ".git"), "gitdir: apart", 0o644)
		}, "it lies inside the repository "},
		"in a bare repository": {func(t *testing.T, dir, file string) {
			repository(t, dir)
		}, "it lies inside the repository "},
		"a link into a worktree": {func(t *testing.T, dir, file string) {
			tree := filepath.Join(filepath.Dir(filepath.Dir(dir)), "dotfiles")
			repository(t, filepath.Join(tree, ".git"))
			write(t, filepath.Join(tree, "c"), "{}", 0o644)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(tree, "c"), file); err != nil {
				t.Fatal(err)
			}
		}, "it lies inside the repository "},
		"a link in a folder that others can write": {func(t *testing.T, dir, file string) {
			elsewhere := filepath.Join(filepath.Dir(filepath.Dir(dir)), "c")
			if err := os.Rename(file, elsewhere); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, file); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(); err != nil {
				t.Fatalf("the control, a link: %v", err)
			}
			chmod(t, dir, 0o777)
		}, "cordon: your configuration is not used: others can write it"},
		"a link to nothing": {func(t *testing.T, dir, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("nowhere", file); err != nil {
				t.Fatal(err)
			}
		}, "nowhere"},
		"a directory": {func(t *testing.T, dir, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, file := place(t)
			write(t, file, "{}", 0o644)
			if _, err := Load(); err != nil {
				t.Fatalf("before: %v", err)
			}
			c.spoil(t, dir, file)
			if l, err := Load(); err == nil || !strings.Contains(err.Error(), c.want) || l.Version != 0 {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestSecret(t *testing.T) {
	dir, file := place(t)
	write(t, file, "notify: {webhook: {url: 'https://example.com/', secret: k}}", 0o644)
	write(t, filepath.Join(dir, "k"), "hush", 0o600)
	l, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := l.Secret(); err != nil || string(text) != "hush" {
		t.Errorf("%q, %v", text, err)
	}
	chmod(t, filepath.Join(dir, "k"), 0o644)
	if _, err := l.Secret(); err == nil || !strings.Contains(err.Error(), "others can read it") {
		t.Error(err)
	}
}
