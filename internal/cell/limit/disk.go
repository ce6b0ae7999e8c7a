package limit

import (
	"errors"
	"os"
	"syscall"
	"time"

	"cordon/internal/cell/plan"
)

// WatchDisk calls over when the directories have grown by more than the limit. It
// rests long enough between two looks not to be felt.
func WatchDisk(l plan.Limits, stop <-chan struct{}, over func()) {
	if l.Disk == 0 || len(l.Watched) == 0 {
		return
	}
	began := time.Now()
	before := occupied(l.Watched)
	for {
		rest := max(500*time.Millisecond, 20*time.Since(began))
		select {
		case <-stop:
			return
		case <-time.After(rest):
		}
		began = time.Now()
		if occupied(l.Watched)-before > l.Disk {
			over()
			return
		}
	}
}

// unknown is more than any limit.
const unknown = 1 << 60

// deepest bounds the directories that are open at once. Nobody needs more levels but to
// hide what is in them.
const deepest = 700

// occupied is what directories take on disk. What vanishes meanwhile counts
// nothing.
func occupied(dirs []string) int64 {
	var total int64
	for _, dir := range dirs {
		if root, err := os.OpenRoot(dir); err == nil {
			total += occupiedIn(root, 0)
		}
	}
	return total
}

// occupiedIn counts one directory and closes it. It goes down from open directories, so
// that no path is too long.
func occupiedIn(dir *os.Root, depth int) int64 {
	defer dir.Close()
	if depth > deepest {
		return unknown
	}
	var total int64
	for _, e := range listed(dir) {
		fi, err := dir.Lstat(e.Name())
		if err != nil {
			continue
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			total += st.Blocks * 512
		}
		if !fi.IsDir() {
			continue
		}
		switch sub, err := dir.OpenRoot(e.Name()); {
		case err == nil:
			total += occupiedIn(sub, depth+1)
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
			total += unknown
		}
	}
	return total
}

func listed(dir *os.Root) []os.DirEntry {
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1) // what cannot be read is not counted
	return entries
}
