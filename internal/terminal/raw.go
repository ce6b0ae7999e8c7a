package terminal

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// raw reports whether w is a terminal that takes output as it is.
func raw(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	modes, err := unix.IoctlGetTermios(int(f.Fd()), getModes)
	return err == nil && modes.Oflag&unix.OPOST == 0
}
