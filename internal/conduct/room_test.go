package conduct

import "testing"

// A machine has room for another worker as long as an eighth of its memory is spare, or four GiB.
func TestShort(t *testing.T) {
	const gib = int64(1) << 30
	for _, c := range []struct {
		spare, total int64
		want         bool
	}{
		{2 * gib, 16 * gib, false}, {2*gib - 1, 16 * gib, true}, {4 * gib, 512 * gib, false}, {4*gib - 1, 512 * gib, true}, {0, 0, false},
	} {
		if got := short(c.spare, c.total); got != c.want {
			t.Errorf("%d of %d: %v", c.spare, c.total, got)
		}
	}
}
