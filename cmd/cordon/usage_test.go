package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// occupied is what a directory takes on disk, each file once.
func occupied(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	seen := map[uint64]bool{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if errors.Is(err, os.ErrPermission) {
			return nil // the kernel's own, in a layer
		}
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		if st := fi.Sys().(*syscall.Stat_t); !seen[st.Ino] {
			seen[st.Ino] = true
			bytes += st.Blocks * 512
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestDiskOfAWorker wants what cordon ls says that a worker takes to be what it
// occupies: holes and the files that it shares with others are not its own.
func TestDiskOfAWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("repo/docs/large", strings.Repeat("large\n", 1<<18))
	s.git("add", ".")
	s.git("commit", "-q", "-m", "large")
	s.cordon([]int{0}, "run", "--no-merge", "--write", "src", "--", "sh", "-c",
		`head -c 3000000 /dev/urandom >src/new; truncate -s 10M src/hole
		head -c 500000 /dev/urandom >"$HOME/.filler"; ln "$HOME/.filler" "$HOME/.again"; truncate -s 50M "$HOME/.hole"; cat docs/large >/dev/null`)
	w := s.only()
	want := occupied(t, filepath.Join(filepath.Dir(s.stateEntries("layers")[0]), w.Worker)) +
		occupied(t, filepath.Join(filepath.Dir(s.stateEntries("history")[0]), w.Worker))
	if w.Kind == "copy" {
		want += occupied(t, w.Tree) + occupied(t, filepath.Join(filepath.Dir(s.stateEntries("shadow")[0]), w.Worker))
	}
	if near := int64(512 << 10); w.Disk < want-near || w.Disk > want+near {
		t.Errorf("cordon ls --json says %d, it takes %d", w.Disk, want)
	}
	if w.Disk < 3_500_000 || w.Disk > 10_000_000 {
		t.Errorf("%d: it wrote 3.5 million bytes", w.Disk)
	}
	if w.Kind == "overlay" && w.Disk > 4_500_000 {
		t.Errorf("%d: that is more than it wrote: the base is not its own", w.Disk)
	}
	if o := s.cordon([]int{0}, "show", w.Worker); !strings.Contains(o.out, " MB") && !strings.Contains(o.out, " MiB") {
		t.Errorf("%s", o.out)
	}
	// A list looks at the files of a worker that rests once, and show looks each time.
	if err := os.WriteFile(filepath.Join(w.Tree, "src/more"), []byte(strings.Repeat("more\n", 1<<19)), 0o600); err != nil {
		t.Fatal(err)
	}
	if now := s.only(); now.Disk != w.Disk {
		t.Errorf("cordon ls --json says %d, and said %d: it looked again", now.Disk, w.Disk)
	}
	var now worker
	if s.parse(s.cordon([]int{0}, "show", "--json", w.Worker).out, &now); now.Disk < w.Disk+2_000_000 {
		t.Errorf("cordon show --json says %d: it did not look again", now.Disk)
	}
	s.cordon([]int{0}, "discard", "--yes", w.Worker)
	if now := s.only(); now.Disk >= w.Disk {
		t.Errorf("cordon ls --json says %d of a worker whose files are gone", now.Disk)
	}
}
