package follow

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Content is copied exactly, whatever is zero in it, and blocks of zeros take no room.
func TestCopySparse(t *testing.T) {
	t.Parallel()
	const block = 4 << 10
	data := bytes.Repeat([]byte{7}, block)
	zeros := make([]byte, 100*block)
	for name, c := range map[string]struct {
		content []byte
		most    int64 // blocks of 4 KiB on disk
	}{
		"empty":            {nil, 0},
		"a byte":           {[]byte{1}, 1},
		"a zero":           {[]byte{0}, 1},
		"zeros":            {zeros, 1},
		"data":             {bytes.Repeat(data, 40), 41},
		"data, zeros":      {append(bytes.Clone(data), zeros...), 2},
		"zeros, a byte":    {append(bytes.Clone(zeros), 1), 2},
		"data in a hole":   {append(append(bytes.Clone(zeros), data...), zeros[:50*block+17]...), 2},
		"a byte per block": {bytes.Repeat(append(make([]byte, block-1), 1), 33), 34},
	} {
		path := filepath.Join(t.TempDir(), "f")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := copySparse(f, bytes.NewReader(c.content)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, c.content) {
			t.Errorf("%s: %d bytes of other content, %v", name, len(got), err)
		}
		if int64(st.Blocks)*512 > c.most*block {
			t.Errorf("%s: %d bytes on disk", name, int64(st.Blocks)*512)
		}
		_ = f.Close()
	}
}
