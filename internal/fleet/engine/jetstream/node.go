package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"cordon/internal/fleet/engine"
)

// node is the side of a node.
type node struct {
	link Link
	name string
	conn *nats.Conn
	js   jetstream.JetStream

	mu     sync.Mutex
	queues map[string]jetstream.Consumer // by class
	woken  chan struct{}                 // closed and replaced when the node's own queue may be there
}

// Node connects the side of a node. Its name is its public key; where the link has no key,
// the caller names it.
func Node(l Link, name string) (engine.Node, error) {
	if l.Key != nil {
		public, err := l.Key.PublicKey()
		if err != nil {
			return nil, err
		}
		name = public
	}
	if err := engine.CheckWord(name); err != nil {
		return nil, err
	}
	n := &node{link: l, name: name, queues: map[string]jetstream.Consumer{}, woken: make(chan struct{})}
	back := l.Back
	l.Back = func() {
		if back != nil {
			back()
		}
		n.wakeUp()
	}
	var err error
	if n.conn, n.js, err = open(l); err != nil {
		return nil, err
	}
	if _, err = n.conn.Subscribe(wakeSubject(name), func(*nats.Msg) { n.wakeUp() }); err != nil {
		n.conn.Close()
		return nil, err
	}
	return n, nil
}

// wakeUp tells whoever waits for the node's own queue that it may be there: the home says so, and it may
// have while no server was.
func (n *node) wakeUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.woken)
	n.woken = make(chan struct{})
}

func (n *node) wake() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.woken
}

// Next is that of engine.Node. A queue that is not there, or not any more, is waited for:
// the home makes it with its next offer.
func (n *node) Next(ctx context.Context, class string) ([]byte, error) {
	if err := engine.CheckWord(class); err != nil {
		return nil, err
	}
	for wait := shortest; ctx.Err() == nil; {
		woken := n.wake()
		offer, err := n.pull(ctx, class)
		switch {
		case offer != nil:
			return offer, nil
		case n.conn.IsClosed():
			return nil, engine.ErrClosed
		case err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout):
			wait = shortest // nothing came
		case class == n.name && (errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound)):
			select {
			case <-ctx.Done():
			case <-woken:
			case <-time.After(n.untilLook()):
			}
		default:
			pause(ctx, wait)
			wait = min(2*wait, patience)
		}
	}
	return nil, ctx.Err()
}

const (
	shortest = 50 * time.Millisecond
	// unwoken is how long a node waits for a queue of its own if nobody wakes it. The home does with each offer, and
	// repeats the offer.
	unwoken = 10 * time.Minute
	// pullFor is how long one pull stays open. Servers send a sign of life in between, so that
	// one which was forgotten is noticed sooner: a consumer may stall when its servers change.
	pullFor = 2 * time.Minute
	lives   = 20 * time.Second // how often servers send one
	// The home's own engine does not change servers. It says when it deletes a queue, and loses everything
	// only together with the connection. So a node asks it rarely: each time that a pull is opened, gets a sign of life or ends, the
	// engine looks at the pulls of all nodes, which was most of what nodes that wait cost.
	ownPullFor = time.Hour
	ownShort   = time.Minute // the first pull, at least
)

// openFor is how long the next pull of a class stays open. Nodes of the home's own engine that connected at the same moment do
// not stay in step: the first pull of each ends at any time.
func (n *node) openFor(class string) time.Duration {
	switch {
	case n.link.Key == nil:
		return pullFor
	case n.knows(class):
		return ownPullFor*7/10 + rand.N(ownPullFor*6/10)
	}
	return ownShort + rand.N(ownPullFor)
}

// signs is how often servers send a sign of life while a pull is open, which is longer than two of them.
func (n *node) signs(open time.Duration) time.Duration {
	switch {
	case n.link.Key == nil:
		return min(lives, open/3)
	case open < ownShort:
		return open / 3
	}
	return open * 9 / 20 // one
}

// untilLook is how long a node waits for a queue of its own until it looks again.
func (n *node) untilLook() time.Duration {
	if n.link.Key == nil {
		return unwoken
	}
	return n.openFor(n.name)
}

// pull asks for one offer, and for a while only.
func (n *node) pull(ctx context.Context, class string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, n.openFor(class))
	defer cancel()
	lost := n.conn.StatusChanged(nats.RECONNECTING) // with the connection, the server forgets the pull
	defer n.conn.RemoveStatusListener(lost)
	go func() {
		select {
		case <-limited.Done():
		case <-lost:
			cancel()
		}
	}()
	c, err := n.consumer(limited, class)
	if err != nil {
		return nil, err
	}
	end, _ := limited.Deadline()
	m, err := c.Next(jetstream.FetchContext(limited), jetstream.FetchHeartbeat(n.signs(time.Until(end))))
	if err != nil {
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) {
			n.forget(class)
		}
		return nil, err
	}
	_ = m.Ack() // an offer that is delivered again gets no second grant
	return m.Data(), nil
}

// knows reports whether the queue of a class was found. A node forgets it with the connection.
func (n *node) knows(class string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.queues[class] != nil
}

// consumer finds the queue of a class once.
func (n *node) consumer(ctx context.Context, class string) (jetstream.Consumer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.queues[class]; c != nil {
		return c, nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := n.js.Consumer(limited, stream(n.link.Fleet), class)
	if err == nil {
		n.queues[class] = c
	}
	return c, err
}

func (n *node) forget(class string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.queues, class)
}

// Ask is that of engine.Node.
func (n *node) Ask(ctx context.Context, question []byte) ([]byte, error) {
	if err := engine.CheckSize(question); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := n.conn.RequestWithContext(limited, askSubject(n.link.Fleet, n.name), question)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, nats.ErrConnectionClosed):
		return nil, engine.ErrClosed
	case err != nil:
		return nil, engine.ErrNoAnswer
	}
	return m.Data, nil
}

// Close is that of engine.Node.
func (n *node) Close() error {
	n.conn.Close()
	return nil
}
