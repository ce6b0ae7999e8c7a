package walls

import (
	"os"
	"sync"

	"cordon/internal/seccomp"
)

// Refusals counts the system calls that were refused. What the cell tries to
// prove itself does not count.
type Refusals struct {
	sync.Mutex
	counting bool
	calls    map[string]int
}

// Supervise answers for the filter until the last process behind it has ended.
func (r *Refusals) Supervise(listener *os.File) {
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

// StartCounting is called when the proof is over.
func (r *Refusals) StartCounting() {
	r.Lock()
	defer r.Unlock()
	r.counting = true
}

// Counted is how often each system call was refused.
func (r *Refusals) Counted() map[string]int {
	r.Lock()
	defer r.Unlock()
	return r.calls
}
