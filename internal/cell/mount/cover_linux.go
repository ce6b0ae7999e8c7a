package mount

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// coverEvery is how often the entries that are mounted over are looked at.
const coverEvery = 200 * time.Millisecond

// WatchCovers tells when something that is mounted over in a directory which
// is written in place has been replaced from outside. The kernel drops a mount with
// the name that it was on: an editor that saves by renaming uncovers what was
// hidden or held there.
func WatchCovers(s plan.Spec, stop <-chan struct{}, uncovered func()) {
	before := map[string]unix.Stat_t{}
	for _, at := range covered(s) {
		var st unix.Stat_t
		if unix.Lstat(at, &st) == nil {
			before[at] = st
		}
	}
	if len(before) == 0 {
		return
	}
	for {
		select {
		case <-stop:
			return
		case <-time.After(coverEvery):
		}
		for at, was := range before {
			var st unix.Stat_t
			if unix.Lstat(at, &st) == nil && st.Dev == was.Dev && st.Ino == was.Ino {
				continue
			}
			uncovered()
			return
		}
	}
}

// covered lists what is mounted over inside directories that are written in place.
func covered(s plan.Spec) []string {
	var write, list []string
	for _, op := range s.View {
		if op.Do == plan.BindOver && op.Write {
			write = append(write, op.At)
		}
	}
	for _, op := range s.View {
		if plan.InsideAny(op.At, write) && !slices.Contains(list, op.At) {
			list = append(list, op.At)
		}
	}
	return list
}
