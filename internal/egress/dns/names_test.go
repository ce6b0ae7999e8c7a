package dns

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"cordon/internal/egress/rate"
	"cordon/internal/testwait"
)

// servedUDP serves a socket of the loopback until the test ends.
func servedUDP(t *testing.T, n *naming, network, at string) netip.AddrPort {
	t.Helper()
	c, err := net.ListenPacket(network, at)
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); n.ServeUDP(ctx, c.(*net.UDPConn)) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(testwait.Bound):
			t.Error("it is served for ever")
		}
	})
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// servedTCP is a connection that is served, and what is said when that is over.
func servedTCP(t *testing.T, n *naming) (client net.Conn, over <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); n.ServeTCP(ctx, server) }()
	t.Cleanup(func() { client.Close(); cancel(); <-done })
	_ = client.SetDeadline(time.Now().Add(testwait.Bound))
	return client, done
}

// The resolver of Go takes the answers, over both transports.
func TestGoResolver(t *testing.T) {
	n := newNaming(t)
	udp := servedUDP(t, n, "udp", "127.0.0.1:0")
	for _, transport := range []string{"udp", "tcp"} {
		r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if transport == "tcp" {
				c, _ := servedTCP(t, n)
				return c, nil
			}
			return net.Dial("udp", udp.String())
		}}
		if got, err := r.LookupHost(t.Context(), "good.example."); err != nil || fmt.Sprint(got) != "[198.18.0.2 fd63:6f72:646f:6e::2]" {
			t.Errorf("%s: %v, %v", transport, got, err)
		}
		if got, err := r.LookupAddr(t.Context(), "198.18.0.2"); err != nil || fmt.Sprint(got) != "[good.example.]" {
			t.Errorf("%s: %v, %v", transport, got, err)
		}
		if got, err := r.LookupTXT(t.Context(), "good.example."); len(got) != 0 || !isNotFound(err) {
			t.Errorf("%s: %v, %v", transport, got, err)
		}
		if got, err := r.LookupHost(t.Context(), "missing.example."); len(got) != 0 || !isNotFound(err) {
			t.Errorf("%s: %v, %v", transport, got, err)
		}
		if got, err := r.LookupHost(t.Context(), "broken.example."); len(got) != 0 || err == nil || isNotFound(err) {
			t.Errorf("%s: %v, %v", transport, got, err)
		}
	}
}

func isNotFound(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound
}

// exchange asks over UDP, and takes an answer only from where it asked.
func exchange(t *testing.T, to netip.AddrPort, packet []byte) (dnsmessage.Message, error) {
	t.Helper()
	c, err := net.Dial("udp", to.String())
	if err != nil {
		return dnsmessage.Message{}, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(testwait.Bound))
	if _, err := c.Write(packet); err != nil {
		return dnsmessage.Message{}, err
	}
	buf := make([]byte, 1500)
	size, err := c.Read(buf)
	if err != nil {
		return dnsmessage.Message{}, err
	}
	return parsed(t, buf[:size]), nil
}

// The answer comes from the address that was asked, of which a socket at every
// address has many.
func TestAnswersFromWhereItWasAsked(t *testing.T) {
	for _, c := range []struct{ network, at, ask string }{
		{"udp", "[::]:0", "127.0.0.1"}, {"udp", "[::]:0", "127.1.2.3"}, {"udp", "[::]:0", "::1"},
		{"udp4", "0.0.0.0:0", "127.9.8.7"}, {"udp6", "[::]:0", "::1"}, {"udp4", "127.0.0.1:0", "127.0.0.1"},
	} {
		t.Run(c.network+c.at+c.ask, func(t *testing.T) {
			port := servedUDP(t, newNaming(t), c.network, c.at).Port()
			m, err := exchange(t, netip.AddrPortFrom(netip.MustParseAddr(c.ask), port), asks(typeA, "good.example"))
			if err != nil || summary(m) != "ok 198.18.0.2 30s" {
				t.Errorf("%s, %v", summary(m), err)
			}
		})
	}
}

// Slow names hold up nobody but those who ask for them, and are not more at once
// than there is room for.
func TestOtherNamesDuringSlowOnes(t *testing.T) {
	n := newNaming(t)
	release := make(chan struct{})
	var seen sync.WaitGroup
	seen.Add(lookupsAtOnce)
	var counted atomic.Int64
	n.out.find = func(ctx context.Context, name string) ([]netip.Addr, error) {
		if !strings.HasPrefix(name, "slow") {
			return parseAll([]string{publicAddr}), nil
		}
		if counted.Add(1) <= lookupsAtOnce {
			seen.Done()
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return parseAll([]string{publicAddr}), ctx.Err()
	}
	to := servedUDP(t, n, "udp", "127.0.0.1:0")
	c, err := net.Dial("udp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 200 {
		if _, err := c.Write(asks(typeA, fmt.Sprintf("slow%d.wild.example", i))); err != nil {
			t.Fatal(err)
		}
	}
	seen.Wait()
	for name, want := range map[string]string{"evil.example": "ok 198.18.0.2 5s", "localhost": "ok 127.0.0.1 30s"} {
		if m, err := exchange(t, to, asks(typeA, name)); err != nil || summary(m) != want {
			t.Errorf("%s: %s, %v", name, summary(m), err)
		}
	}
	close(release)
	_ = c.SetDeadline(time.Now().Add(testwait.Bound))
	buf := make([]byte, 1500)
	for range queriesAtOnce {
		if size, err := c.Read(buf); err != nil || !strings.HasPrefix(summary(parsed(t, buf[:size])), "ok 198.18.") {
			t.Fatalf("%v", err)
		}
	}
	n.book.mu.RLock()
	names := len(n.book.names)
	n.book.mu.RUnlock()
	if most := n.out.most.Load(); most > lookupsAtOnce || names > queriesAtOnce+1 {
		t.Errorf("%d at once, %d names", most, names)
	}
	if m, err := exchange(t, to, asks(typeA, "good.example")); err != nil || !strings.HasPrefix(summary(m), "ok 198.18.") {
		t.Errorf("afterwards: %s, %v", summary(m), err)
	}
}

// Rubbish is neither answered with rubbish nor the end of it.
func TestRubbish(t *testing.T) {
	to := servedUDP(t, newNaming(t), "udp", "127.0.0.1:0")
	c, err := net.Dial("udp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, b := range [][]byte{{}, {1}, make([]byte, 11), make([]byte, 60000), wireQuery(0x8180, [4]uint16{1}, queryName("a", "example"), be(1, 1))} {
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if size, err := c.Read(make([]byte, 1500)); err == nil {
		t.Errorf("%d bytes were answered", size)
	}
	if m, err := exchange(t, to, asks(typeA, "good.example")); err != nil || summary(m) != "ok 198.18.0.2 30s" {
		t.Errorf("afterwards: %s, %v", summary(m), err)
	}
}

func frame(packet []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
}

func readMessage(t *testing.T, c net.Conn) (dnsmessage.Message, error) {
	t.Helper()
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return dnsmessage.Message{}, err
	}
	buf := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, buf); err != nil {
		return dnsmessage.Message{}, err
	}
	return parsed(t, buf), nil
}

// Queries may come all at once and in pieces, and only so many of them.
func TestPipeline(t *testing.T) {
	c, over := servedTCP(t, newNaming(t))
	one := frame(asks(typeA, "good.example"))
	all := bytes.Repeat(one, queriesPerConn+5)
	first := len(one) + 7 // an answer to the first query tells that the beginning of the second was there to be read
	rest := make(chan struct{})
	go func() {
		_, _ = c.Write(all[:first]) // what is not taken is an error for no one
		<-rest
		_, _ = c.Write(all[first:])
	}()
	for i := range queriesPerConn {
		if i == 1 {
			close(rest)
		}
		if m, err := readMessage(t, c); err != nil || summary(m) != "ok 198.18.0.2 30s" {
			t.Fatalf("%d: %s, %v", i, summary(m), err)
		}
	}
	if _, err := readMessage(t, c); err == nil {
		t.Error("it goes on")
	}
	c.Close()
	<-over
}

func TestFramesThatAreNone(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": {0, 0}, "short": {0, 11, 1, 2}, "long": {0xff, 0xff, 1, 2, 3}, "no query": frame(wireQuery(0x8180, [4]uint16{})),
	} {
		c, over := servedTCP(t, newNaming(t))
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if m, err := readMessage(t, c); err == nil {
			t.Errorf("%s: answered %+v", name, m)
		}
		<-over
	}
}

// Who says nothing, or only the beginning, is not waited for.
func TestIdleQueries(t *testing.T) {
	var wg sync.WaitGroup
	for _, b := range [][]byte{nil, {0}, {0, 40, 1, 2, 3}} {
		begin := time.Now() // it is waited for from its connection on
		c, over := servedTCP(t, newNaming(t))
		wg.Go(func() {
			_, _ = c.Write(b)
			<-over
			if d := time.Since(begin); d < queryTime/2 || d > queryTime+time.Minute {
				t.Errorf("%x was waited for %s", b, d)
			}
		})
	}
	wg.Wait()
}

// A flood is not even read faster than refusing it costs little.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNaming(t)
		n.limit = rate.New(1, 1)
		n.pace = rate.New(10, 1)
		client, server := net.Pipe()
		go n.ServeTCP(t.Context(), server)
		begin := time.Now()
		for i := range 21 {
			if _, err := client.Write(frame(asks(typeA, fmt.Sprintf("n%d.example", i)))); err != nil {
				t.Fatal(err)
			}
			if m, err := readMessage(t, client); err != nil || i < 10 && (i > 0) != (summary(m) == "refused") {
				t.Fatalf("%d: %s, %v", i, summary(m), err)
			}
		}
		client.Close()
		if d := time.Since(begin); d < 1990*time.Millisecond {
			t.Errorf("21 at 10 in a second took %s", d)
		}
	})
}
