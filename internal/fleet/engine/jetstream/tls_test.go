package jetstream_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/identity"
)

const question = "the question of a node"

// newSecured starts a home that answers every question with the question, and returns where it
// listens. Without a configuration it has no TLS.
func newSecured(t *testing.T, config *tls.Config) string {
	t.Helper()
	key := newKey(t)
	s, err := jetstream.Listen(jetstream.Listener{
		Address: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Fleet: fleet, TLS: config,
		Admit: func(who string) jetstream.Rights {
			if who == public(t, key) {
				return jetstream.Owner
			}
			return jetstream.Guest
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	home, err := jetstream.Home(jetstream.Link{Server: s, Key: key, Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	if err := home.Answer(func(_ string, q []byte) []byte { return q }); err != nil {
		t.Fatal(err)
	}
	return s.Addr().String()
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	c, err := identity.Certificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// middle sits between a node and its home, and keeps what it can read.
type middle struct {
	address string
	mu      sync.Mutex
	read    bytes.Buffer
}

// newMiddle takes connections with wrap, passes on what it reads, and connects to the home with
// dial.
func newMiddle(t *testing.T, wrap func(net.Conn) (net.Conn, error), dial func() (net.Conn, error)) *middle {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	m := &middle{address: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.pass(c, wrap, dial)
		}
	}()
	return m
}

func (m *middle) pass(c net.Conn, wrap func(net.Conn) (net.Conn, error), dial func() (net.Conn, error)) {
	defer c.Close()
	node, err := wrap(c)
	if err != nil {
		return
	}
	home, err := dial()
	if err != nil {
		return
	}
	defer home.Close()
	go func() {
		_, _ = io.Copy(node, home)
		c.Close()
	}()
	_, _ = io.Copy(io.MultiWriter(m, home), node) // what the home answers was kept before
}

// Write keeps what was read.
func (m *middle) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read.Write(p)
}

func (m *middle) saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Contains(m.read.Bytes(), []byte(text))
}

func plain(c net.Conn) (net.Conn, error) { return c, nil }

// shows is a server that shows a certificate. It takes nothing before the node has finished the
// handshake.
func shows(c tls.Certificate) func(net.Conn) (net.Conn, error) {
	return func(conn net.Conn) (net.Conn, error) {
		s := tls.Server(conn, identity.Serve(c))
		return s, s.Handshake()
	}
}

// attempt asks one question, and returns the answer and the errors of connecting.
func attempt(t *testing.T, address string, config *tls.Config, until func(error) bool) (string, error) {
	t.Helper()
	ctx := within(t)
	var mu sync.Mutex
	var last error
	given := make(chan struct{})
	var once sync.Once
	node, err := jetstream.Node(jetstream.Link{URL: "nats://" + address, Key: newKey(t), Fleet: fleet, TLS: config, Fails: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		last = err
		if until(err) {
			once.Do(func() { close(given) })
		}
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	for {
		answer, err := node.Ask(ctx, []byte(question))
		if err == nil {
			return string(answer), nil
		}
		select {
		case <-given:
			mu.Lock()
			defer mu.Unlock()
			return "", last
		case <-ctx.Done():
			t.Fatalf("no answer, and not the error that is expected, but %v", last)
		default:
			if !errors.Is(err, engine.ErrNoAnswer) {
				t.Fatal(err)
			}
		}
	}
}

func never(error) bool { return false }

// TestMiddle puts an attacker between a node and its home. Each attack has a control, which shows
// that the attacker would have read the question.
func TestMiddle(t *testing.T) {
	own, foreign := certificate(t), certificate(t)
	secure, open := newSecured(t, identity.Serve(own)), newSecured(t, nil)
	pin := identity.Pin(identity.Sum(own))
	toHome := func() (net.Conn, error) {
		return tls.Dial("tcp", secure, pin)
	}
	dial := func(address string) func() (net.Conn, error) {
		return func() (net.Conn, error) { return net.Dial("tcp", address) }
	}
	t.Run("nobody", func(t *testing.T) {
		if a, err := attempt(t, secure, pin, never); a != question {
			t.Errorf("%q, %v", a, err)
		}
	})
	t.Run("one who listens", func(t *testing.T) {
		tap := newMiddle(t, plain, dial(secure))
		if a, err := attempt(t, tap.address, pin, never); a != question || tap.saw(question) || tap.saw("CONNECT") {
			t.Errorf("%q, %v; it reads the question: %v", a, err, tap.saw(question))
		}
		tap = newMiddle(t, plain, dial(open)) // the control: without TLS
		if a, err := attempt(t, tap.address, nil, never); a != question || !tap.saw(question) {
			t.Errorf("without TLS: %q, %v; it reads the question: %v", a, err, tap.saw(question))
		}
	})
	t.Run("one with its own certificate", func(t *testing.T) {
		m := newMiddle(t, shows(foreign), toHome)
		other := func(err error) bool { return errors.Is(err, identity.ErrOtherCertificate) }
		if a, err := attempt(t, m.address, pin, other); a != "" || m.saw("CONNECT") {
			t.Errorf("the node talks to it: %q, %v", a, err)
		}
		// The control: a node that believes any certificate.
		if a, err := attempt(t, m.address, &tls.Config{InsecureSkipVerify: true}, never); a != question || !m.saw(question) {
			t.Errorf("without the pin: %q, %v; it reads the question: %v", a, err, m.saw(question))
		}
	})
	t.Run("one with the home's certificate and another key", func(t *testing.T) {
		m := newMiddle(t, shows(tls.Certificate{Certificate: own.Certificate, PrivateKey: foreign.PrivateKey}), toHome)
		if a, err := attempt(t, m.address, pin, func(error) bool { return true }); a != "" || m.saw("CONNECT") {
			t.Errorf("the node talks to it: %q, %v", a, err)
		}
		m = newMiddle(t, shows(own), toHome) // the control: one who has the key as well
		if a, err := attempt(t, m.address, pin, never); a != question || !m.saw(question) {
			t.Errorf("with the key: %q, %v; it reads the question: %v", a, err, m.saw(question))
		}
	})
	t.Run("one who speaks without TLS", func(t *testing.T) {
		m := newMiddle(t, plain, dial(open))
		if a, err := attempt(t, m.address, pin, func(error) bool { return true }); a != "" || m.saw("CONNECT") {
			t.Errorf("the node talks to it: %q, %v", a, err)
		}
	})
	t.Run("a node without TLS", func(t *testing.T) {
		if a, err := attempt(t, secure, nil, func(error) bool { return true }); a != "" {
			t.Errorf("the home talks to it: %q, %v", a, err)
		}
	})
}
