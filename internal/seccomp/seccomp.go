// Package seccomp refuses the system calls that a worker has no business with.
// It is the wall behind the namespaces: a kernel bug that is only reachable
// through a refused call is not reachable.
//
// The filter is a table, one row per refused call with a reason. Program turns
// the table into the kernel's instructions, Load gives them to the kernel, and
// Supervise answers, from outside of the filter, for the calls whose attempt is
// worth a record. A call that is not in the table is allowed, because workers
// run compilers, browsers and databases that nobody has listed; a call that is
// newer than the table, or made through another ABI than the native one, is
// answered with ENOSYS.
//
// It refuses to let a call go on after it was reported: a supervisor that reads
// the arguments and then answers "continue" has decided on memory that another
// thread can change meanwhile. For the same reason the filter only looks at
// registers, and a call whose flags are in memory (clone3, openat2) does not
// exist. Nor does it claim to confine by itself: paths, sockets and other
// processes are out of reach because of what the cell mounts and unshares.
//
// The filter exists on Linux, for amd64 and arm64. Elsewhere on Linux Program
// and Load are errors, and on other systems only Table is there, empty.
package seccomp

// Entry is one row of the table in words.
type Entry struct {
	Call   string `json:"call"`
	Errno  string `json:"errno"` // its symbolic name
	Reason string `json:"reason"`
	When   string `json:"when,omitempty"` // empty when the call is always refused
}

// Refusal is one attempt that Supervise has refused.
type Refusal struct {
	Call   string
	Pid    int // the thread that tried, as the supervisor's pid namespace numbers it; 0 if it has no number there
	Reason string
}

// Table lists what is refused on this system, in the order of the table.
func Table() []Entry { return table() }
