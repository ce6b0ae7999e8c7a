package deskread

import "testing"

// The numbers are those of a machine that runs this test.
func TestMachineOf(t *testing.T) {
	m := MachineOf(t.TempDir())
	if m.Processors < 1 || m.Memory <= 0 || m.Memory >= m.MemoryTotal || m.DiskFree <= 0 || m.Load < 0 {
		t.Errorf("%+v", m)
	}
	if got := kilobytes("MemTotal:       16 kB\nMemFree: 1 kB\n", "MemFree:"); got != 1024 {
		t.Error(got)
	}
	if m := MachineOf("/nowhere/at/all"); m.DiskFree != 0 {
		t.Errorf("%+v", m)
	}
}
