package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Local is the engine of one process: no server, no network, no disk.
type Local struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when an offer comes or the engine is closed
	queues  map[string][]offered
	answer  func(node string, question []byte) []byte
	closed  bool
	answers sync.WaitGroup // under way
}

type offered struct {
	name    string
	content []byte
}

// NewLocal makes one. It is its own home; Node makes the other sides.
func NewLocal() *Local {
	return &Local{changed: make(chan struct{}), queues: map[string][]offered{}}
}

// Offer is that of Home.
func (l *Local) Offer(_ context.Context, class, name string, offer []byte) error {
	if err := errors.Join(CheckWord(class, name), CheckSize(offer)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrClosed
	case slices.ContainsFunc(l.queues[class], func(o offered) bool { return o.name == name }):
		return nil
	case l.waiting() >= MaxWaiting:
		return ErrFull
	}
	l.queues[class] = append(l.queues[class], offered{name, slices.Clone(offer)})
	l.wake()
	return nil
}

// Waiting is that of Home.
func (l *Local) Waiting(context.Context) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting(), nil
}

func (l *Local) waiting() (n int) {
	for _, q := range l.queues {
		n += len(q)
	}
	return n
}

func (l *Local) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Answer is that of Home.
func (l *Local) Answer(answer func(node string, question []byte) []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.answer = answer
	return nil
}

// Close is that of Home: nodes wait no longer. It returns when the last answer has been given.
func (l *Local) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed, l.answer = true, nil
		l.wake()
	}
	l.mu.Unlock()
	l.answers.Wait()
	return nil
}

// Node is the side of a node.
func (l *Local) Node(name string) Node { return localNode{l, name} }

type localNode struct {
	*Local
	name string
}

// Next is that of Node.
func (n localNode) Next(ctx context.Context, class string) ([]byte, error) {
	for {
		offer, changed, err := n.take(class)
		if offer != nil || err != nil {
			return offer, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (n localNode) take(class string) (offer []byte, changed <-chan struct{}, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, nil, ErrClosed
	}
	q := n.queues[class]
	if len(q) == 0 {
		return nil, n.changed, nil
	}
	n.queues[class] = q[1:]
	return q[0].content, nil, nil
}

// Ask is that of Node.
func (n localNode) Ask(ctx context.Context, question []byte) ([]byte, error) {
	if err := CheckSize(question); err != nil {
		return nil, err
	}
	said := make(chan []byte, 1)
	n.mu.Lock()
	answer := n.answer
	if answer != nil {
		n.answers.Go(func() { said <- answer(n.name, slices.Clone(question)) })
	}
	n.mu.Unlock()
	if answer == nil {
		return nil, ErrNoAnswer
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-said:
		return a, nil
	}
}

// Close is that of Node, and leaves the engine open for the others.
func (n localNode) Close() error { return nil }

// Forget loses every offer that waits.
func (l *Local) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queues = map[string][]offered{}
}
