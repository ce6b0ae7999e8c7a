//go:build amd64 || arm64

package seccomp

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// code is instructions of classic BPF. Its jumps only go forward.
type code = []unix.SockFilter

// Where the kernel puts a call's number, architecture and arguments. Both
// architectures are little-endian, so the low word of an argument comes first.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
	sizeArg   = 8
)

// farthest is how far a conditional jump reaches.
const farthest = 255

// Program assembles the table. With notify, a refused call whose attempt is
// worth a record waits for Supervise's answer; all other refused calls are
// answered by the kernel.
//
// The search is binary and by number, and only a call with a condition loads its
// arguments. The kernel notices what is always allowed and then does not run the
// program for it at all.
func Program(notify bool) ([]unix.SockFilter, error) { return assemble(rules(), notify) }

// ProgramTracing is Program for a cell whose processes may trace each other. They all have
// this filter, and since Linux 4.8 a call that a tracer has changed meets it again.
func ProgramTracing(notify bool) ([]unix.SockFilter, error) {
	kept := slices.DeleteFunc(slices.Clone(rules()), func(r rule) bool { return slices.Contains(tracing, r.nr) })
	return assemble(kept, notify)
}

func assemble(table []rule, notify bool) ([]unix.SockFilter, error) {
	search, err := find(byNumber(table), notify)
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	p := slices.Concat(code{
		load(offArch),
		jump(unix.BPF_JEQ, nativeArch, 1, 0),
		foreign.answer(false),
		load(offNumber),
		jump(unix.BPF_JGT, newest, 0, 1),
		newer.answer(false),
	}, search)
	if len(p) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("seccomp: %d instructions, the kernel takes %d", len(p), unix.BPF_MAXINSNS)
	}
	return p, nil
}

// byNumber groups the rows of each call, in the order of the numbers.
func byNumber(list []rule) [][]rule {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b rule) int { return cmp.Compare(a.nr, b.nr) })
	return slices.Collect(func(yield func([]rule) bool) {
		for len(sorted) > 0 {
			n := slices.IndexFunc(sorted, func(r rule) bool { return r.nr != sorted[0].nr })
			if n < 0 {
				n = len(sorted)
			}
			if !yield(sorted[:n]) {
				return
			}
			sorted = sorted[n:]
		}
	})
}

// find is code for a number that is loaded: it returns from every path.
func find(calls [][]rule, notify bool) (code, error) {
	switch len(calls) {
	case 0:
		return code{allow()}, nil
	case 1:
		return leaf(calls[0], notify)
	}
	middle := len(calls) / 2
	low, err := find(calls[:middle], notify)
	if err != nil {
		return nil, err
	}
	high, err := find(calls[middle:], notify)
	if err != nil {
		return nil, err
	}
	first := calls[middle][0].nr
	if len(low) <= farthest {
		return slices.Concat(code{jump(unix.BPF_JGE, first, len(low), 0)}, low, high), nil
	}
	return slices.Concat(code{jump(unix.BPF_JGE, first, 0, 1), skip(len(low))}, low, high), nil
}

// leaf is code for the rows of one call. Each row returns or falls through to
// the next, and after the last the call is allowed; nothing follows a row that
// always holds.
func leaf(rows []rule, notify bool) (code, error) {
	c := code{jump(unix.BPF_JEQ, rows[0].nr, 1, 0), allow()}
	for _, r := range rows {
		row := code{r.answer(notify)}
		if len(r.when.all) == 0 {
			return append(c, row...), nil
		}
		for _, t := range slices.Backward(r.when.all) {
			guard, err := t.guard(len(row))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.call, err)
			}
			row = append(guard, row...)
		}
		c = append(c, row...)
	}
	return append(c, allow()), nil
}

// guard is code that falls through when the test holds and otherwise jumps over
// the rest instructions that follow it.
func (t test) guard(rest int) (code, error) {
	if rest+len(t.values) > farthest {
		return nil, fmt.Errorf("a condition too long for a jump")
	}
	c := code{load(offArgs + sizeArg*t.arg)}
	if t.mask != ^uint32(0) {
		c = append(c, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: t.mask})
	}
	for i, v := range t.values {
		left := len(t.values) - 1 - i
		found, other := left+rest, 0
		if t.in {
			found = left
			if left == 0 {
				other = rest
			}
		}
		c = append(c, jump(unix.BPF_JEQ, v, found, other))
	}
	return c, nil
}

func (r rule) answer(notify bool) unix.SockFilter {
	k := unix.SECCOMP_RET_ERRNO | uint32(r.errno)
	if notify && r.worth == recorded {
		k = unix.SECCOMP_RET_USER_NOTIF
	}
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
}

func allow() unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
}

func load(offset int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(offset)}
}

func jump(op uint16, k uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: k}
}

func skip(n int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(n)}
}
