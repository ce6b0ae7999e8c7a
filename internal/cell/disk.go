package cell

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// watchDisk calls over when the directories have grown by more than the limit. It
// rests long enough between two looks not to be felt.
func watchDisk(l Limits, stop <-chan struct{}, over func()) {
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

// occupied is what directories take on disk. What vanishes meanwhile counts
// nothing.
func occupied(dirs []string) int64 {
	var total int64
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if errors.Is(err, syscall.ENAMETOOLONG) {
				total += unknown // nobody needs such a path but to hide what is in it
			}
			if err != nil {
				return nil
			}
			fi, err := e.Info()
			if err != nil {
				return nil
			}
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				total += st.Blocks * 512
			}
			return nil
		})
	}
	return total
}
