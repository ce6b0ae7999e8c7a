package journal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFollow follows a journal to which other processes append, and wants each event once.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := open(t, dir).Follow(ctx, Mark{})
	if list, err := f.More(); len(list) > 0 || err != nil {
		t.Fatalf("an empty journal has %v, %v", list, err)
	}
	var crowd []*exec.Cmd
	for range 2 {
		cmd := actor(t, "crowd", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, cmd)
	}
	var got []Event
	for len(got) < 2*crowdGoroutines*crowdEvents {
		list, err := f.Next()
		got = append(got, must(t, list, err)...)
	}
	for _, cmd := range crowd {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, got, all(t, dir))
	cancel()
	if _, err := f.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not end with its context: %v", err)
	}
}

// more is what a follower has to say now.
func more(t *testing.T, f *Follower) []Event {
	t.Helper()
	list, err := f.More()
	return must(t, list, err)
}

// TestFollowResumes begins after each event in turn, and goes on.
func TestFollowResumes(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	sample(t, dir, 6)
	events := all(t, dir)
	var followers []*Follower
	for n := range len(events) + 1 {
		mark := Mark{}
		if n > 0 {
			mark = Mark{events[n-1].Seq, events[n-1].Hash}
		}
		f := open(t, dir).Follow(t.Context(), mark)
		equal(t, more(t, f), events[n:])
		followers = append(followers, f)
	}
	next := add(t, open(t, dir), "test.more", nil)
	for _, f := range followers {
		equal(t, more(t, f), []Event{next})
		equal(t, more(t, f), nil)
	}
	for _, mark := range []Mark{{3, events[4].Hash}, {99, ""}} {
		if list, err := open(t, dir).Follow(t.Context(), mark).More(); !errors.Is(err, ErrReplaced) {
			t.Errorf("after %v it goes on with %v, %v", mark, list, err)
		}
	}
	equal(t, more(t, open(t, dir).Follow(t.Context(), Mark{Seq: 6})), []Event{next})
}

// TestFollowTorn has an append die in the middle: the next one writes a new file, and nothing
// is told twice.
func TestFollowTorn(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	lines := sample(t, dir, 4)
	f := open(t, dir).Follow(t.Context(), Mark{})
	equal(t, more(t, f), all(t, dir))
	put(t, dir, File, append(get(t, dir, File), lines[3][:20]...))
	equal(t, more(t, f), nil)
	add(t, open(t, dir), "test.more", nil)
	got := more(t, f)
	if len(got) != 2 || got[0].Type != Repaired || got[1].Type != "test.more" {
		t.Errorf("after the repair it tells %+v", got)
	}
}

// TestFollowWaitsForTheHead tells no event before it is certain to stay.
func TestFollowWaitsForTheHead(t *testing.T) {
	t.Parallel()
	dir := memoryDir(t)
	sample(t, dir, 3)
	f := open(t, dir).Follow(t.Context(), Mark{})
	more(t, f)
	head := get(t, dir, HeadFile)
	add(t, open(t, dir), "test.more", nil)
	after := get(t, dir, HeadFile)
	put(t, dir, HeadFile, head)
	equal(t, more(t, f), nil)
	put(t, dir, HeadFile, after)
	equal(t, more(t, f), all(t, dir)[3:])
}

// TestFollowDamage wants a follower to refuse what a reader refuses.
func TestFollowDamage(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, dir string, lines []string){
		"cut": func(t *testing.T, dir string, lines []string) { put(t, dir, File, []byte(strings.Join(lines[:4], ""))) },
		"cut in a line": func(t *testing.T, dir string, lines []string) {
			put(t, dir, File, []byte(strings.Join(lines[:4], "")+lines[4][:9]))
		},
		"emptied": func(t *testing.T, dir string, _ []string) { put(t, dir, File, nil) },
		"changed after it": func(t *testing.T, dir string, lines []string) {
			put(t, dir, File, []byte(strings.Join(lines[:5], "")+strings.Replace(lines[5], "test", "tost", 1)))
		},
		"without its head": func(t *testing.T, dir string, _ []string) { remove(t, dir, HeadFile) },
		"without events":   func(t *testing.T, dir string, _ []string) { remove(t, dir, File) },
		"with a bad head":  func(t *testing.T, dir string, _ []string) { put(t, dir, HeadFile, []byte("{}\n")) },
	} {
		dir := memoryDir(t)
		sample(t, dir, 5)
		f := open(t, dir).Follow(t.Context(), Mark{})
		equal(t, more(t, f), all(t, dir))
		add(t, open(t, dir), "test.more", nil)
		harm(t, dir, strings.SplitAfter(string(get(t, dir, File)), "\n")[:6])
		list, err := f.More()
		if _, damaged := errors.AsType[*Corruption](err); !damaged || len(list) > 0 {
			t.Errorf("%s: it goes on with %v, %v", name, list, err)
		}
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestFollowReplaced puts another sound journal in the place of the one that was followed.
func TestFollowReplaced(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"longer": 9, "as long": 5, "shorter": 2} {
		dir, other := memoryDir(t), memoryDir(t)
		sample(t, dir, 5)
		f := open(t, dir).Follow(t.Context(), Mark{})
		more(t, f)
		sample(t, other, n)
		for _, file := range []string{File, HeadFile} {
			if err := os.Rename(filepath.Join(other, file), filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if list, err := f.More(); !errors.Is(err, ErrReplaced) {
				t.Errorf("%s: it goes on with %v, %v", name, list, err)
			}
		}
	}
}
