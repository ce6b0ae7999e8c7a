package git

import "golang.org/x/sys/unix"

// bounds hold for every git process. They are far above what git needs and far
// below what a worker can make it need: a delta of a few bytes may say that its
// object has any size.
var bounds = []struct {
	resource int
	limit    uint64
}{
	{unix.RLIMIT_DATA, 4 << 30},
	{unix.RLIMIT_CPU, 30 * 60},
}

// bound limits a process that has just been started.
func bound(pid int) {
	for _, b := range bounds {
		var now unix.Rlimit
		if unix.Prlimit(pid, b.resource, nil, &now) != nil || now.Max < b.limit {
			continue // it has ended already, or is bounded more tightly
		}
		_ = unix.Prlimit(pid, b.resource, &unix.Rlimit{Cur: b.limit, Max: b.limit}, nil) // ended meanwhile
	}
}
