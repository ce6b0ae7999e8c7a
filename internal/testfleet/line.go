package testfleet

import (
	"net"
	"strings"
	"sync"
)

// Lines are connections to servers that can be cut: bytes then wait on both sides, as they do when a
// network is in parts.
type Lines struct {
	mu        sync.Mutex
	uncut     chan struct{} // closed while bytes pass
	listeners []net.Listener
}

// NewLines makes one line to each server of URLs, and returns the URLs of their near ends.
func NewLines(urls string) (l *Lines, near string, err error) {
	l = &Lines{uncut: make(chan struct{})}
	close(l.uncut)
	var list []string
	for url := range strings.SplitSeq(urls, ",") {
		to := strings.TrimPrefix(url, "nats://")
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.Close()
			return nil, "", err
		}
		l.listeners = append(l.listeners, at)
		list = append(list, "nats://"+at.Addr().String())
		go l.serve(at, to)
	}
	return l, strings.Join(list, ","), nil
}

// Cut stops all bytes until Join.
func (l *Lines) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uncut = make(chan struct{})
}

// Join lets bytes pass again, also those that waited.
func (l *Lines) Join() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.uncut)
}

// Close ends the lines.
func (l *Lines) Close() {
	for _, at := range l.listeners {
		at.Close()
	}
}

func (l *Lines) serve(at net.Listener, to string) {
	for {
		near, err := at.Accept()
		if err != nil {
			return
		}
		go func() {
			l.pass()
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				return
			}
			go l.carry(far, near)
			l.carry(near, far)
		}()
	}
}

// carry copies bytes while the line is not cut, and ends both sides with the first error.
func (l *Lines) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	bytes := make([]byte, 32<<10)
	for {
		n, err := from.Read(bytes)
		l.pass()
		if _, writeErr := to.Write(bytes[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// pass waits until the line is not cut.
func (l *Lines) pass() {
	l.mu.Lock()
	uncut := l.uncut
	l.mu.Unlock()
	<-uncut
}
