package jetstream

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"cordon/internal/fleet/engine"
)

// home is the side of a home.
type home struct {
	link Link
	conn *nats.Conn
	js   jetstream.JetStream
	busy chan struct{} // bounds the questions that are answered at the same time

	mu      sync.Mutex
	ensured map[string]time.Time // classes whose queue was there, and when
	made    map[string]bool      // classes whose queue this home has made
	few     bool                 // the queue has fewer copies than it should have
}

// atOnce bounds the questions that a home works on at the same time.
const atOnce = 64

// Home connects the side of a home.
func Home(l Link) (engine.Home, error) {
	conn, js, err := open(l)
	if err != nil {
		return nil, err
	}
	return &home{link: l, conn: conn, js: js, busy: make(chan struct{}, atOnce), ensured: map[string]time.Time{}, made: map[string]bool{}}, nil
}

// Offer is that of engine.Home. A queue that the servers have lost is made again.
func (h *home) Offer(ctx context.Context, class, name string, offer []byte) error {
	if err := errors.Join(engine.CheckWord(class, name), engine.CheckSize(offer)); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	err := h.offer(limited, class, name, offer)
	if err != nil && !errors.Is(err, engine.ErrFull) {
		h.forget(class)
		err = h.offer(limited, class, name, offer)
	}
	return err
}

func (h *home) offer(ctx context.Context, class, name string, offer []byte) error {
	if err := h.ensure(ctx, class); err != nil {
		return err
	}
	_, err := h.js.Publish(ctx, offerSubject(h.link.Fleet, class, name), offer, jetstream.WithRetryAttempts(0))
	switch {
	case err == nil, strings.Contains(err.Error(), "maximum messages per subject exceeded"): // it waits already
		return h.wake(class)
	case strings.Contains(err.Error(), "maximum messages exceeded"):
		return engine.ErrFull
	}
	return err
}

// wake tells the node whose own class this is that an offer waits. The message may be lost: it comes again with the
// next offer, and a home repeats an offer until a node has it.
func (h *home) wake(class string) error {
	if class == AnyClass {
		return nil
	}
	return h.conn.Publish(wakeSubject(class), nil)
}

// maxPulls bounds the nodes that wait for offers of one class, one for each of their slots. A server refuses more
// than 512 unless it is told, and nodes that are refused ask again and again.
const maxPulls = 100000

// believed is how long a queue that was there is taken to be there.
const believed = 5 * time.Second

// ensure makes the queue of a class, if it is not there.
func (h *home) ensure(ctx context.Context, class string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.ensured[class]) < believed {
		return nil
	}
	if h.made[class] && !h.few {
		if _, err := h.js.Consumer(ctx, stream(h.link.Fleet), class); err == nil {
			h.ensured[class] = time.Now()
			return nil
		}
	}
	s, err := h.makeStream(ctx)
	if err != nil {
		return err
	}
	// A node acknowledges an offer as soon as it has it. MaxDeliver has no bound: a message
	// beyond it would be stuck in silence.
	_, err = s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: class, FilterSubject: offerSubject(h.link.Fleet, class, "*"), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: 5 * time.Second, MaxDeliver: -1, MemoryStorage: true, MaxWaiting: maxPulls,
	})
	if err != nil {
		return err
	}
	h.ensured[class], h.made[class] = time.Now(), true
	return nil
}

// makeStream makes the stream with as many copies as the link wants. If there are not so many servers, one copy has to do until there
// are. The lock is held.
func (h *home) makeStream(ctx context.Context) (jetstream.Stream, error) {
	c := jetstream.StreamConfig{
		Name: stream(h.link.Fleet), Subjects: []string{offerSubject(h.link.Fleet, "*", "*")},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.MemoryStorage, Replicas: max(h.link.Many, 1),
		MaxMsgs: engine.MaxWaiting, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgSize: engine.MaxMessage,
	}
	s, err := h.js.CreateOrUpdateStream(ctx, c)
	h.few = c.Replicas > 1 && tooFewServers(err)
	if h.few {
		c.Replicas = 1
		s, err = h.js.CreateOrUpdateStream(ctx, c)
	}
	return s, err
}

// tooFewServers reports whether servers have refused to keep copies of a stream: one that is alone, or a cluster of which too few are there.
func tooFewServers(err error) bool {
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.ErrorCode {
	case replicasNotSupported, noSuitablePeers:
		return true
	}
	return false
}

// Error codes of a server that the client has no names for.
const (
	noSuitablePeers      jetstream.ErrorCode = 10005
	replicasNotSupported jetstream.ErrorCode = 10074
)

func (h *home) forget(class string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ensured, class)
}

// Waiting is that of engine.Home. A queue that is not there holds nothing.
func (h *home) Waiting(ctx context.Context) (int, error) {
	s, err := h.js.Stream(ctx, stream(h.link.Fleet))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int(s.CachedInfo().State.Msgs), nil
}

// Answer is that of engine.Home. It also makes the queue that all nodes wait for; if it cannot, the first
// offer does.
func (h *home) Answer(answer func(node string, question []byte) []byte) error {
	prefix := askSubject(h.link.Fleet, "")
	_, err := h.conn.Subscribe(prefix+"*", func(m *nats.Msg) {
		h.busy <- struct{}{} // questions that come meanwhile wait in the client, and are asked again
		go func() {
			defer func() { <-h.busy }()
			asks := strings.TrimPrefix(m.Subject, prefix)
			if said := answer(asks, m.Data); said != nil && h.answersTo(asks, m.Reply) {
				_ = m.Respond(said) // who gets no answer asks again
			}
		}()
	})
	go func() {
		limited, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		_ = h.ensure(limited, AnyClass)
	}()
	return err
}

// answersTo reports whether an answer may go to a subject. The home may publish everywhere, and whoever
// asks names the subject: it has to be an inbox, and where keys decide who connects, the asker's own.
func (h *home) answersTo(asks, reply string) bool {
	if h.link.Key == nil {
		return strings.HasPrefix(reply, "_INBOX.")
	}
	return strings.HasPrefix(reply, inbox(asks)+".")
}

// Close is that of engine.Home.
func (h *home) Close() error {
	h.conn.Close()
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
