package cell

import (
	"os"
	"sync"

	"cordon/internal/seccomp"
)

// refusals counts the system calls that were refused. What the cell tries to
// prove itself does not count.
type refusals struct {
	sync.Mutex
	counting bool
	calls    map[string]int
}

// supervise answers for the filter until the last process behind it has ended.
func (r *refusals) supervise(listener *os.File) {
	defer listener.Close()
	_ = seccomp.Supervise(int(listener.Fd()), func(call seccomp.Refusal) { // its end is the cell's
		r.Lock()
		defer r.Unlock()
		if !r.counting {
			return
		}
		if r.calls == nil {
			r.calls = map[string]int{}
		}
		r.calls[call.Call]++
	})
}

func (r *refusals) count() {
	r.Lock()
	defer r.Unlock()
	r.counting = true
}

func (r *refusals) list() map[string]int {
	r.Lock()
	defer r.Unlock()
	return r.calls
}
