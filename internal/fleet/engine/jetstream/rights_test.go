package jetstream_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine/jetstream"
)

// TestRights connects as a member, a guest and a stranger, past this package's own client,
// and tries what each may and may not say.
func TestRights(t *testing.T) {
	own, member, guest, stranger := newKey(t), newKey(t), newKey(t), newKey(t)
	rights := map[string]jetstream.Rights{public(t, own): jetstream.Owner, public(t, member): jetstream.Member, public(t, guest): jetstream.Guest}
	s, err := jetstream.Listen(jetstream.Listener{
		Address: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Fleet: fleet,
		Admit: func(key string) jetstream.Rights { return rights[key] },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	url := "nats://" + s.Addr().String()
	home, err := jetstream.Home(jetstream.Link{URL: url, Key: own, Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	asked := make(chan string, 100) // what it was asked
	if err := home.Answer(func(_ string, q []byte) []byte { asked <- string(q); return append([]byte{}, q...) }); err != nil {
		t.Fatal(err)
	}
	offer(t, within(t), home, "any", "o1")

	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	connect := func(k nkeys.KeyPair, sign nats.SignatureHandler) (*nats.Conn, error) {
		return nats.Connect(url, nats.Nkey(public(t, k), sign), nats.CustomInboxPrefix("_INBOX."+public(t, k)), quiet, nats.Timeout(time.Minute))
	}
	for name, tries := range map[string]func() (*nats.Conn, error){
		"a stranger":               func() (*nats.Conn, error) { return connect(stranger, stranger.Sign) },
		"a member's key, unsigned": func() (*nats.Conn, error) { return connect(member, stranger.Sign) },
		"nobody":                   func() (*nats.Conn, error) { return nats.Connect(url) },
	} {
		if c, err := tries(); err == nil {
			c.Close()
			t.Errorf("%s connects", name)
		}
	}
	for _, one := range []struct {
		who     nkeys.KeyPair
		subject string
		allowed bool
	}{
		{member, "cordon.f1.ask." + public(t, member), true},
		{member, "cordon.f1.ask." + public(t, guest), false},
		{member, "$JS.API.CONSUMER.INFO.cordon-f1.any", true},
		{member, "$JS.API.CONSUMER.INFO.cordon-f1." + public(t, guest), false},
		{member, "$JS.API.STREAM.DELETE.cordon-f1", false},
		{member, "$JS.API.STREAM.INFO.cordon-f1", false},
		{member, "cordon.f1.offer.any.forged", false},
		{guest, "cordon.f1.ask." + public(t, guest), true},
		{guest, "cordon.f1.ask." + public(t, member), false},
		{guest, "$JS.API.CONSUMER.INFO.cordon-f1.any", false},
		{guest, "$JS.API.CONSUMER.MSG.NEXT.cordon-f1.any", false},
	} {
		c, err := connect(one.who, one.who.Sign)
		if err != nil {
			t.Fatal(err)
		}
		if one.allowed {
			_, err = c.Request(one.subject, nil, time.Minute)
		} else if err = errors.Join(c.PublishRequest(one.subject, c.NewInbox(), nil), c.Flush()); err == nil {
			err = c.LastError() // a refusal comes before the answer to the flush
		}
		if (err == nil) != one.allowed {
			t.Errorf("%s: %v", one.subject, err)
		}
		c.Close()
	}
	// The home answers where it is asked to, with its own rights, and only in the inbox of whoever asks.
	for _, reply := range []string{
		"cordon.f1.offer.zzz.1", "$JS.API.STREAM.DELETE.cordon-f1", "$JS.API.STREAM.PURGE.cordon-f1",
		"_INBOX." + public(t, member) + ".x", "_INBOX." + public(t, own) + ".x",
	} {
		c, err := connect(guest, guest.Sign)
		if err != nil {
			t.Fatal(err)
		}
		subject := "cordon.f1.ask." + public(t, guest)
		if err := errors.Join(c.PublishRequest(subject, reply, nil), c.Flush()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Request(subject, []byte("the control"), time.Minute); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			<-asked
		}
		c.Close()
	}
	if n, err := home.Waiting(within(t)); n != 1 || err != nil {
		t.Errorf("after questions that name other subjects for the answer, %d offers wait: %v", n, err)
	}
	for _, subject := range []string{"cordon.f1.ask.>", "_INBOX." + public(t, guest) + ".>", ">"} {
		c, err := connect(member, member.Sign)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := c.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if _, err := sub.NextMsg(time.Millisecond); err == nil || c.LastError() == nil {
			t.Errorf("a member subscribes to %s", subject)
		}
		c.Close()
	}
}

// TestExpel: a key whose rights have changed loses its connections, and has the new rights when it is back.
func TestExpel(t *testing.T) {
	own, member, other := newKey(t), newKey(t), newKey(t)
	var mu sync.Mutex
	rights := map[string]jetstream.Rights{public(t, own): jetstream.Owner, public(t, member): jetstream.Member, public(t, other): jetstream.Member}
	s, err := jetstream.Listen(jetstream.Listener{
		Address: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Fleet: fleet,
		Admit: func(key string) jetstream.Rights {
			mu.Lock()
			defer mu.Unlock()
			return rights[key]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	url := "nats://" + s.Addr().String()
	home, err := jetstream.Home(jetstream.Link{URL: url, Key: own, Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	back, otherBack := make(chan struct{}, 1), make(chan struct{}, 1)
	node := join(t, jetstream.Link{URL: url, Key: member, Fleet: fleet, Back: func() { back <- struct{}{} }}, "")
	second := join(t, jetstream.Link{URL: url, Key: other, Fleet: fleet, Back: func() { otherBack <- struct{}{} }}, "")
	ctx := within(t)
	offer(t, ctx, home, "any", "o1")
	if got, err := node.Next(ctx, "any"); err != nil || len(got) == 0 { // the control
		t.Fatalf("a member takes no offer: %v", err)
	}
	mu.Lock()
	rights[public(t, member)] = jetstream.Guest
	mu.Unlock()
	if err := s.Expel(public(t, member)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-back:
	case <-ctx.Done():
		t.Fatal("its connection was not ended")
	}
	offer(t, ctx, home, "any", "o2")
	taken := make(chan error, 1)
	limited, cancel := context.WithCancel(ctx)
	go func() {
		_, err := node.Next(limited, "any")
		taken <- err
	}()
	if _, err := second.Next(ctx, "any"); err != nil {
		t.Errorf("another member gets no offer: %v", err)
	}
	cancel()
	if err := <-taken; err == nil {
		t.Error("a key without the right takes an offer")
	}
	if len(otherBack) != 0 {
		t.Error("another member lost its connection")
	}
}
