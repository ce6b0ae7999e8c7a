package limit

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// What is spare is part of what the machine has, and memory that is taken is not spare.
func TestSpareMemory(t *testing.T) {
	total, err := MachineMemory()
	if err != nil {
		t.Fatal(err)
	}
	before := SpareMemory()
	if before <= 0 || before > total {
		t.Fatalf("%d of %d are spare", before, total)
	}
	const taken = 1 << 30 // more than what others take and give meanwhile
	if before < 4*taken {
		t.Logf("only %d are spare: nothing is taken", before)
		return
	}
	m, err := unix.Mmap(-1, 0, taken, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	for range 5 { // others take and give too
		before = SpareMemory()
		for i := 0; i < taken; i += os.Getpagesize() {
			m[i] = 1
		}
		if SpareMemory() < before-taken/2 {
			return
		}
		if err := unix.Madvise(m, unix.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%d taken, and %d are still spare (%d before)", taken, SpareMemory(), before)
}

func TestField(t *testing.T) {
	text := "MemTotal:       100 kB\nMemAvailable:    40 kB\nodd\ninactive_file 7\n"
	for name, want := range map[string]int64{"MemAvailable:": 40, "inactive_file": 7, "odd": 0, "Mem": 0} {
		if got := field(text, name); got != want {
			t.Errorf("%s is %d", name, got)
		}
	}
}
