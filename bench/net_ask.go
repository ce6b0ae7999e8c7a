package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// question is what a client is to measure. It runs in a cell and outside of one.
type question struct {
	Act   string // one of acts
	Route route
	For   time.Duration // streams
	Count int           // connections, messages, queries
}

// route is a way to the server.
type route struct {
	To    string // host:port as the client dials it
	Proxy string // that is asked for To; "": none
	Name  string // that the client opens the connection for; "": it just begins
	TLS   bool   // and how: in a ClientHello, or in an HTTP request
}

// reply is what came of it.
type reply struct {
	Bytes     int64
	Took      time.Duration
	Connected []time.Duration
	First     []time.Duration // from the beginning to the first byte of an answer
	Failed    int
	Error     string // the first one, or why nothing was measured
}

// asker is a client between questions.
type asker struct{ held []net.Conn }

var acts = map[string]func(*asker, question) (reply, error){
	"download": (*asker).stream,
	"upload":   (*asker).stream,
	"connect":  (*asker).connect,
	"open":     (*asker).open,
	"talk":     (*asker).talk,
	"shut":     (*asker).shut,
	"names":    (*asker).names,
	"flood":    (*asker).flood,
}

// askAll answers questions until there are no more.
func askAll() error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	a := &asker{}
	for {
		var q question
		err := in.Decode(&q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		act, ok := acts[q.Act]
		if !ok {
			return fmt.Errorf("nobody can %q", q.Act)
		}
		r := reply{}
		if q.Route.To, err = resolved(q.Route.To); err == nil {
			r, err = act(a, q)
		}
		if err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

// dial connects, by way of the proxy if there is one.
func (r route) dial() (net.Conn, error) {
	if r.Proxy == "" {
		return net.DialTimeout("tcp", r.To, 20*time.Second)
	}
	c, err := net.DialTimeout("tcp", r.Proxy, 20*time.Second)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", r.To, r.To)
	const good = "HTTP/1.1 200 Connection established\r\n\r\n"
	said := make([]byte, len(good))
	if _, err := io.ReadFull(c, said); err != nil || string(said) != good {
		c.Close()
		return nil, fmt.Errorf("the proxy said %q: %w", said, err)
	}
	return c, nil
}

// opening is what a client begins with for a wish.
func (r route) opening(wish byte) ([]byte, error) {
	switch {
	case r.Name == "":
		return []byte{wish}, nil
	case r.TLS:
		hello, err := clientHello(r.Name)
		return append(hello, tlsData, 3, 3, 0, 1, wish), err
	case wish == upload:
		return fmt.Appendf(nil, "POST /%c HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", wish, r.Name, endless), nil
	}
	return fmt.Appendf(nil, "GET /%c HTTP/1.1\r\nHost: %s\r\n\r\n", wish, r.Name), nil
}

// clientHello is the first record that a real client sends.
func clientHello(name string) ([]byte, error) {
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		defer there.Close()
		_ = tls.Client(there, &tls.Config{ServerName: name}).Handshake() // nobody answers it
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(here, head); err != nil {
		return nil, err
	}
	body := make([]byte, int(head[3])<<8+int(head[4]))
	_, err := io.ReadFull(here, body)
	return append(head, body...), err
}

// start connects and begins.
func (r route) start(words []byte) (net.Conn, error) {
	c, err := r.dial()
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(words); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// stream moves bytes through one connection for a time.
func (a *asker) stream(q question) (reply, error) {
	wish := q.Act[0]
	words, err := q.Route.opening(wish)
	if err != nil {
		return reply{}, err
	}
	c, err := q.Route.start(words)
	if err != nil {
		return reply{}, err
	}
	defer c.Close()
	move, buf := c.Read, make([]byte, chunk)
	if wish == upload {
		move = c.Write
	}
	var r reply
	began := time.Now()
	for r.Took < q.For {
		n, err := move(buf)
		if err != nil {
			return r, err
		}
		r.Bytes += int64(n)
		r.Took = time.Since(began)
	}
	return r, nil
}

// connect opens connections one after the other, and hears one byte on each.
func (a *asker) connect(q question) (reply, error) {
	words, err := q.Route.opening(echo)
	if err != nil {
		return reply{}, err
	}
	var r reply
	for range q.Count {
		began := time.Now()
		c, err := q.Route.dial()
		if err != nil {
			return r, err
		}
		connected := time.Since(began)
		_, err = c.Write(words)
		if err == nil {
			_, err = io.ReadFull(c, make([]byte, 1))
		}
		took := time.Since(began)
		c.Close()
		if err != nil {
			return r, err
		}
		r.Connected, r.First = append(r.Connected, connected), append(r.First, took)
	}
	return r, nil
}

// open opens connections at the same moment and holds them.
func (a *asker) open(q question) (reply, error) {
	words, err := q.Route.opening(echo)
	if err != nil {
		return reply{}, err
	}
	conns := make([]net.Conn, q.Count)
	r := together(q.Count, func(i int) error {
		c, err := q.Route.start(words)
		if err != nil {
			return err
		}
		conns[i] = c
		_, err = io.ReadFull(c, make([]byte, 1))
		return err
	})
	for _, c := range conns {
		if c != nil {
			a.held = append(a.held, c)
		}
	}
	return r, nil
}

// talk exchanges small messages on all connections that are held.
func (a *asker) talk(q question) (reply, error) {
	return together(len(a.held), func(i int) error {
		words := []byte(strings.Repeat("x", 64))
		for range q.Count {
			if _, err := a.held[i].Write(words); err != nil {
				return err
			}
			if _, err := io.ReadFull(a.held[i], words); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func (a *asker) shut(question) (reply, error) {
	for _, c := range a.held {
		c.Close()
	}
	a.held = nil
	return reply{}, nil
}

// together does something many times at the same moment.
func together(n int, act func(i int) error) reply {
	errs := make([]error, n)
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = act(i) })
	}
	all.Wait()
	r := reply{Took: time.Since(began)}
	for _, err := range errs {
		if err == nil {
			continue
		}
		if r.Failed++; r.Error == "" {
			r.Error = err.Error()
		}
	}
	return r
}
