package journal

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// Changes tells when something was appended to the journal of a directory, by whichever
// process. Several appends may be told as one. It ends with ctx.
func Changes(ctx context.Context, dir string) (<-chan struct{}, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_TO|unix.IN_ONLYDIR); err != nil { // every append replaces the head
		unix.Close(fd)
		return nil, &os.PathError{Op: "watch", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), "inotify")
	context.AfterFunc(ctx, func() { f.Close() })
	told := make(chan struct{}, 1)
	go func() {
		defer close(told)
		buf := make([]byte, 64<<10)
		for {
			if _, err := f.Read(buf); err != nil {
				return
			}
			select {
			case told <- struct{}{}:
			default: // it is told already
			}
		}
	}()
	return told, nil
}
