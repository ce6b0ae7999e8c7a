package policy

// Machine is what a policy's limits are measured against.
type Machine struct {
	Memory int64 // bytes that this process and its children can have at most
	Disk   int64 // bytes free where workers write
}

// Auto is a size that depends on the machine. It is written "auto".
const Auto Bytes = -1 << 62

const auto = "auto"

const (
	// smallMemory is enough for a compiler or a browser under test. A machine with
	// less than twice as much gives up to three quarters of what it has.
	smallMemory = 3 << 30
	// leastDisk is given on a disk that is all but full.
	leastDisk = 64 << 20
	mebibyte  = 1 << 20
)

// For replaces what depends on the machine by numbers: a worker that takes all it may
// leaves room for the operator.
func (l Limits) For(m Machine) Limits {
	if l.Memory == Auto {
		l.Memory = whole(max(m.Memory/2, min(smallMemory, m.Memory/4*3)))
	}
	if l.Disk == Auto {
		l.Disk = whole(max(m.Disk/2, leastDisk))
	}
	return l
}

// whole rounds down to mebibytes, so that the size reads well.
func whole(n int64) Bytes { return Bytes(n / mebibyte * mebibyte) }
