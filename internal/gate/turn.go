package gate

import (
	"context"
	"errors"
	"time"

	"cordon/internal/state"
)

// turnLock is held by the gate whose result takes its last steps: hooks, signature, landing. The
// queue of a branch lets one result at a time do so; this holds for all branches.
const turnLock = "turn.lock"

// turn is one gate's turn.
type turn struct {
	dir     state.Dir
	release func()
	waits   func() // called once when it has to wait; may be nil
}

// take waits for the turn. It gives up when ctx ends, which a blocking lock
// would not.
func (t *turn) take(ctx context.Context) error {
	for t.release == nil {
		release, err := t.dir.Lock(turnLock, false)
		if err == nil {
			t.release = release
			return nil
		}
		if !errors.Is(err, state.ErrLocked) {
			return err
		}
		if t.waits != nil {
			t.waits()
			t.waits = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// end lets the next one in.
func (t *turn) end() {
	if t.release != nil {
		t.release()
		t.release = nil
	}
}
