// Package jetstream is the engine of a fleet of more than one machine: NATS, with a
// JetStream stream in memory for the offers that wait and requests for everything else.
// Listen runs a server inside the home's process. Connect uses any server, that one or a
// cluster.
//
// It refuses to be needed for the truth: nothing is stored that the home could not offer
// again, and no message is believed because of the way it came. It is linked into
// cordon-fleet and never into cordon.
package jetstream

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
)

// Link says how one side reaches a server.
type Link struct {
	URL    string                     // of one server or of several, with commas
	Server nats.InProcessConnProvider // a server in this process, instead of a URL
	TLS    *tls.Config                // of a server that Listen runs; nil: as the URL says
	Key    nkeys.KeyPair              // who this side is; nil: the server asks nobody
	Fleet  string                     // the fleet's name: one word, the same at the home and at its nodes
	Many   int                        // copies of the queue, on as many servers; 0: one
	Fails  func(error)                // hears of every attempt to connect that fails; nil: nobody does
	Back   func()                     // hears when a connection that was lost is there again; nil: nobody does
}

// patience is how long one side waits for a server or for the other side before it gives
// up an attempt. A message may be lost at any time, and a lost one is waited for to the end.
const patience = 2 * time.Second

// ping is how often one side asks a server whether it is there. The home's own engine is asked rarely, because the
// kernel and the hellos of a node do that too: with each answer, the stack of the server's goroutine for that node grows, and it shrinks
// only when memory is collected. For the same reason not all nodes ask at the same moment.
const (
	ping    = 30 * time.Second
	ownPing = 10 * time.Minute
)

// Silent is how long a node may be silent before the home's own engine asks whether it is there. If it does not answer for as long
// again, its connection is closed. A node says hello more often, so that the engine asks only those that are gone.
const Silent = 4 * time.Minute

// stream names the queue of a fleet.
func stream(fleet string) string { return "cordon-" + fleet }

func offerSubject(fleet, class, name string) string {
	return "cordon." + fleet + ".offer." + class + "." + name
}

func askSubject(fleet, node string) string { return "cordon." + fleet + ".ask." + node }

// inbox is where answers to one side arrive.
func inbox(key string) string { return "_INBOX." + key }

// wakeSubject is where a home tells a node that an offer waits in the node's own queue.
func wakeSubject(key string) string { return inbox(key) + ".wake" }

// dial connects one side, and goes on trying where no server answers.
func dial(l Link) (*nats.Conn, error) {
	if err := engine.CheckWord(l.Fleet); err != nil {
		return nil, err
	}
	options := []nats.Option{
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(patience),
		nats.PingInterval(ping), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1), nats.NoEcho(),
		nats.IgnoreAuthErrorAbort(),                                       // a node that is not let in now may be later
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // whoever called hears of it
	}
	if l.Server != nil {
		options = append(options, nats.InProcessServer(l.Server))
	}
	if l.TLS != nil {
		options = append(options, nats.Secure(told(l)), nats.TLSHandshakeFirst(), nats.IgnoreDiscoveredServers())
	}
	if l.Fails != nil {
		options = append(options, nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if errors.Is(err, nats.ErrAuthorization) {
				err = engine.ErrStranger
			}
			l.Fails(err)
		}))
	}
	if l.Back != nil {
		options = append(options, nats.ReconnectHandler(func(*nats.Conn) { l.Back() }))
	}
	if l.Key != nil {
		public, err := l.Key.PublicKey()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(public, l.Key.Sign), nats.CustomInboxPrefix(inbox(public)),
			nats.PingInterval(ownPing*3/4+rand.N(ownPing/2)), nats.MaxPingsOutstanding(1), nats.SetCustomDialer(dialer()))
	}
	c, err := nats.Connect(l.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("reach the engine at %s: %w", l.URL, err)
	}
	return c, nil
}

// told is the link's TLS, with Fails told of a certificate that is not believed: the client itself
// tells nobody when it connects again.
func told(l Link) *tls.Config {
	if l.Fails == nil || l.TLS.VerifyConnection == nil {
		return l.TLS
	}
	c := l.TLS.Clone()
	c.VerifyConnection = func(s tls.ConnectionState) error {
		err := l.TLS.VerifyConnection(s)
		if err != nil {
			l.Fails(err)
		}
		return err
	}
	return c
}

func open(l Link) (*nats.Conn, jetstream.JetStream, error) {
	c, err := dial(l)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(c, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		c.Close()
	}
	return c, js, err
}
