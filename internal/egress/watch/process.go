package watch

import (
	"net/netip"
	"sync"
	"time"

	"cordon/internal/egress/record"
)

// What finding processes may cost: it is asked for what a worker does, as often as
// the worker does it.
const (
	maxOwners    = 50 // lookups in a second
	ownersBudget = 200 * time.Millisecond
	ownerBudget  = 20 * time.Millisecond // for one
	maxProcesses = 4096
)

// Owner finds the process of a cell that has a socket, by the cell's first process:
// its name and its number in the cell, or "". It is a help for people and proves
// nothing, for a process names itself.
func Owner(pid int) func(from, to netip.AddrPort) string {
	o := &owners{cell: pid}
	return func(from, to netip.AddrPort) string { return o.find(from, to) }
}

// owners bounds what is spent on finding them, and remembers where some were found.
type owners struct {
	cell int

	mu     sync.Mutex
	second time.Time // when the present one began
	asked  int
	spent  time.Duration
	recent []int // processes that had sockets, the latest first
}

func (o *owners) find(from, to netip.AddrPort) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	began := time.Now()
	if o.cell <= 0 || !from.IsValid() || !to.IsValid() || !o.affords(began) {
		return ""
	}
	name := o.search(from, to, began.Add(ownerBudget))
	o.spent += time.Since(began)
	return record.TidyText(name, record.MaxProcessText)
}

// affords counts a lookup, if there may be one more.
func (o *owners) affords(now time.Time) bool {
	if now.Sub(o.second) >= time.Second {
		o.second, o.asked, o.spent = now, 0, 0
	}
	o.asked++
	return o.asked <= maxOwners && o.spent < ownersBudget
}

// remember puts a process first among those that are asked first.
func (o *owners) remember(pid int) {
	const room = 8
	kept := []int{pid}
	for _, old := range o.recent {
		if old != pid && len(kept) < room {
			kept = append(kept, old)
		}
	}
	o.recent = kept
}

// Listener tells whether a program of a cell listens at a port, by the cell's first
// process. What was found is good for a moment: many may ask.
func Listener(pid int) func(port uint16) bool {
	var mu sync.Mutex
	var ports map[uint16]bool
	var read time.Time
	return func(port uint16) bool {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(read) > listeningFor {
			ports = listeningPorts(pid, time.Now().Add(listeningTime))
			read = time.Now()
		}
		return ports[port]
	}
}

const (
	listeningFor  = 500 * time.Millisecond
	listeningTime = 20 * time.Millisecond
	maxListening  = 1024
)
