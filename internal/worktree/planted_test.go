package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// plantAt makes a git directory whose configuration runs a program.
func plantAt(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tfsmonitor = touch PWNED\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A directory is read in batches. Whatever is planted in it is found in all of them, and
// what is moved away meanwhile does not hide the rest.
func TestSweepReadsDirectoriesInBatches(t *testing.T) {
	top, aside := t.TempDir(), filepath.Join(t.TempDir(), "aside")
	var want []string
	for i := range 3*batch + 7 {
		p := filepath.Join(top, fmt.Sprintf("d%04d", i))
		if i%100 != 0 {
			if err := os.WriteFile(p, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		plantAt(t, filepath.Join(p, ".git"))
		plantAt(t, filepath.Join(p, "bare"))
		want = append(want, filepath.Join(p, ".git"), filepath.Join(p, "bare", "HEAD"))
	}
	plantAt(t, top) // its four names lie somewhere between the others
	want = append(want, filepath.Join(top, "HEAD"))

	s := Sweep{Aside: aside}
	s.Directory(top)
	var got []string
	for _, m := range s.Moved {
		got = append(got, m.From)
		if _, err := os.Lstat(m.From); err == nil {
			t.Errorf("%s is still there", m.From)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(s.Blind) > 0 {
		t.Errorf("%d of %d planted repositories were disarmed; blind: %v\n%v", len(got), len(want), s.Blind, got)
	}
}

// A command can plant more than anybody reads about. Each is moved, and few are listed: the
// time and the memory of a sweep do not grow with the square of their number.
func TestSweepListsFew(t *testing.T) {
	top, aside := t.TempDir(), filepath.Join(t.TempDir(), "aside")
	const many = 2*sweepListed + 3
	for i := range many {
		p := filepath.Join(top, fmt.Sprintf("d%04d", i))
		if err := errors.Join(os.Mkdir(p, 0o755), os.Symlink("x", filepath.Join(p, ".git"))); err != nil {
			t.Fatal(err)
		}
	}
	s := Sweep{Aside: aside}
	s.Directory(top)
	kept, err := os.ReadDir(aside)
	if err != nil || len(kept) != many || len(s.Moved) != sweepListed || s.MoreMoved != many-sweepListed || len(s.Blind)+s.MoreBlind > 0 {
		t.Errorf("%d of %d are kept, %d listed and %d more, blind %v: %v", len(kept), many, len(s.Moved), s.MoreMoved, s.Blind, err)
	}
}

// The settings of the operator's are compared with a bounded number of new repositories. What
// comes after them is moved aside.
func TestSweepLooksAtFewHarmless(t *testing.T) {
	top, aside := t.TempDir(), filepath.Join(t.TempDir(), "aside")
	for i := range sweepHarmless + 5 {
		if err := os.MkdirAll(filepath.Join(top, fmt.Sprint(i), ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	s := Sweep{Aside: aside, Obeyed: func(string) string { asked++; return "" }}
	s.Directory(top)
	if asked != sweepHarmless || len(s.Moved) != 5 {
		t.Errorf("%d were compared, and %d moved", asked, len(s.Moved))
	}
}
