package limit

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeDisk is a disk on which a count takes as long as that of a million files.
type fakeDisk struct {
	mu   sync.Mutex
	free usage
	used usage
	rest func() // before it has counted
}

func (d *fakeDisk) use(u usage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = usage{d.free.bytes - u.bytes, d.free.names - u.names}
	d.used = usage{d.used.bytes + u.bytes, d.used.names + u.names}
}

func (d *fakeDisk) watch() diskWatch {
	return diskWatch{
		room: func() usage { d.mu.Lock(); defer d.mu.Unlock(); return d.free },
		count: func() usage {
			if d.rest != nil {
				d.rest()
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.used
		},
	}
}

// Whoever makes many files first, so that counting them takes long, is found out all the same.
func TestDiskLimitWhereCountingIsSlow(t *testing.T) {
	for name, c := range map[string]struct {
		used usage
		want bool
	}{
		"bytes over":  {usage{bytes: 200}, true},
		"bytes below": {usage{bytes: 90}, false},
		"names over":  {usage{names: 600_000}, true},
		"names below": {usage{names: 400_000}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &fakeDisk{free: usage{bytes: 10_000, names: 1_000_000}, rest: func() { time.Sleep(time.Second) }} // it is not felt for twenty
				stop, over := make(chan struct{}), make(chan bool, 1)
				go func() { over <- d.watch().exceeded(100, stop) }()
				time.Sleep(1500 * time.Millisecond) // the first count is done
				d.use(c.used)
				enough := 8 * time.Second
				if !c.want {
					enough = 30 * roomEvery // many looks that find nothing
				}
				time.AfterFunc(enough, func() { close(stop) })
				if got := <-over; got != c.want {
					t.Errorf("the limit is exceeded: %v", got)
				}
			})
		})
	}
}

// More than the limit that is written before or during the first count is not taken for what
// was there.
func TestDiskLimitAroundTheFirstCount(t *testing.T) {
	for _, after := range []time.Duration{roomEvery / 2, 3 * roomEvery} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &fakeDisk{free: usage{bytes: 10_000, names: 1000}, rest: func() { time.Sleep(time.Second) }}
				stop := make(chan struct{})
				defer time.AfterFunc(20*time.Second, func() { close(stop) }).Stop()
				time.AfterFunc(after, func() { d.use(usage{bytes: 200}) })
				if !d.watch().exceeded(100, stop) {
					t.Error("nobody noticed")
				}
			})
		})
	}
}

// A command that ends at once is not counted.
func TestDiskIsNotCountedForAShortCommand(t *testing.T) {
	t.Parallel()
	w := (&fakeDisk{free: usage{bytes: 10_000, names: 1000}}).watch()
	w.count = func() usage { t.Error("counted"); return usage{} }
	stop := make(chan struct{})
	close(stop)
	if w.exceeded(largeLimit, stop) {
		t.Error("nothing was written")
	}
}

// A disk that is full before the count is done ends the command too.
func TestDiskLimitBeforeTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeDisk{free: usage{bytes: 10_000, names: 1000}}
		w := d.watch()
		counts, over := 0, make(chan struct{})
		defer close(over)
		w.count = func() usage {
			if counts++; counts > 1 {
				<-over // it is never done
			}
			return usage{}
		}
		stop := make(chan struct{})
		defer time.AfterFunc(20*time.Second, func() { close(stop) }).Stop()
		time.AfterFunc(200*time.Millisecond, func() { d.use(usage{bytes: 8000}) })
		if !w.exceeded(100, stop) {
			t.Error("nobody noticed")
		}
	})
}

// Directories that are too deep to be counted never add up to little.
func TestUncountedDirectoriesAddUp(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	deep := filepath.Join(top, strings.Repeat("d/", deepest))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 17 {
		if err := os.Mkdir(filepath.Join(deep, string(rune('a'+i))), 0o755); err != nil {
			t.Fatal(err)
		}
		if n := occupied([]string{top}, unknown).bytes; n < unknown {
			t.Errorf("%d directories that are too deep count as %d bytes", i+1, n)
		}
	}
}

// What is written between the count before a command and the beginning of the watch is the command's.
func TestDiskLimitOfALateWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			before *usage
			want   bool
		}{{&usage{bytes: 20}, true}, {nil, false}} { // without the count, it is taken for what was there
			d := &fakeDisk{free: usage{bytes: 10_000, names: 1000}}
			d.use(usage{bytes: 20})
			d.use(usage{bytes: 200})
			w, stop := d.watch(), make(chan struct{})
			w.before = c.before
			time.AfterFunc(30*roomEvery, func() { close(stop) })
			if got := w.exceeded(100, stop); got != c.want {
				t.Errorf("%v: the limit is exceeded: %v", c.before, got)
			}
		}
	})
}
