//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// A run is what an interpreted program has returned, and what that took.
type run struct {
	answer uint32
	steps  int
	looked bool // at an argument
}

// interpret runs a program as the kernel does. It panics where the kernel would
// not have loaded it.
func interpret(prog []unix.SockFilter, c call) run {
	var r run
	var a uint32
	for pc := 0; ; pc++ {
		r.steps++
		in := prog[pc]
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = field(c, in.K)
			r.looked = r.looked || in.K >= offArgs
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(in.K)
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			pc += branch(in, a == in.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			pc += branch(in, a >= in.K)
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			pc += branch(in, a > in.K)
		case unix.BPF_RET | unix.BPF_K:
			r.answer = in.K
			return r
		default:
			panic(fmt.Sprintf("instruction %d is %+v", pc, in))
		}
	}
}

func branch(in unix.SockFilter, yes bool) int {
	if yes {
		return int(in.Jt)
	}
	return int(in.Jf)
}

// field is one word of the kernel's struct seccomp_data.
func field(c call, offset uint32) uint32 {
	words := []uint32{uint32(c.nr), c.arch, uint32(c.pointer), uint32(c.pointer >> 32)}
	for _, a := range c.args {
		words = append(words, uint32(a), uint32(a>>32))
	}
	if offset%4 != 0 {
		panic("a load that is not aligned")
	}
	return words[offset/4]
}

// meaning is the answer that the table wants.
func meaning(c call, notify bool) uint32 {
	r := judge(c)
	switch {
	case r == nil:
		return unix.SECCOMP_RET_ALLOW
	case notify && r.worth == recorded:
		return unix.SECCOMP_RET_USER_NOTIF
	}
	return unix.SECCOMP_RET_ERRNO | uint32(r.errno)
}

// assembled are the programs without and with notify.
var assembled = sync.OnceValues(func() (p [2][]unix.SockFilter, err error) {
	var first, second error
	p[0], first = Program(false)
	p[1], second = Program(true)
	return p, errors.Join(first, second)
})

func program(t interface{ Fatalf(string, ...any) }, notify bool) []unix.SockFilter {
	p, err := assembled()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if notify {
		return p[1]
	}
	return p[0]
}

// agrees asserts that program and table say the same of a call, and that half an
// argument changes nothing.
func agrees(t interface{ Fatalf(string, ...any) }, c call, high uint32) {
	for _, notify := range []bool{false, true} {
		prog := program(t, notify)
		want := meaning(c, notify)
		for range 2 {
			if got := interpret(prog, c).answer; got != want {
				t.Fatalf("notify %v: %+v is answered %#x, want %#x", notify, c, got, want)
			}
			for i := range c.args {
				c.args[i] ^= uint64(high) << 32
			}
		}
	}
}

// interesting are the words that conditions compare with, and their neighbours.
func interesting() []uint32 {
	words := []uint32{0, 1, ^uint32(0), 0o644, 0o4755, 0o2755, unix.O_CREAT, unix.O_TMPFILE, uint32(unix.SIGCHLD)}
	for _, r := range rules() {
		for _, t := range r.when.all {
			words = append(words, t.mask, ^t.mask)
			for _, v := range t.values {
				words = append(words, v, v+1, v-1)
			}
		}
	}
	for bit := range 32 {
		words = append(words, 1<<bit)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func TestProgramAgrees(t *testing.T) {
	words := interesting()
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SampledFrom(rules()).Draw(t, "row")
		c := call{
			nr: int32(rapid.OneOf(rapid.Just(row.nr), rapid.Uint32Range(0, newest+2), rapid.Uint32()).Draw(t, "number")),
			arch: rapid.OneOf(rapid.Just(uint32(nativeArch)), rapid.Just(uint32(nativeArch)),
				rapid.SampledFrom([]uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_AARCH64})).Draw(t, "arch"),
			pointer: rapid.Uint64().Draw(t, "pointer"),
		}
		for i := range c.args {
			low := rapid.OneOf(rapid.SampledFrom(words), rapid.Uint32()).Draw(t, "low")
			c.args[i] = uint64(low) | uint64(rapid.Uint32().Draw(t, "high"))<<32
		}
		agrees(t, c, rapid.Uint32().Draw(t, "garbage"))
	})
}

func FuzzProgramAgrees(f *testing.F) {
	for _, r := range rules() {
		f.Add(r.nr, uint32(nativeArch), uint64(unix.CLONE_NEWUSER), uint64(unix.TIOCSTI), uint64(0o4755), uint64(0o4755))
	}
	f.Add(uint32(20), uint32(unix.AUDIT_ARCH_I386), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, nr, arch uint32, a, b, c, d uint64) {
		agrees(t, call{nr: int32(nr), arch: arch, args: [6]uint64{a, b, c, d, a, b}}, uint32(a>>7))
	})
}

// TestEveryPair has every call with every two interesting words in the places
// that conditions look at.
func TestEveryPair(t *testing.T) {
	words := interesting()
	prog := program(t, true)
	for nr := range int32(newest + 3) {
		conditional := slices.ContainsFunc(rules(), func(r rule) bool { return r.nr == uint32(nr) && r.when.all != nil })
		for _, a := range words {
			for _, b := range words {
				c := call{nr: nr, arch: nativeArch, args: [6]uint64{uint64(a), uint64(b), uint64(a), uint64(b)}}
				if got, want := interpret(prog, c).answer, meaning(c, true); got != want {
					t.Fatalf("%+v is answered %#x, want %#x", c, got, want)
				}
				if !conditional {
					break
				}
			}
			if !conditional {
				break
			}
		}
	}
}

// TestAllowedCallsCostLittle: what is always allowed is allowed without a look
// at its arguments, which is what lets the kernel remember it.
func TestAllowedCallsCostLittle(t *testing.T) {
	prog := program(t, true)
	most := 0
	for nr := range int32(newest + 1) {
		if slices.ContainsFunc(rules(), func(r rule) bool { return r.nr == uint32(nr) }) {
			continue
		}
		r := interpret(prog, call{nr: nr, arch: nativeArch})
		if r.looked || r.answer != unix.SECCOMP_RET_ALLOW {
			t.Errorf("call %d: %+v", nr, r)
		}
		most = max(most, r.steps)
	}
	if most > 16 {
		t.Errorf("an allowed call takes %d instructions", most)
	}
	t.Logf("%d instructions; an allowed call takes at most %d", len(prog), most)
}

// TestHotConditions: what programs do most, of the calls with conditions.
func TestHotConditions(t *testing.T) {
	prog := program(t, false)
	for name, c := range map[string]call{
		"openat": {nr: unix.SYS_OPENAT, args: [6]uint64{0, 0, unix.O_RDONLY}},
		"ioctl":  {nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TCGETS}},
		"clone":  {nr: unix.SYS_CLONE, args: [6]uint64{uint64(unix.SIGCHLD)}},
		"socket": {nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET, unix.SOCK_STREAM}},
	} {
		c.arch = nativeArch
		r := interpret(prog, c)
		if r.answer != unix.SECCOMP_RET_ALLOW || r.steps > 40 {
			t.Errorf("%s: %+v", name, r)
		}
		t.Logf("%s: %d instructions", name, r.steps)
	}
}

// TestTable holds the table to its own rules.
func TestTable(t *testing.T) {
	unconditional := map[uint32]string{}
	for _, r := range rules() {
		if r.nr > newest || r.call == "" || r.reason == "" || r.errno == 0 || r.errno >= mark {
			t.Errorf("%+v", r)
		}
		if (r.when.words == "") != (len(r.when.all) == 0) {
			t.Errorf("%s: a condition and its words go together", r.call)
		}
		if by, ok := unconditional[r.nr]; ok {
			t.Errorf("%s comes after %s, which has the same number and always holds", r.call, by)
		}
		if r.when.all == nil {
			unconditional[r.nr] = r.call
		}
	}
	entries := Table()
	if len(entries) != len(rules())+2 {
		t.Fatalf("%d entries", len(entries))
	}
	for _, e := range entries {
		if e.Call == "" || e.Errno == "" || e.Reason == "" {
			t.Errorf("%+v", e)
		}
	}
	for _, r := range []rule{foreign, newer} {
		if r.worth {
			t.Errorf("%s would be recorded", r.call)
		}
	}
}

// TestWorthARecord names what must be seen, and what would drown it.
func TestWorthARecord(t *testing.T) {
	for worth, calls := range map[attention][]string{
		recorded: {"mount", "umount2", "move_mount", "setns", "unshare", "clone", "ptrace", "process_vm_writev", "pidfd_getfd",
			"bpf", "keyctl", "add_key", "open_by_handle_at", "userfaultfd", "init_module", "reboot", "ioctl", "fchmod", "openat",
			"io_uring_setup"},
		routine: {"clone3", "io_uring_enter", "openat2", "personality", "kcmp", "adjtimex"},
	} {
		for _, name := range calls {
			i := slices.IndexFunc(rules(), func(r rule) bool { return r.call == name })
			if i < 0 || rules()[i].worth != worth {
				t.Errorf("%s: not in the table, or recorded is not %v", name, worth)
			}
		}
	}
}

// TestLongJumps assembles a table too big for the short jumps of BPF.
func TestLongJumps(t *testing.T) {
	var list []rule
	for nr := range uint32(400) {
		list = append(list, rule{call: "x", nr: 2 * nr, errno: unix.EPERM, when: setIDMode(0)})
	}
	prog, err := find(byNumber(list), false)
	if err != nil {
		t.Fatal(err)
	}
	prog = append([]unix.SockFilter{load(offNumber)}, prog...)
	for nr := range int32(900) {
		for _, mode := range []uint64{0o755, 0o4755} {
			want := uint32(unix.SECCOMP_RET_ALLOW)
			if nr%2 == 0 && nr < 800 && mode == 0o4755 {
				want = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
			}
			if got := interpret(prog, call{nr: nr, args: [6]uint64{mode}}).answer; got != want {
				t.Fatalf("call %d, %o: %#x", nr, mode, got)
			}
		}
	}
	if _, err := has(0, 1).guard(farthest); err == nil {
		t.Error("a jump that is too long was assembled")
	}
}
