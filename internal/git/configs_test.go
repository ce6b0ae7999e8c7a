package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/gitfile"
)

// Many repositories are read together as each would be read alone: git's own listing says
// how. What git cannot read there says nothing and spoils nothing else, and nothing waits.
func TestSettingsOfManyPlaces(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	texts := []string{
		"[core]\n\thooksPath = a b \\\n", "\xef\xbb\xbf[core]\n\thooksPath = bom\n", "[core]\r\n\thooksPath = \"crlf # x\" ; y\r\n",
		"file = 0\n[core]\n\thooksPath = no section\n", "[core\n", "[core]\n\tbare\n\thooksPath = \"open\n", "[alias \"a.b\"]\n\tX = !c\\td\n[core]\n\thooksPath = last",
		"[include]\n\tpath = ../more\n[core]\n\thooksPath = first\n", "",
	}
	var places []Place
	for i, text := range texts {
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "config"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		places = append(places, gitfile.PlaceOf("", at))
	}
	if err := os.WriteFile(filepath.Join(dir, "more"), []byte("[core]\n\tpager = included\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "8", "config.worktree"), 0o644); err != nil {
		t.Fatal(err)
	}
	bin, err := Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, each, err := bin.Settings(context.Background(), places...)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range places {
		file := filepath.Join(p.GitDir, "config")
		out, err := bin.run(context.Background(), call{args: []string{"config", "--includes", "-z", "--list", "--file", file}})
		want := lines(out)
		if err != nil {
			want = nil
		}
		var got []string
		for _, s := range each[i] {
			if s.Key != filesKey && s.Key != "none.file" {
				got = append(got, s.Key+"\n"+s.Value)
			}
		}
		for j, s := range want {
			if s == "core.bare" {
				want[j] += "\n" // no value
			}
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) && i != 3 {
			t.Errorf("%q: %q, want %q", texts[i], got, want)
		}
		if i == 3 && len(got) != 1 { // git does not read it; whatever is read of it is its own
			t.Errorf("%q: %q", texts[i], got)
		}
	}
}
