package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// nameQueries measures the answers to a name that may be reached.
func (t *theatre) nameQueries() error {
	fmt.Printf("| an allowed name | p50 | p99 | answers in a second, 16 sockets |\n|---|---|---|---|\n")
	for _, w := range []way{
		{name: "plain loopback: an echo", client: t.outside, route: route{To: t.names, Name: allowedName}},
		{name: "cell", client: t.inside, route: route{To: cellNames, Name: allowedName}},
	} {
		const n = 2000
		one, err := w.client.ask(question{Act: "names", Route: w.route, Count: n})
		if err != nil {
			return err
		}
		all, err := w.client.ask(question{Act: "flood", Route: w.route, Count: 10 * n})
		if err != nil {
			return err
		}
		if all.Failed > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d of 16 sockets: %s\n", w.name, all.Failed, all.Error)
		}
		fmt.Printf("| %s | %s | %s | %.0f |\n", w.name, micro(median(one.First)), micro(share(one.First, 99)), 10*n/all.Took.Seconds())
	}
	fmt.Println()
	return nil
}

// resolved is where the cell's own answers say that a name is. It is asked for once,
// so that connections are compared with those to an address.
func resolved(to string) (string, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil || host != allowedName {
		return to, nil // there is nothing to resolve
	}
	names := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, cellNames)
	}}
	addrs, err := names.LookupNetIP(context.Background(), "ip4", host+".")
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(addrs[0].String(), port), nil
}

// cellNames is where a cell's names are answered: anywhere, at this port.
const cellNames = "198.18.0.1:53"

// query asks for the address of a name.
func query(name string) []byte {
	q := []byte{0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(name, ".") {
		q = append(append(q, byte(len(label))), label...)
	}
	return append(q, 0, 0, 1, 0, 1)
}

// answered asks once and wants an answer within a second.
func answered(c net.Conn, words []byte) error {
	if _, err := c.Write(words); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	said := make([]byte, 1500)
	n, err := c.Read(said)
	if err == nil && (n < 12 || said[1] != words[1] || said[3]&0xf != 0) {
		err = fmt.Errorf("no answer: %x", said[:n])
	}
	return err
}

// names asks for a name, one question after the other.
func (a *asker) names(q question) (reply, error) {
	c, err := net.Dial("udp", q.Route.To)
	if err != nil {
		return reply{}, err
	}
	defer c.Close()
	var r reply
	for words := query(q.Route.Name); len(r.First) < q.Count; {
		began := time.Now()
		if err := answered(c, words); err != nil {
			return r, err
		}
		r.First = append(r.First, time.Since(began))
	}
	return r, nil
}

// flood asks for a name from many sockets at once, some thousand times.
func (a *asker) flood(q question) (reply, error) {
	const sockets = 16
	return together(sockets, func(int) error {
		c, err := net.Dial("udp", q.Route.To)
		if err != nil {
			return err
		}
		defer c.Close()
		for range q.Count / sockets {
			if err := answered(c, query(q.Route.Name)); err != nil {
				return err
			}
		}
		return nil
	}), nil
}
