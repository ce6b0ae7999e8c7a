package arena

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// NewKey is a key that nobody else uses.
func (f *Fixture) NewKey() int {
	n, err := strconv.ParseUint("1"+RandomName()[:6], 16, 31)
	if err != nil {
		panic(err) // it is hexadecimal
	}
	f.Args["key"] = fmt.Sprint(n)
	return int(n)
}

// MakeSharedMemory makes shared memory of System V on the host.
func MakeSharedMemory(f *Fixture) error {
	id, err := unix.SysvShmGet(f.NewKey(), 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	f.OnClose(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	f.Peaks["id"] = id
	return err
}

// WriteSharedMemory writes the mark into it.
func WriteSharedMemory(a *Arena) error {
	id, err := unix.SysvShmGet(a.Number("key"), 4096, 0)
	if err != nil {
		return err
	}
	m, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return err
	}
	copy(m, a.Mark)
	return unix.SysvShmDetach(m)
}

// JudgeSharedMemory judges by what it holds.
func JudgeSharedMemory(f *Fixture) (string, error) {
	m, err := unix.SysvShmAttach(f.Peaks["id"], 0, unix.SHM_RDONLY)
	if err != nil {
		return "", err
	}
	defer unix.SysvShmDetach(m)
	if strings.HasPrefix(string(m), f.Mark) {
		return "the shared memory was written", nil
	}
	return "", nil
}
