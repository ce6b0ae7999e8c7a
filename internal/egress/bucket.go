package egress

import (
	"context"
	"sync"
	"time"
)

// bucket bounds how often something happens: so many times in a second, and a few
// more after a rest. It works by the clock alone, and has nothing to end.
type bucket struct {
	perSecond float64
	burst     float64

	mu     sync.Mutex
	tokens float64 // below zero: promised to those who wait
	filled time.Time
}

// newBucket is full. Less than one is one: no limit is not to be had by mistake.
func newBucket(perSecond, burst int) *bucket {
	b := &bucket{perSecond: float64(max(perSecond, 1)), burst: float64(max(burst, 1))}
	b.tokens, b.filled = b.burst, time.Now()
	return b
}

// fill adds what the time since the last call is worth.
func (b *bucket) fill() {
	now := time.Now()
	if d := now.Sub(b.filled); d > 0 {
		b.tokens = min(b.burst, b.tokens+d.Seconds()*b.perSecond)
	}
	b.filled = now
}

// take reports whether it may happen now.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// wait returns when it may happen, in the order of the calls, or with the context's
// error when it has ended before.
func (b *bucket) wait(ctx context.Context) error {
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
func (b *bucket) reserve() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	b.tokens--
	return time.Duration(-b.tokens / b.perSecond * float64(time.Second))
}
