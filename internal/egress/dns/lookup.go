package dns

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// lookupsAtOnce is how many names are asked for outside at the same time, and
	// lookupsWaiting how many more wait for their turn.
	lookupsAtOnce  = 32
	lookupsWaiting = 256
	// foundRoom is how many results are kept, and foundFor how long: as long as a
	// program takes from asking for a name to connecting to it.
	foundRoom = 1024
	foundFor  = 5 * time.Second
	// failedFor is how long a failure is not tried again.
	failedFor = time.Second
)

var errBusy = errors.New("too many names are being resolved")

// lookups asks for each name once, however many want to know it, for a few names at
// a time, and keeps what was found for a moment. A name that nobody waits for any
// more is not asked for any longer.
type lookups struct {
	find func(ctx context.Context, name string) ([]netip.Addr, error)

	mu      sync.Mutex
	turns   chan struct{}
	running map[string]*lookup
	found   map[string]found
}

// lookup is one that is under way. What came of it is there when done is closed.
type lookup struct {
	name    string
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	addrs   []netip.Addr
	err     error
}

type found struct {
	addrs []netip.Addr // none: there is no such name
	err   error
	until time.Time
}

// get is what find says, or said a moment ago. Nobody may change it.
func (l *lookups) get(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	addrs, known, one, err := l.join(name)
	if known || err != nil {
		return addrs, err
	}
	select {
	case <-one.done:
		return one.addrs, one.err
	case <-ctx.Done():
		l.leave(one)
		return nil, ctx.Err()
	}
}

// join finds a result, or a lookup to wait for.
func (l *lookups) join(name string) (addrs []netip.Addr, known bool, one *lookup, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.found[name]; ok && time.Now().Before(f.until) {
		return f.addrs, true, nil, f.err
	}
	one, ok := l.running[name]
	if !ok && len(l.running) >= lookupsAtOnce+lookupsWaiting {
		return nil, false, nil, errBusy
	}
	if !ok {
		one = l.start(name)
	}
	one.waiting++
	return nil, false, one, nil
}

func (l *lookups) start(name string) *lookup {
	if l.running == nil { // a cell that resolves nothing pays for nothing
		l.turns, l.running, l.found = make(chan struct{}, lookupsAtOnce), map[string]*lookup{}, map[string]found{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	one := &lookup{name: name, cancel: cancel, done: make(chan struct{})}
	l.running[name] = one
	go l.run(ctx, one)
	return one
}

func (l *lookups) run(ctx context.Context, one *lookup) {
	defer one.cancel()
	select {
	case l.turns <- struct{}{}:
		one.addrs, one.err = l.find(ctx, one.name)
		<-l.turns
	case <-ctx.Done():
		one.err = ctx.Err()
	}
	l.end(one)
	close(one.done)
}

// end keeps what was found. A failure is kept for a moment only.
func (l *lookups) end(one *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[one.name] == one {
		delete(l.running, one.name)
	}
	if errors.Is(one.err, context.Canceled) {
		return // nobody waits for it any more
	}
	now := time.Now()
	if len(l.found) >= foundRoom {
		l.forget(now)
	}
	keep := foundFor
	if one.err != nil {
		keep = failedFor
	}
	l.found[one.name] = found{one.addrs, one.err, now.Add(keep)}
}

// forget makes room: what is old goes, and otherwise any.
func (l *lookups) forget(now time.Time) {
	for name, f := range l.found {
		if !now.Before(f.until) {
			delete(l.found, name)
		}
	}
	for name := range l.found {
		if len(l.found) < foundRoom {
			return
		}
		delete(l.found, name)
	}
}

// clear drops every result: what is asked for next is looked up again.
func (l *lookups) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.found)
}

// leave ends a lookup with the last who waits for it. Who comes later starts
// another: this one ends with an error.
func (l *lookups) leave(one *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.waiting--; one.waiting > 0 {
		return
	}
	one.cancel()
	if l.running[one.name] == one {
		delete(l.running, one.name)
	}
}
