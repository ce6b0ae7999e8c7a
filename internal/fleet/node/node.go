// Package node is the side of a fleet that runs stages: it takes offers while it has room, asks
// the home for each, beats while a stage runs, and returns the result until the home has it.
//
// It believes its home's signature and nothing else. It refuses to start a stage without a
// grant, and to go on with one that the home has taken back.
package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/protocol"
)

// Node takes and runs stages.
type Node struct {
	Engine  engine.Node
	Key     nkeys.KeyPair
	Home    protocol.Node // what it believes
	Program string
	Classes []string      // of offers that it takes
	Slots   int           // so many stages at the same time
	Beat    time.Duration // how often it beats
	// Can is what it can run, asked each time that it is said; nil: commands.
	Can func() protocol.Can
	// Run runs a stage. Its context ends when the home takes the stage back. It fills in what
	// the manifest says about the result.
	Run func(ctx context.Context, h *Hold, o protocol.Offer) (protocol.Result, error)
	// Fails hears of stages that could not be run; nil: nobody does.
	Fails func(lease string, err error)

	room   chan struct{} // one for each stage that runs
	counts counts
	mu     sync.Mutex
	hands  map[string]bool // leases that it works on
}

// take notes that the node works on a lease. It fails if it does so already: the home knows one grant for
// it, and an offer may come twice.
func (n *Node) take(lease string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hands[lease] {
		return false
	}
	if n.hands == nil {
		n.hands = map[string]bool{}
	}
	n.hands[lease] = true
	return true
}

func (n *Node) drop(lease string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.hands, lease)
}

// can is what the node says that it can run.
func (n *Node) can() protocol.Can {
	if n.Can == nil {
		return protocol.Can{Slots: n.Slots}
	}
	c := n.Can()
	c.Slots = n.Slots
	return c
}

// Work takes and runs stages until ctx ends.
func (n *Node) Work(ctx context.Context) {
	n.room = make(chan struct{}, n.Slots)
	var all sync.WaitGroup
	for _, class := range n.Classes {
		for range n.Slots {
			all.Go(func() {
				for ctx.Err() == nil {
					n.one(ctx, class)
				}
			})
		}
	}
	all.Wait()
}

// one takes an offer and sees it to its end. An offer that comes while the node has no room is let
// go after a while: the home offers it again, to whoever has.
func (n *Node) one(ctx context.Context, class string) {
	raw, err := n.Engine.Next(ctx, class)
	if err != nil {
		pause(ctx, 100*time.Millisecond) // the engine is not there
		return
	}
	n.counts.offers.Add(1)
	select {
	case n.room <- struct{}{}:
		defer func() { <-n.room }()
	case <-ctx.Done():
		return
	case <-time.After(n.Beat):
		return
	}
	o, err := n.Home.Accept(raw, time.Now())
	if err != nil {
		return // it is forged, for others, or too late
	}
	if !n.take(o.Lease) {
		return
	}
	defer n.drop(o.Lease)
	a, err := n.ask(ctx, func(h protocol.Header) any {
		h.Kind = protocol.AskKind
		return protocol.Ask{Header: h, Lease: o.Lease, Hash: o.Hash, Can: n.can()}
	})
	if err != nil || a.Verdict != protocol.Granted {
		return
	}
	n.counts.granted.Add(1)
	n.counts.running.Add(1)
	defer n.counts.running.Add(-1)
	held, stop := context.WithCancel(ctx)
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		n.beat(held, o.Lease, a.Fence, stop)
	}()
	result, err := n.Run(held, &Hold{n, o.Lease, a.Fence}, o)
	switch {
	case held.Err() != nil:
		n.counts.stopped.Add(1)
	case errors.Is(err, errRefused):
		n.refused(o.Lease, err)
	case err != nil:
		n.counts.failed.Add(1)
		n.fails(o.Lease, err)
	default:
		n.end(o.Lease, n.giveBack(held, o, a.Fence, result))
	}
	stop()
	<-beating
}

// beat says every now and then that the node works on a stage, and stops that when the home
// says so. While there is no answer, it goes on: the fence decides in the end.
func (n *Node) beat(ctx context.Context, lease string, fence uint64, stop func()) {
	for count := uint64(1); ctx.Err() == nil; count++ {
		pause(ctx, n.Beat)
		raw, err := n.sign(func(h protocol.Header) any {
			h.Kind = protocol.BeatKind
			return protocol.Beat{Header: h, Lease: lease, Fence: fence, Count: count}
		})
		if err != nil {
			return
		}
		a, err := n.once(ctx, raw)
		if err == nil && a.Verdict != protocol.Go && a.Verdict != protocol.Replayed {
			stop()
		}
	}
}

// end notes what became of a result.
func (n *Node) end(lease string, a protocol.Answer) {
	switch a.Verdict {
	case protocol.Taken:
		n.counts.returned.Add(1)
	case "": // the stage was taken back before the home had judged the result
		n.counts.stopped.Add(1)
	default:
		n.refused(lease, refusal(a))
	}
}

func (n *Node) refused(lease string, err error) {
	n.counts.refused.Add(1)
	n.fails(lease, err)
}

func (n *Node) fails(lease string, err error) {
	if n.Fails != nil {
		n.Fails(lease, err)
	}
}

// errRefused says that the home has not taken a result, or its pack.
var errRefused = errors.New("the home does not take the result")

func refusal(a protocol.Answer) error { return fmt.Errorf("%w: %s", errRefused, a.Say) }

// giveBack returns a result until the home has judged it, and returns its answer. An older home cannot read why a stage
// failed, and gets the result without that.
func (n *Node) giveBack(ctx context.Context, o protocol.Offer, fence uint64, r protocol.Result) protocol.Answer {
	a := n.sendResult(ctx, o, fence, r)
	if a.Verdict == protocol.Malformed && r.Limited {
		r.Limited = false
		a = n.sendResult(ctx, o, fence, r)
	}
	return a
}

// sendResult sends a result until there is an answer. The message stays the same, so that the home knows it when only its
// answer was lost.
func (n *Node) sendResult(ctx context.Context, o protocol.Offer, fence uint64, r protocol.Result) protocol.Answer {
	a, _ := n.ask(ctx, func(h protocol.Header) any {
		h.Kind = protocol.ResultKind
		r.Header, r.Lease, r.Fence, r.Hash = h, o.Lease, fence, o.Hash
		return r
	})
	return a
}

// ask asks one question until there is an answer to it.
func (n *Node) ask(ctx context.Context, message func(protocol.Header) any) (protocol.Answer, error) {
	raw, err := n.sign(message)
	if err != nil {
		return protocol.Answer{}, err
	}
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 2*time.Second) { // a home that has much to do is not asked more
		a, err := n.once(ctx, raw)
		if err == nil {
			return a, nil
		}
		if errors.Is(err, engine.ErrClosed) {
			return protocol.Answer{}, err
		}
		pause(ctx, wait)
	}
	return protocol.Answer{}, ctx.Err()
}

func (n *Node) once(ctx context.Context, raw []byte) (protocol.Answer, error) {
	said, err := n.Engine.Ask(ctx, raw)
	if err != nil {
		return protocol.Answer{}, err
	}
	a, err := n.Home.Heed(said, raw)
	if err == nil {
		n.counts.answered.Store(time.Now().UnixMilli())
	}
	return a, err
}

func (n *Node) sign(message func(protocol.Header) any) ([]byte, error) {
	return protocol.Sign(message(protocol.Header{Version: protocol.Version, Program: n.Program, Fleet: n.Home.Fleet, Number: rand.Text()}), n.Key)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
