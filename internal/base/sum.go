package base

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// sum is what a tree on disk looks like from outside: names, types, modes, sizes,
// times and inodes. No program can set the time at which an inode was last changed,
// so that nothing is altered without altering this; the files need not be read.
type sum struct {
	digest string
	files  int    // what is neither a directory nor a whiteout
	holes  int    // whiteouts
	bytes  int64  // on disk
	newest int64  // the latest time of a file, in seconds
	inode  uint64 // the highest number of an inode
}

// sumOf looks at a tree.
func sumOf(ctx context.Context, top string) (sum, error) {
	var at unix.Stat_t
	if err := unix.Lstat(top, &at); err != nil {
		return sum{}, err
	}
	var (
		mu    sync.Mutex
		parts = []part{{dir: "", digest: sha256.Sum256(appendStat(nil, &at))}}
		total = sum{bytes: at.Blocks * 512}
	)
	err := walk(ctx, top, func(d directory) error {
		digest, own := sumDirectory(d)
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, part{d.path, digest})
		total.add(own)
		return nil
	})
	total.digest = join(parts)
	return total, err
}

// Looked is what a directory looks like from outside; see sum.
type Looked struct {
	Sum   string
	Bytes int64 // on disk
}

// Look looks at a directory that cordon has made, for others who share one.
func Look(ctx context.Context, top string) (Looked, error) {
	got, err := sumOf(ctx, top)
	return Looked{got.digest, got.bytes}, err
}

func (s *sum) add(t sum) {
	s.files += t.files
	s.holes += t.holes
	s.bytes += t.bytes
	s.newest = max(s.newest, t.newest)
	s.inode = max(s.inode, t.inode)
}

// part is the digest of one directory's items.
type part struct {
	dir    string
	digest [sha256.Size]byte
}

func join(parts []part) string {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.dir, b.dir) })
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p.dir + "\x00"))
		h.Write(p.digest[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sumDirectory(d directory) ([sha256.Size]byte, sum) {
	text := make([]byte, 0, len(d.items)*128)
	var s sum
	for i := range d.items {
		it := &d.items[i]
		text = append(append(text, it.name...), 0)
		text = appendStat(text, &it.st)
		s.bytes += it.st.Blocks * 512
		s.inode = max(s.inode, it.st.Ino)
		switch uint32(it.st.Mode) & unix.S_IFMT {
		case unix.S_IFDIR:
		case unix.S_IFCHR:
			s.holes++
		default:
			s.files++
			s.newest = max(s.newest, int64(it.st.Mtim.Sec))
		}
	}
	return sha256.Sum256(text), s
}

// appendStat writes what identifies an inode and its state. The size and the time
// of a directory say nothing that its items do not; its change time is that of its
// attributes too, and an overlay obeys those.
func appendStat(b []byte, st *unix.Stat_t) []byte {
	put := func(v uint64) { b = binary.BigEndian.AppendUint64(b, v) }
	put(uint64(st.Mode))
	put(uint64(st.Ino))
	put(uint64(st.Ctim.Sec))
	put(uint64(st.Ctim.Nsec))
	if uint32(st.Mode)&unix.S_IFMT != unix.S_IFDIR {
		put(uint64(st.Size))
		put(uint64(st.Rdev))
		put(uint64(st.Mtim.Sec))
		put(uint64(st.Mtim.Nsec))
	}
	return b
}

// verify compares every layer and every index of a chain with its record.
func (s Store) verify(ctx context.Context, c chain) error {
	for _, r := range c {
		if err := verifySum(ctx, r.Key, "its files", s.treeOf(r.Key), r.Tree); err != nil {
			return err
		}
		if err := verifySum(ctx, r.Key, "its index", s.indexOf(r.Key), r.Index); err != nil {
			return err
		}
	}
	return nil
}

func verifySum(ctx context.Context, key, what, top, want string) error {
	got, err := sumOf(ctx, top)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return broken(key, what, err)
	}
	if got.digest != want {
		return &DamageError{key, what + " changed since it was made"}
	}
	return nil
}
