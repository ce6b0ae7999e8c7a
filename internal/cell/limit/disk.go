package limit

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// usage is what files take on disk, or what is left there.
type usage struct {
	bytes int64
	names int64 // files, directories and links: a disk has room for a number of them
}

// The times between two looks at the free space, and between two counts.
const (
	roomEvery = 100 * time.Millisecond
	diskEvery = 500 * time.Millisecond
)

// largeLimit is more than anybody writes between two looks.
const largeLimit = 1 << 30

// Before is what lay in the directories that are watched before a command could write. The watch of a busy machine begins when the
// command has written already.
type Before struct{ inMemory, all *usage }

// CountBefore counts what is quickly counted, as in new layers. What is more is counted by WatchDisk.
func CountBefore(s plan.Spec) Before {
	return Before{countFew(inMemory(s)), countFew(s.Limits.Watched)}
}

// quick is how many files are counted before anybody notices.
const quick = 500

// countFew counts directories; nil: there is too much in them.
func countFew(dirs []string) *usage {
	if u := occupied(dirs, quick); u.names <= quick {
		return &u
	}
	return nil
}

func inMemory(s plan.Spec) []string { return slices.DeleteFunc(slices.Clone(s.Limits.Watched), onDisk) }

// WatchDisk calls over with the limit that is exceeded, when the directories have grown by more than that, or by half
// of the files that there was room for. Where nobody but cordon counts memory, what lies in memory may not exceed that limit.
func WatchDisk(s plan.Spec, had Before, stop <-chan struct{}, over func(string)) {
	watch := func(dirs []string, before *usage, bytes int64, limit string) {
		var deep atomic.Bool
		w := diskWatch{before: before, room: func() usage { return roomOf(dirs) }, count: func() usage {
			u := occupied(dirs, unknown)
			deep.Store(u.bytes >= unknown)
			return u
		}}
		if bytes == 0 || len(dirs) == 0 || !w.exceeded(bytes, stop) {
			return
		}
		if deep.Load() {
			limit = Depth
		}
		over(limit)
	}
	l := s.Limits
	if c := s.Counting(); c == plan.ByLooking || c == plan.ByProcess {
		go watch(inMemory(s), had.inMemory, l.Memory, Memory)
	}
	watch(l.Watched, had.all, l.Disk, Disk)
}

// diskWatch watches a disk.
//
// Counting takes long where there are many files, so it rests long enough between two
// counts not to be felt. A command could make many files and use that time, so the free
// space of the disk is watched meanwhile: when it has lost what is left of the limit, cordon
// counts at once, whoever has used it. When three quarters of it are gone before the count
// is done, there is no time to find out.
//
// With a large limit, the first count waits for as long as between two looks, so that a short
// command does not wait for a count of its files. What was written by then is taken for what
// was there: it is little, compared with the limit.
type diskWatch struct {
	before      *usage // counted before the command could write; nil: it was not
	room, count func() usage
}

// exceeded waits until the limit is exceeded, or for stop.
func (w diskWatch) exceeded(bytes int64, stop <-chan struct{}) bool {
	first := w.room()
	if bytes >= largeLimit && w.before == nil {
		select {
		case <-stop:
			return false
		case <-time.After(roomEvery):
		}
	}
	began := time.Now()
	limit := usage{bytes: bytes, names: first.names / 2}
	var before usage
	if w.before != nil {
		before = *w.before
	} else {
		before = w.count()
	}
	if before.bytes >= unknown {
		return true
	}
	if now := w.room(); w.before == nil && now.lost(first, limit) { // the command runs already, and hardly anybody else writes so much
		before = usage{before.bytes - (first.bytes - now.bytes), before.names - (first.names - now.names)}
	}
	room, left, ended := first, limit, time.Now()
	took := ended.Sub(began)
	var counted chan usage
	for {
		select {
		case <-stop:
			return false
		case grown := <-counted:
			left = usage{limit.bytes - (grown.bytes - before.bytes), limit.names - (grown.names - before.names)}
			if left.bytes < 0 || first.names > 0 && left.names < 0 {
				return true
			}
			counted, ended = nil, time.Now()
			took = ended.Sub(began)
			continue
		case <-time.After(roomEvery):
		}
		now := w.room()
		lost := now.lost(room, left)
		rest := max(diskEvery, 20*took)
		if lost {
			rest = took
		}
		switch {
		case counted != nil && now.lost(first, usage{first.bytes / 4 * 3, first.names / 4 * 3}):
			return true
		case counted == nil && time.Since(ended) >= rest:
			room, began, counted = now, time.Now(), make(chan usage, 1)
			go func(done chan<- usage) { done <- w.count() }(counted)
		}
	}
}

// lost reports whether a disk that had more room before has lost as much as is left.
func (u usage) lost(before, left usage) bool {
	return before.bytes-u.bytes > left.bytes || before.names > 0 && before.names-u.names > left.names
}

// roomOf is what the file systems of directories have room for. Where the number of files
// has no bound, it is 0.
func roomOf(dirs []string) usage {
	var room usage
	seen := map[unix.Fsid]bool{}
	for _, dir := range dirs {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) != nil || seen[st.Fsid] {
			continue
		}
		seen[st.Fsid] = true
		room.bytes += int64(st.Bfree) * int64(st.Bsize)
		if names := int64(st.Ffree); room.names == 0 || names > 0 && names < room.names {
			room.names = names
		}
	}
	return room
}

// unknown is more than any limit.
const unknown = 1 << 60

// deepest bounds the directories that are open at once. Nobody needs more levels but to
// hide what is in them.
const deepest = 700

// occupied is what directories take on disk. What vanishes meanwhile counts
// nothing. It gives up when it has counted more than most names.
func occupied(dirs []string, most int64) usage {
	var total usage
	for _, dir := range dirs {
		if root, err := os.OpenRoot(dir); err == nil {
			total.countIn(root, 0, most)
		}
	}
	return total
}

// add counts bytes. However many are added, they are not taken for fewer.
func (u *usage) add(bytes int64) { u.bytes = min(u.bytes+bytes, unknown) }

// countIn counts one directory and closes it. It goes down from open directories, so
// that no path is too long.
func (u *usage) countIn(dir *os.Root, depth int, most int64) {
	defer dir.Close()
	if u.names > most {
		return
	}
	if depth > deepest {
		u.add(unknown)
		return
	}
	for _, name := range u.countFiles(dir, most) {
		switch sub, err := dir.OpenRoot(name); {
		case err == nil:
			u.countIn(sub, depth+1, most)
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
			u.add(unknown)
		}
	}
}

// batch is how many names of a directory are read at once: it may have millions.
const batch = 1024

// countFiles counts the entries of a directory, and lists the directories among them. What
// cannot be read is not counted.
func (u *usage) countFiles(dir *os.Root, most int64) (below []string) {
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(batch) // ReadDir would look at each of them too
		for _, name := range names {
			u.names++
			fi, err := dir.Lstat(name)
			if err != nil {
				continue
			}
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				u.add(st.Blocks * 512)
			}
			if fi.IsDir() {
				below = append(below, name)
			}
		}
		if err != nil || u.names > most {
			return below
		}
	}
}
