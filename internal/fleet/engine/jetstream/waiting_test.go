package jetstream_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/testwait"
)

// openHome is a server that knows everybody, and its home.
func openHome(t *testing.T, own nkeys.KeyPair) (url string, home engine.Home) {
	t.Helper()
	s, err := jetstream.Listen(jetstream.Listener{
		Address: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Fleet: fleet,
		Admit: func(key string) jetstream.Rights {
			if key == public(t, own) {
				return jetstream.Owner
			}
			return jetstream.Member
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	url = "nats://" + s.Addr().String()
	home, err = jetstream.Home(jetstream.Link{URL: url, Key: own, Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	return url, home
}

// TestManyWait: more slots wait for offers of one class than a server lets wait unless it is told (512). None of
// them is refused.
func TestManyWait(t *testing.T) {
	const nodes, slots = 30, 20
	own := newKey(t)
	url, home := openHome(t, own)
	if err := home.Answer(func(string, []byte) []byte { return nil }); err != nil { // makes the queue, before any offer
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(within(t))
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for range nodes {
		n := join(t, jetstream.Link{URL: url, Key: newKey(t), Fleet: fleet}, "")
		for range slots {
			all.Go(func() { _, _ = n.Next(ctx, jetstream.AnyClass) })
		}
	}
	_, js := watch(t, url, own)
	awaitPulls(t, ctx, js, nodes*slots)
}

// watch connects with the rights of the home.
func watch(t *testing.T, url string, own nkeys.KeyPair) (*nats.Conn, client.JetStream) {
	t.Helper()
	c, err := nats.Connect(url, nats.Nkey(public(t, own), own.Sign), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := client.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, js
}

// awaitPulls waits until so many slots wait for an offer that every node may take.
func awaitPulls(t *testing.T, ctx context.Context, js client.JetStream, want int) {
	t.Helper()
	waiting := 0
	var last error
	testwait.Until(t, fmt.Sprintf("%d slots wait", want), func() bool {
		c, err := js.Consumer(ctx, "cordon-"+fleet, jetstream.AnyClass)
		if last = err; err == nil {
			waiting = c.CachedInfo().NumWaiting
		}
		return waiting >= want || ctx.Err() != nil
	})
	if waiting < want { // more, when the server still counts one that has waited its time and waits anew
		t.Fatalf("%d wait, not %d (%v)", waiting, want, last)
	}
}

// repeat offers again and again, as a home does, until the node that waits has the offer.
func repeat(t *testing.T, ctx context.Context, home engine.Home, class string, got <-chan error) {
	t.Helper()
	for {
		_ = home.Offer(ctx, class, "o1", []byte("o1"))
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestDeletedQueue: a node waits for an offer while its queue is deleted. The node notices that, and gets the offer from
// the queue that the home makes again.
func TestDeletedQueue(t *testing.T) {
	own := newKey(t)
	url, home := openHome(t, own)
	if err := home.Answer(func(string, []byte) []byte { return nil }); err != nil { // makes the queue
		t.Fatal(err)
	}
	n, ctx := join(t, jetstream.Link{URL: url, Key: newKey(t), Fleet: fleet}, ""), within(t)
	got := make(chan error, 1)
	go func() {
		_, err := n.Next(ctx, jetstream.AnyClass)
		got <- err
	}()
	_, js := watch(t, url, own)
	awaitPulls(t, ctx, js, 1)
	if err := js.DeleteConsumer(ctx, "cordon-"+fleet, jetstream.AnyClass); err != nil {
		t.Fatal(err)
	}
	repeat(t, ctx, home, jetstream.AnyClass, got)
}

// TestOwnQueue: a node that waits for a queue of its own gets the first offer for it.
func TestOwnQueue(t *testing.T) {
	own, member := newKey(t), newKey(t)
	url, home := openHome(t, own)
	n, ctx := join(t, jetstream.Link{URL: url, Key: member, Fleet: fleet}, ""), within(t)
	got := make(chan error, 1)
	go func() {
		_, err := n.Next(ctx, public(t, member))
		got <- err
	}()
	offer(t, ctx, home, public(t, member), "o1")
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// TestLostWake: a node waits for a queue of its own, and does not hear that the queue was made. It hears of it with the
// next offer.
func TestLostWake(t *testing.T) {
	own, member := newKey(t), newKey(t)
	key, ctx := public(t, member), within(t)
	url, home := openHome(t, own)
	conn, js := watch(t, url, own)
	offer(t, ctx, home, key, "o1") // makes the queue; nobody is there to be woken
	made, err := js.Consumer(ctx, "cordon-"+fleet, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteConsumer(ctx, "cordon-"+fleet, key); err != nil {
		t.Fatal(err)
	}
	answers, err := conn.SubscribeSync("_INBOX." + key + ".>")
	if err != nil {
		t.Fatal(err)
	}
	n := join(t, jetstream.Link{URL: url, Key: member, Fleet: fleet}, "")
	got := make(chan error, 1)
	go func() {
		_, err := n.Next(ctx, key)
		got <- err
	}()
	if _, err := answers.NextMsgWithContext(ctx); err != nil { // it was told that there is no queue
		t.Fatal(err)
	}
	if _, err := js.CreateConsumer(ctx, "cordon-"+fleet, made.CachedInfo().Config); err != nil {
		t.Fatal(err)
	}
	repeat(t, ctx, home, key, got)
}
