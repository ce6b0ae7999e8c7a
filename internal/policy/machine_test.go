package policy

import "testing"

// The limits that a policy leaves to the machine fit a build on a small laptop and
// leave the operator of a large server half of it. What a policy names stays.
func TestLimitsForAMachine(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		machine      Machine
		memory, disk Bytes
	}{
		"small container": {Machine{Memory: 2 * gib, Disk: 10 * gib}, 2 * gib / 4 * 3, 5 * gib},
		"laptop":          {Machine{Memory: 4 * gib, Disk: 20 * gib}, 3 * gib, 10 * gib},
		"desk":            {Machine{Memory: 16 * gib, Disk: 100 * gib}, 8 * gib, 50 * gib},
		"server":          {Machine{Memory: 256 * gib, Disk: 2000 * gib}, 128 * gib, 1000 * gib},
		"full disk":       {Machine{Memory: 4 * gib, Disk: 1 << 20}, 3 * gib, 64 << 20},
	} {
		if got := Default().Limits.For(c.machine); got.Memory != c.memory || got.Disk != c.disk {
			t.Errorf("%s: memory %s, disk %s, want %s and %s", name, got.Memory, got.Disk, c.memory, c.disk)
		}
		named := Limits{Memory: 0, Disk: 5 * gib}
		if got := named.For(c.machine); got != named {
			t.Errorf("%s: %+v became %+v", name, named, got)
		}
	}
}
