package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// heapGrowth is how many percent the memory of a home grows before it is collected. A home that waits
	// makes little garbage, so more frequent collections cost it little.
	heapGrowth = 50
	// returnEvery is how often memory is collected and what is not needed goes back to the system. The engine needs 25 KB of
	// stack to send something to a node, and a stack shrinks by half each time that memory is collected. So this, more than
	// garbage, decides how large a home with many nodes is. It takes about 50 ms with a thousand nodes.
	returnEvery = 15 * time.Second
)

// noMemoryProfile does without the runtime's own record of allocations. The engine links code that can show it, so the runtime keeps
// it, and nobody looks.
func noMemoryProfile() { runtime.MemProfileRate = 0 }

// spareMemory keeps a home small, until ctx ends.
func spareMemory(ctx context.Context) {
	if os.Getenv("GOGC") == "" { // the operator knows better
		debug.SetGCPercent(heapGrowth)
	}
	tick := time.NewTicker(returnEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.FreeOSMemory()
		}
	}
}
