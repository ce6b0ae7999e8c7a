// Package rate bounds how often something happens. It keeps time and counts; it does
// not know what it bounds, and it starts nothing that would have to be ended.
package rate

import (
	"context"
	"sync"
	"time"
)

// Bucket bounds how often something happens: so many times in a second, and a few
// more after a rest. It works by the clock alone, and has nothing to end.
type Bucket struct {
	PerSecond float64
	Burst     float64

	mu     sync.Mutex
	tokens float64 // below zero: promised to those who wait
	filled time.Time
}

// New is full. Less than one is one: no limit is not to be had by mistake.
func New(perSecond, burst int) *Bucket {
	b := &Bucket{PerSecond: float64(max(perSecond, 1)), Burst: float64(max(burst, 1))}
	b.tokens, b.filled = b.Burst, time.Now()
	return b
}

// fill adds what the time since the last call is worth.
func (b *Bucket) fill() {
	now := time.Now()
	if d := now.Sub(b.filled); d > 0 {
		b.tokens = min(b.Burst, b.tokens+d.Seconds()*b.PerSecond)
	}
	b.filled = now
}

// Take reports whether it may happen now.
func (b *Bucket) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// Wait returns when it may happen, in the order of the calls, or with the context's
// error when it has ended before.
func (b *Bucket) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := b.reserve()
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		b.mu.Lock()
		b.tokens++
		b.mu.Unlock()
		return ctx.Err()
	}
}

// reserve takes one in advance, and says how long to wait for it.
func (b *Bucket) reserve() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	b.tokens--
	return time.Duration(-b.tokens / b.PerSecond * float64(time.Second))
}
