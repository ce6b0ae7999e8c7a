package cell

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
	"cordon/internal/testwait"
)

func init() {
	probes["hide-memory"] = probeHiddenMemory
}

// A worker that hides memory is ended at the limit, or the launch says that it can. The
// control, which hides nothing, is ended in any case.
func TestHiddenMemory(t *testing.T) {
	for _, way := range []string{"openly", "in-flight", "dropped", "unmapped", "undumpable"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			r.order.Limits = plan.Limits{Memory: 64 << 20}
			r.command.Limit = testwait.Bound
			var by plan.Counting
			r.command.Started = func(l Launch) error { by = l.Memory; return nil }
			exit, out, err := r.run(r.probe(), "hide-memory", way)
			said := way != "openly" && strings.Contains(string(by), "a worker can hide memory")
			if err != nil || exit.Reason != MemoryLimit && !(said && exit.OK()) {
				t.Errorf("%+v, held by %q, %v %s", exit, by, err, out)
			}
		})
	}
}

// probeHiddenMemory takes 128 MiB in a way that no count of processes shows.
func probeHiddenMemory(way string) error {
	const pieces, piece = 32, 4 << 20
	if way == "undumpable" {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return err
		}
	}
	act := map[string]func(int) error{
		"openly": namelessFile, "undumpable": namelessFile, "in-flight": inFlight,
		"dropped": droppedMemory, "unmapped": unmappedMemory,
	}[way]
	for range pieces {
		if err := act(piece); err != nil {
			return err
		}
	}
	if way == "openly" {
		select {} // until it is found
	}
	return nil
}

func namelessFile(size int) error {
	_, err := filledFile(size)
	return err
}

func filledFile(size int) (int, error) {
	fd, err := unix.MemfdCreate("hidden", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if n, err := unix.Write(fd, make([]byte, size)); n != size {
		return -1, fmt.Errorf("%d of %d bytes were written: %w", n, size, err)
	}
	return fd, nil
}

// inFlight leaves a file in a socket.
func inFlight(size int) error {
	fd, err := filledFile(size)
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(fd), nil, 0), unix.Close(fd))
}

// shared fills shared memory that nobody has a descriptor of.
func shared(size int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	for i := 0; i < len(m); i += os.Getpagesize() {
		m[i] = 1
	}
	return m, err
}

// droppedMemory keeps its address, and no page that the process is charged for.
func droppedMemory(size int) error {
	m, err := shared(size)
	return errors.Join(err, unix.Madvise(m, unix.MADV_DONTNEED))
}

// unmappedMemory keeps one page mapped: that holds the others.
func unmappedMemory(size int) error {
	m, err := shared(size)
	if err != nil {
		return err
	}
	_, err = unix.Mremap(m, os.Getpagesize(), 0)
	return err
}
