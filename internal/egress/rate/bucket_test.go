package rate

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func takes(b *Bucket) int {
	n := 0
	for b.Take() {
		n++
	}
	return n
}

func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100, 200)
		for _, step := range []struct {
			rest time.Duration
			want int
		}{{0, 200}, {0, 0}, {10 * time.Millisecond, 1}, {time.Second, 100}, {time.Hour, 200}} {
			time.Sleep(step.rest)
			if got := takes(b); got != step.want {
				t.Errorf("%d after %s, want %d", got, step.rest, step.want)
			}
		}
		if got := takes(New(0, -1)); got != 1 {
			t.Errorf("a limit of nothing lets %d pass", got)
		}
	})
}

func TestBucketWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10, 1)
		begin := time.Now()
		var wg sync.WaitGroup
		for range 21 {
			wg.Go(func() {
				if err := b.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if d := time.Since(begin); d < 1999*time.Millisecond || d > 2001*time.Millisecond {
			t.Errorf("21 at 10 in a second took %s", d)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who gave up was told %v", err)
		}
		if err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who had given up before was told %v", err)
		}
		begin = time.Now() // what was promised to them is there for others
		if err := b.Wait(t.Context()); err != nil || time.Since(begin) > 91*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}
