package cell

import (
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
	"cordon/internal/testwait"
)

// openFiles lists the descriptors of this process.
func openFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil { // else it was the listing itself
			list = append(list, e.Name()+" "+to)
		}
	}
	return list
}

// leaves fails if a launch leaves a descriptor open. No collection of garbage closes one
// meanwhile. A look at the host that began before the launch may still have a file open.
func leaves(t *testing.T, what string, launch func()) {
	t.Helper()
	before := openFiles(t)
	launch()
	var after []string
	testwait.Until(t, what+" leaves nothing open", func() bool {
		after = slices.DeleteFunc(openFiles(t), func(f string) bool { return slices.Contains(before, f) })
		return len(after) == 0
	}, func() string { return strings.Join(after, "\n") })
}

// A launch that fails closes everything, wherever it fails. Fewer and fewer descriptors
// let it fail at each step.
func TestFailedLaunchLeavesNoDescriptor(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	c := Command{Stdin: strings.NewReader("input")}
	seat := Warm(c) // opens what the runtime keeps
	if seat == nil {
		t.Fatal("no process can be started in namespaces: this shows nothing")
	}
	seat.Drop()
	leaves(t, "a seat that is dropped", func() { Warm(c).Drop() })

	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	failed, started := 0, 0
	for room := range uint64(24) {
		few := unix.Rlimit{Cur: firstFree(t) + room, Max: limit.Max}
		leaves(t, "a start with few descriptors", func() {
			err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few)
			seat, startErr := newSeat(c, false) // for namespaces, Go itself leaves a pipe open when clone fails
			if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)); err != nil {
				t.Fatal(err)
			}
			if startErr != nil {
				failed++
				return
			}
			started++
			seat.drop()
		})
	}
	if failed < 5 || started == 0 {
		t.Errorf("%d failed and %d started: this shows nothing", failed, started)
	}
}

func firstFree(t *testing.T) uint64 {
	t.Helper()
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	return uint64(fd)
}

// A cell whose command is not let go closes the pipe of its standard input.
func TestRefusedLaunchLeavesNoDescriptor(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r := newRoom(t)
	refusal := errors.New("the journal is full")
	r.command.Stdin = strings.NewReader("input")
	r.command.Started = func(Launch) error { return refusal }
	try := func() {
		if _, _, err := r.run("true"); !errors.Is(err, refusal) {
			t.Fatal(err)
		}
	}
	try()
	leaves(t, "a launch that is refused", try)
}

// A cell whose private layers lie on the disk does not begin without their lock.
func TestNoLockNoCell(t *testing.T) {
	for name, c := range map[string]struct{ layers, says string }{
		"in memory":   {"", "chdir"},
		"on the disk": {t.TempDir(), "not given the lock of its layers"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			seat, err := newSeat(Command{Stderr: &said}, false)
			if err != nil {
				t.Fatal(err)
			}
			defer seat.close()
			if err := seat.hand(plan.Spec{Keep: c.layers}, nil); err != nil {
				t.Fatal(err)
			}
			m, _, err := seat.control.receive()
			_ = seat.cmd.Wait() // both fail; only their messages differ
			if all := said.String() + m.Failed; !strings.Contains(all, c.says) {
				t.Errorf("it says %q (%v), want %q", all, err, c.says)
			}
		})
	}
}
