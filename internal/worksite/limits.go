package worksite

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// LimitsHere are limits with numbers for what depends on the machine, as a worker that
// started now would get them.
func LimitsHere(l policy.Limits) (policy.Limits, error) {
	root, err := state.RealRoot()
	if err != nil {
		return l, err
	}
	return LimitsAt(l, root)
}

// LimitsAt replaces the limits that depend on the machine. Disk is what is free
// where the worker will write.
func LimitsAt(l policy.Limits, dir string) (policy.Limits, error) {
	var m policy.Machine
	var err error
	if m.Memory, err = cell.MachineMemory(); err != nil {
		return l, fmt.Errorf("limits.memory: auto: %w; name a size", err)
	}
	for !Exists(dir) && dir != "/" { // it is made later
		dir = filepath.Dir(dir)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return l, fmt.Errorf("limits.disk: auto: %s: %w; name a size", dir, err)
	}
	m.Disk = int64(fs.Bavail) * int64(fs.Bsize)
	return l.For(m), nil
}
