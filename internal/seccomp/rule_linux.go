//go:build amd64 || arm64

package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// A rule is one row of the table: this call is answered with errno when the
// condition holds. A call may have several rows; the first that holds answers.
type rule struct {
	call   string
	nr     uint32
	errno  unix.Errno
	worth  attention
	when   condition
	reason string
}

// attention says whether an attempt is worth a record. Ordinary programs probe
// for some calls at every start, and a record of those hides the others.
type attention bool

const (
	recorded attention = true
	routine  attention = false
)

// A condition holds when all of its tests do. The zero condition holds always.
type condition struct {
	words string
	all   []test
}

var always = condition{}

// A test is about the low 32 bits of one argument: whether those under the mask
// are among the values. The kernel takes every argument that the table tests as
// an int, an unsigned int or less, and drops the high word; a filter that
// compares 64 bits is walked around by setting one of them (CVE-2019-10063).
// clone and unshare take a long, but no flag of theirs is in the high word.
type test struct {
	arg    int
	mask   uint32
	values []uint32
	in     bool
}

// has: any of the bits is set.
func has(arg int, bits uint32) test { return test{arg, bits, []uint32{0}, false} }

// is: the argument is one of the values.
func is(arg int, values ...uint32) test { return test{arg, ^uint32(0), values, true} }

// isNot: the argument is none of the values.
func isNot(arg int, values ...uint32) test { return test{arg, ^uint32(0), values, false} }

// under looks only at the bits of the mask.
func (t test) under(mask uint32) test {
	t.mask = mask
	return t
}

func (t test) holds(args [6]uint64) bool {
	return slices.Contains(t.values, uint32(args[t.arg])&t.mask) == t.in
}

func (c condition) holds(args [6]uint64) bool {
	return !slices.ContainsFunc(c.all, func(t test) bool { return !t.holds(args) })
}

// A call is what the kernel tells a filter, and a supervisor, about one system
// call: its struct seccomp_data.
type call struct {
	nr      int32
	arch    uint32
	pointer uint64 // the instruction's address
	args    [6]uint64
}

// foreign and newer are the rows that catch everything which has no row.
var (
	// Answered rather than killed: an old 32-bit helper then fails like a call
	// the kernel was built without, and says so, instead of dying without a word.
	foreign = rule{call: "any call of another ABI", errno: unix.ENOSYS,
		reason: "its numbers and arguments mean other things than the table's"}
	// ENOSYS is what an older kernel would say; every libc falls back from it.
	newer = rule{call: "any call after " + newestName, errno: unix.ENOSYS,
		reason: "nobody has judged it yet"}
)

// judge is the meaning of the table: the row that refuses a call, nil if it is
// allowed. The program must agree with it.
func judge(c call) *rule {
	switch {
	case c.arch != nativeArch:
		return &foreign
	case uint32(c.nr) > newest:
		// Also every x32 call: they are the amd64 ABI with bit 30 set in the number.
		return &newer
	}
	for i, r := range rules() {
		if r.nr == uint32(c.nr) && r.when.holds(c.args) {
			return &rules()[i]
		}
	}
	return nil
}

func table() []Entry {
	var list []Entry
	for _, r := range slices.Concat(rules(), []rule{foreign, newer}) {
		list = append(list, Entry{r.call, unix.ErrnoName(r.errno), r.reason, r.when.words})
	}
	return list
}
