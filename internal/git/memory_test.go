package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"cordon/internal/gitfile"
)

// recall is a memory that counts what it did not know.
type recall struct {
	known map[string]string
	asked int
}

func (r *recall) memory(_, question string, ask func() (string, error)) (string, error) {
	if answer, ok := r.known[question]; ok {
		return answer, nil
	}
	r.asked++
	answer, err := ask()
	if err == nil {
		r.known[question] = answer
	}
	return answer, err
}

func writeTo(t *testing.T, text string, at ...string) {
	t.Helper()
	path := filepath.Join(at...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// With a memory, git says of every configuration what it says without one, whatever changed.
func TestRememberedSettings(t *testing.T) {
	dir := t.TempDir()
	home, at := filepath.Join(dir, "home"), filepath.Join(dir, "repo")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("GIT_CONFIG_SYSTEM", filepath.Join(dir, "system"))
	writeTo(t, "[core]\n\tpager = one\n", home, ".gitconfig")
	writeTo(t, "[core]\n\thooksPath = here\n[include]\n\tpath = more\n", at, "config")
	writeTo(t, "[alias]\n\tx = !y\n", at, "more")
	writeTo(t, "[core]\n\teditor = e\n", dir, "system")
	r := &recall{known: map[string]string{}}
	same := func(what string) int {
		t.Helper()
		before := r.asked
		bin := find(t)
		bin.known = nil // what this program remembers hides the rest
		every, each, err := bin.Settings(t.Context(), gitfile.PlaceOf("", at))
		every2, each2, err2 := bin.Remembering(r.memory).Settings(t.Context(), gitfile.PlaceOf("", at))
		if err != nil || err2 != nil || !reflect.DeepEqual(every, every2) || !reflect.DeepEqual(each, each2) || len(every) == 0 {
			t.Errorf("%s: %v\n%v\n%v\n%v, %v", what, every, every2, each2, err, err2)
		}
		return r.asked - before
	}
	same("at first")
	if n := same("again"); n != 0 {
		t.Errorf("%d questions were asked again", n)
	}
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"the operator's file", func() { writeTo(t, "[core]\n\tpager = two\n", home, ".gitconfig") }},
		{"a new file of theirs", func() { writeTo(t, "[core]\n\tsshCommand = s\n", home, ".config/git/config") }},
		{"the system's", func() { writeTo(t, "[core]\n\teditor = f\n", dir, "system") }},
		{"a file that the repository includes", func() { writeTo(t, "[alias]\n\tx = !z\n", at, "more") }},
		{"the repository's", func() { writeTo(t, "[core]\n\thooksPath = there\n", at, "config") }},
		{"a link in the place of a file", func() {
			writeTo(t, "[core]\n\tpager = three\n", dir, "elsewhere")
			config := filepath.Join(home, ".gitconfig")
			if err := errors.Join(os.Remove(config), os.Symlink(filepath.Join(dir, "elsewhere"), config)); err != nil {
				t.Fatal(err)
			}
		}},
		{"where the link leads", func() { writeTo(t, "[core]\n\tpager = four\n", dir, "elsewhere") }},
		{"a file less", func() {
			if err := os.Remove(filepath.Join(home, ".gitconfig")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a variable", func() { t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "elsewhere")) }},
		{"variables with settings", func() {
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "core.pager")
			t.Setenv("GIT_CONFIG_VALUE_0", "five")
		}},
	} {
		c.do()
		if n := same(c.what); n == 0 {
			t.Errorf("%s: nothing was asked", c.what)
		}
	}
}

// With a memory, git finds the repository that it finds without one, whatever changed.
func TestRememberedDiscovery(t *testing.T) {
	t.Parallel()
	h, _ := host(t, map[string]string{"sub/deep/a": "1"})
	bin, from := find(t), filepath.Join(h.Top, "sub", "deep")
	r := &recall{known: map[string]string{}}
	same := func(what string) int {
		t.Helper()
		before := r.asked
		want, err := Discover(context.Background(), bin, from)
		got, err2 := Discover(context.Background(), bin.Remembering(r.memory), from)
		want.Repo, got.Repo = Repo{Dir: want.Dir, Format: want.Format}, Repo{Dir: got.Dir, Format: got.Format}
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(want, got) {
			t.Errorf("%s: %+v, %v; without a memory %+v, %v", what, got, err2, want, err)
		}
		return r.asked - before
	}
	if n := same("at first"); n != 1 {
		t.Errorf("%d questions", n)
	}
	if n := same("again"); n != 0 {
		t.Errorf("%d questions were asked again", n)
	}
	sub, top := filepath.Join(h.Top, "sub"), h.Top
	rename := func(old, new string) {
		t.Helper()
		if err := os.Rename(old, new); err != nil {
			t.Fatal(err)
		}
	}
	plain(t, "/", "init", "-q", sub)
	same("a repository between")
	rename(filepath.Join(sub, ".git"), filepath.Join(sub, "gone"))
	same("and gone again")
	writeTo(t, "gitdir: "+filepath.Join(sub, "gone"), sub, ".git")
	same("a file that leads to one")
	rename(filepath.Join(sub, ".git"), filepath.Join(sub, "gone", "file"))
	plain(t, top, "config", "core.worktree", sub)
	same("another tree")
	plain(t, top, "config", "--unset", "core.worktree")
	writeTo(t, "", top, ".git/shallow")
	same("an empty list of what is shallow")
	plain(t, top, "config", "core.bare", "true")
	same("none at all")
	plain(t, top, "config", "core.bare", "false")
	rename(filepath.Join(top, ".git"), filepath.Join(top, "moved"))
	same("no repository")
	if err := os.Symlink(filepath.Join(top, "moved"), filepath.Join(top, ".git")); err != nil {
		t.Fatal(err)
	}
	same("a link to it")
}
