// Package publish lets the operator look at a server in a cell with a browser: it listens on
// the loopback of the machine, and relays requests of HTTP/1 to a port of the cell's own
// loopback, through sockets that the cell handed out before its worker ran.
//
// Every user of a machine can connect to its loopback, and so can every page in the
// operator's browser. A request is therefore relayed only if it is for the exact name and
// port, carries the cookie that a one-time address has set, and does not come from a page of
// another site. Each worker has a name of its own below localhost, because cookies know
// names and not ports.
//
// The server is not trusted: it never sees the cookie, sets none for other names, and tells
// the browser of no other server. The package refuses to relay anything but HTTP/1 and
// WebSockets, to connect anywhere but to the cell, and to decide which ports are published:
// the lease does. What a worker itself reaches is the business of package egress.
package publish

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Order is what to publish.
type Order struct {
	Name    string     // a part of the host name; of the worker
	Ports   []int      // of the cell
	Sources []string   // servers that pages may load from, as Content-Security-Policy names them
	Inward  []*os.File // TCP sockets of the cell, not connected; they stay the caller's
	Dir     string     // where the operator asks for addresses; "": nowhere
}

// Site is the published ports of a cell.
type Site struct {
	name    string // with localhost
	entries entries
	csp     string
	pool    *pool
	ports   []*port
	desk    *desk

	slots chan struct{}
	mu    sync.Mutex
	open  map[net.Conn]func() // what ends it; nil: closed
	work  sync.WaitGroup
}

// port is one published port.
type port struct {
	site      *Site
	number    int // in the cell
	listener  net.Listener
	authority string // NAME.localhost:PORT
}

// atOnce is how many connections a site has at most.
const atOnce = 128

// Open publishes ports until Close.
func Open(o Order) (*Site, error) {
	p, err := newPool(o.Inward)
	if err != nil {
		return nil, err
	}
	s := &Site{
		name: hostName(o.Name), entries: newEntries(), slots: make(chan struct{}, atOnce), open: map[net.Conn]func(){},
		pool: p,
	}
	err = s.listen(o.Ports)
	if err == nil && o.Dir != "" {
		s.desk, err = openDesk(o.Dir, s.answer)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.csp = policyOfPages(s.ports, o.Sources)
	for _, one := range s.ports {
		s.work.Go(one.accept)
	}
	return s, nil
}

// hostName is a name that no other worker has had. The browser itself leads names below
// localhost to the loopback.
func hostName(worker string) string {
	const most = 40
	label := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(worker))
	label = strings.Trim(label[:min(len(label), most)], "-")
	return strings.TrimPrefix(label+"-"+strings.ToLower(rand.Text())[:16], "-") + ".localhost"
}

func (s *Site) listen(ports []int) error {
	for _, number := range ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen for port %d: %w", number, err)
		}
		_, at, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return errors.Join(err, l.Close())
		}
		s.ports = append(s.ports, &port{site: s, number: number, listener: l, authority: s.name + ":" + at})
	}
	return nil
}

// Address is what to open in a browser for a port, good for one use.
func (s *Site) Address(number int) string {
	for _, p := range s.ports {
		if p.number == number {
			return "http://" + p.authority + enterPath + s.entries.issue()
		}
	}
	return ""
}

// Close ends every connection, and nobody can make one any more.
func (s *Site) Close() {
	for _, p := range s.ports {
		p.listener.Close()
	}
	s.desk.close()
	s.mu.Lock()
	for _, end := range s.open {
		end()
	}
	s.open = nil
	s.mu.Unlock()
	s.pool.close() // nobody waits for a socket any more
	s.work.Wait()
}

// accept takes connections until the listener is closed.
func (p *port) accept() {
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptor is left
			time.Sleep(20 * time.Millisecond)
			continue
		}
		select {
		case p.site.slots <- struct{}{}:
		default:
			c.Close()
			continue
		}
		if !p.site.keep(c, func() { c.Close() }) {
			c.Close()
			<-p.site.slots
			return
		}
		p.site.work.Go(func() {
			defer func() { <-p.site.slots }()
			defer p.site.drop(c)
			p.serve(c)
		})
	}
}

// keep notes a connection, unless the site is closed.
func (s *Site) keep(c net.Conn, end func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return false
	}
	s.open[c] = end
	return true
}

func (s *Site) drop(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// answer is what the operator asks at the desk.
func (s *Site) answer(asked int) []Port {
	var list []Port
	for _, p := range s.ports {
		if asked == 0 || asked == p.number {
			list = append(list, Port{Port: p.number, URL: s.Address(p.number), Listening: p.listens()})
		}
	}
	slices.SortFunc(list, func(a, b Port) int { return a.Port - b.Port })
	return list
}

// listens reports whether something in the cell listens now.
func (p *port) listens() bool {
	c, err := p.site.pool.dial(p.number)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// Port is a published port, as the operator is told of it.
type Port struct {
	Port      int    `json:"port"`
	URL       string `json:"url"` // good for one use
	Listening bool   `json:"listening"`
}
