package shell

import (
	"time"

	"golang.org/x/sys/unix"
)

// spent is the processor time of this thread. The clock on the wall would end a
// harmless script on a machine that is busy with something else.
func spent() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 1<<63 - 1
	}
	return time.Duration(ts.Nano())
}
