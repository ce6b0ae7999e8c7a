package base

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// Git takes a file for unchanged when its size, inode and times are those in the
// index, but it knows the times to the second only. So it reads files that are as
// new as the index, because they may have been written again in that second. The
// same holds here, for the second in which a worker begins: a file of the base that
// is as new as that could be written again unseen. Therefore no file of a base is
// newer than two seconds before the base was whole. Two, because the times of files
// come from a clock that lags behind.
const aged = 2

// age puts back the times of the files in a tree that are too new, and the times
// that the index has for them. What is the same in the index of an earlier base gets the
// time that it has there: build tools compare times, and would build again what did not change.
func age(ctx context.Context, top, index, earlier string, format git.Format) error {
	data, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	late := time.Now().Unix() - aged + 1
	moved, err := putBack(ctx, top, late, unchanged(data, earlier, format))
	if err != nil || len(moved) == 0 {
		return err
	}
	n, err := restamp(data, format, moved)
	if err != nil {
		return err
	}
	if n != len(moved) {
		return fmt.Errorf("git's index has %d of %d files that were written", n, len(moved))
	}
	return os.WriteFile(index, data, 0o644)
}

// unchanged are the files of an index that are the same in an earlier one, with the seconds of
// their times there. Without an earlier one that can be read, there are none.
func unchanged(index []byte, earlier string, format git.Format) map[string]int64 {
	before, err := os.ReadFile(earlier)
	if err != nil {
		return nil
	}
	type file struct {
		content string
		sec     int64
	}
	had, same := map[string]file{}, map[string]int64{}
	err = entries(before, format, func(name string, stat, content []byte) {
		had[name] = file{string(content), int64(binary.BigEndian.Uint32(stat[8:]))}
	})
	if err != nil {
		return nil
	}
	err = entries(index, format, func(name string, _, content []byte) {
		if f, ok := had[name]; ok && f.content == string(content) && f.sec > 0 {
			same[name] = f.sec
		}
	})
	if err != nil {
		return nil
	}
	return same
}

// putBack gives files that are not older than late the time before it, or an earlier one that is known.
func putBack(ctx context.Context, top string, late int64, known map[string]int64) (map[string]times, error) {
	var mu sync.Mutex
	moved := map[string]times{}
	err := walk(ctx, top, func(d directory) error {
		for _, it := range d.items {
			kind := uint32(it.st.Mode) & unix.S_IFMT
			if kind == unix.S_IFDIR || kind == unix.S_IFCHR || int64(it.st.Mtim.Sec) < late {
				continue
			}
			at := path.Join(d.path, it.name)
			sec := late - 1
			if earlier, ok := known[at]; ok {
				sec = min(sec, earlier)
			}
			t, err := setTime(d.fd, it, sec)
			if err != nil {
				return &os.PathError{Op: "utime", Path: at, Err: err}
			}
			mu.Lock()
			moved[at] = t
			mu.Unlock()
		}
		return nil
	})
	return moved, err
}

func setTime(dir int, it item, sec int64) (times, error) {
	when := unix.NsecToTimespec(sec * int64(time.Second))
	if err := unix.UtimesNanoAt(dir, it.name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return times{}, err
	}
	var st unix.Stat_t
	err := unix.Fstatat(dir, it.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return times{changed: st.Ctim, modified: st.Mtim}, err
}

var errIndex = errors.New("git's index has an unknown format")

// times are those of a file that git's index keeps.
type times struct{ changed, modified unix.Timespec }

// restamp puts times of files into an index of git, in place, and returns how many
// of them it has. Everything else about the entries stays.
func restamp(index []byte, format git.Format, by map[string]times) (int, error) {
	found := 0
	err := entries(index, format, func(name string, stat, _ []byte) {
		if t, ok := by[name]; ok {
			putTimes(stat, t)
			found++
		}
	})
	if err != nil {
		return 0, err
	}
	body := len(index) - format.NewHash().Size()
	copy(index[body:], checksum(format, index[:body]))
	return found, nil
}

// entries visits the entries of an index of git: the name of each, what it has of the file
// (times, numbers and mode), and what names its content.
func entries(index []byte, format git.Format, visit func(name string, stat, content []byte)) error {
	hash := format.NewHash().Size()
	body := len(index) - hash
	if body < 12 || !bytes.Equal(index[:4], []byte("DIRC")) || binary.BigEndian.Uint32(index[4:]) != 2 {
		return errIndex
	}
	if !bytes.Equal(checksum(format, index[:body]), index[body:]) {
		return errors.New("git's index has a wrong checksum")
	}
	const stat = 40 // ctime, mtime, dev, ino, mode, uid, gid, size
	at := 12
	for range binary.BigEndian.Uint32(index[8:]) {
		name := at + stat + hash + 2
		if name >= body {
			return errIndex
		}
		size := bytes.IndexByte(index[name:body], 0)
		if size < 0 {
			return errIndex
		}
		visit(string(index[name:name+size]), index[at:at+stat], index[at+stat:at+stat+hash])
		at = name + size
		at += 8 - (at-12)%8 // one to eight NULs: entries begin at multiples of eight
	}
	return nil
}

func putTimes(entry []byte, t times) {
	for i, v := range []int64{int64(t.changed.Sec), int64(t.changed.Nsec), int64(t.modified.Sec), int64(t.modified.Nsec)} {
		binary.BigEndian.PutUint32(entry[4*i:], uint32(v))
	}
}

func checksum(format git.Format, text []byte) []byte {
	h := format.NewHash()
	h.Write(text)
	return h.Sum(nil)
}
