package keep

import (
	"os"
	"path/filepath"
	"syscall"
)

// SweepLater has what was put out of the way deleted by a process of its own, which nobody waits for.
func SweepLater(at string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	dir, err := filepath.Abs(at)
	if err != nil {
		return err
	}
	p, err := os.StartProcess(self, []string{"cordon", "-C", dir, "gc", "--sweep"}, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	return p.Release()
}
