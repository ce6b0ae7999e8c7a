// Package deskweb serves the desk to the operator's browser: on the loopback of this machine
// only, under a name that no other page has, and to the one who holds a token that is good once.
//
// It decides who may ask, and nothing else: what a screen shows comes from a Source. It refuses
// every name but its own (421), every method but GET and POST, every request of another page, and
// everything but the empty page, its script and its style without a bearer token. It sets no
// cookie: a browser would send it to every port of this machine, those of a worker's server included.
// A desk for browsers without scripts has a password instead and is only read.
package deskweb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// Source makes what the screens show.
type Source interface {
	// Screen writes the document of a screen. ErrNoScreen says that there is none at that path.
	Screen(ctx context.Context, w io.Writer, path string, query url.Values) error
	// Changes tells when a screen may have changed, until ctx ends.
	Changes(ctx context.Context) (<-chan struct{}, error)
}

// ErrNoScreen says that there is no screen at a path.
var ErrNoScreen = errors.New("there is no such screen")

// Server is a desk that listens.
type Server struct {
	source  Source
	host    string // the only one that is answered, with its port
	port    int
	listen  []net.Listener
	keys    *keys
	reader  *reader       // nil: the page's script asks for the screens
	streams chan struct{} // one for each stream of events that is open
	done    context.CancelFunc
	ctx     context.Context
}

// maxStreams is how many pages may follow at once.
const maxStreams = 32

// Open listens on a port of both loopback addresses that avoid does not name.
func Open(source Source, avoid func(port int) bool) (*Server, error) {
	name := make([]byte, 8)
	rand.Read(name)
	list, port, err := listen(avoid)
	if err != nil {
		return nil, err
	}
	s := &Server{
		source: source, port: port, listen: list, keys: newKeys(time.Now), streams: make(chan struct{}, maxStreams),
		host: fmt.Sprintf("desk-%s.localhost:%d", hex.EncodeToString(name), port),
	}
	s.ctx, s.done = context.WithCancel(context.Background())
	return s, nil
}

// tries is how many ports are tried.
const tries = 64

// listen takes a port on 127.0.0.1 and the same on ::1. If somebody else has the latter, another
// port is tried: a browser may ask ::1 first, and the page of another would see the token.
func listen(avoid func(int) bool) ([]net.Listener, int, error) {
	for range tries {
		four, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, 0, err
		}
		port := four.Addr().(*net.TCPAddr).Port
		if avoid != nil && avoid(port) {
			four.Close()
			continue
		}
		six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
		switch {
		case err == nil:
			return []net.Listener{four, six}, port, nil
		case !errors.Is(err, syscall.EADDRINUSE): // there is no ::1 here, for anybody
			return []net.Listener{four}, port, nil
		}
		four.Close()
	}
	return nil, 0, errors.New("no port is free on 127.0.0.1 and ::1")
}

// Port is where it listens.
func (s *Server) Port() int { return s.port }

// Link is an address that opens the desk once, within the next minute.
func (s *Server) Link() string { return "http://" + s.host + "/#" + s.keys.invite() }

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
	}
	failed := make(chan error, len(s.listen))
	for _, l := range s.listen {
		go func() { failed <- web.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.done() // the streams end
	web.Close()
	return err
}
