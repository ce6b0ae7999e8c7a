// Package testnet is an internet for tests that never leaves the machine: names,
// addresses and servers in a network namespace that the test is started again in.
//
// In that namespace every address leads to its own loopback, so that a server which
// listens at every address is at all of them, those of private networks included.
// What a program can reach there it would reach outside; that is the control of
// every test that shows what a cell refuses. Names are answered by a server of this
// package, which keeps what it was asked; /etc and /run are the test's own.
//
// A Network is the opposite: a namespace that reaches only what it is connected to. Each stands for a machine.
//
// It is for tests only and is in no product.
package testnet

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// The places that a test finds in its namespace.
const (
	Etc   = "/etc/testnet"     // files of the test's, that a cell shows too
	CA    = Etc + "/ca.pem"    // the authority that signs every server
	Probe = Etc + "/probe"     // the program that was started, to be started in a cell
	Own   = "93.184.216.99"    // a public address that is this machine's
	Own6  = "2606:2800:220::9" // another one
)

// dirVariable names the directory of the servers' files in the namespace.
const dirVariable = "CORDON_TESTNET"

// Inside reports whether this program is in a network of a test's already.
func Inside() bool { return os.Getenv(dirVariable) != "" }

// Net is the servers of a test.
type Net struct {
	Dir   string // files of the servers
	Names *Names
	Web   *Web

	over  atomic.Bool
	mu    sync.Mutex
	close []func()
}

// Open starts the servers that every test has: names, HTTP and HTTPS.
func Open() (*Net, error) {
	n := &Net{Dir: os.Getenv(dirVariable), Names: newNames(), Web: newWeb()}
	n.Names.Set("control.example.com", "93.184.216.7")
	n.Web.handle("control.example.com", n.control())
	authority, err := readAuthority(filepath.Join(n.Dir, "ca"))
	if err != nil {
		return nil, err
	}
	for _, start := range []func() error{n.serveNames, func() error { return n.serveWeb(authority) }} {
		if err := start(); err != nil {
			n.Close()
			return nil, err
		}
	}
	return n, nil
}

// Close ends every server.
func (n *Net) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.close {
		c()
	}
	n.close = nil
}

// atEnd keeps what is to be done at Close.
func (n *Net) atEnd(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.close = append(n.close, f)
}

// Serve takes connections at an address such as ":7000" or "127.0.0.1:11434".
func (n *Net) Serve(at string, serve func(net.Conn)) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	n.atEnd(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return nil
}
