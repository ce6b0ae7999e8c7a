package testnet

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/testwait"
)

// Visit is a request that came to a server of the web.
type Visit struct {
	Host, Path string
	SNI        string // "" without TLS
	At         string // the address that it came to
}

// Web is every web server there is, by the Host that is asked for.
type Web struct {
	mu     sync.Mutex
	sites  map[string]http.Handler
	visits []Visit
	ready  chan struct{} // closed by the first request for /ready
}

func newWeb() *Web { return &Web{sites: map[string]http.Handler{}, ready: make(chan struct{})} }

// handle makes a site. Hosts that have none say hello.
func (w *Web) handle(host string, h http.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sites[host] = h
}

// Visits are all requests so far.
func (w *Web) Visits() []Visit {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.visits)
}

// Visited counts the requests for a host, by its name in the request or the hello.
func (w *Web) Visited(host string) int {
	n := 0
	for _, v := range w.Visits() {
		if v.Host == host || v.SNI == host {
			n++
		}
	}
	return n
}

func (w *Web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	v := Visit{Host: host, Path: r.URL.Path}
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		v.At = at.String()
	}
	if r.TLS != nil {
		v.SNI = r.TLS.ServerName
	}
	w.mu.Lock()
	if v.Path == "/ready" && !slices.ContainsFunc(w.visits, func(v Visit) bool { return v.Path == "/ready" }) {
		close(w.ready)
	}
	w.visits = append(w.visits, v)
	site := w.sites[host]
	w.mu.Unlock()
	if site == nil {
		site = hello()
	}
	site.ServeHTTP(out, r)
}

// hello is what a server says that is nothing in particular.
func hello() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(out http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprintf(out, "hello from %s%s\n", r.Host, r.URL.Path)
	})
	mux.HandleFunc("/bytes", func(out http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.URL.Query().Get("n"), 10, 64)
		_, _ = io.Copy(out, io.LimitReader(zeros{}, n)) // whoever asked may have gone
	})
	mux.HandleFunc("/echo", func(out http.ResponseWriter, r *http.Request) { _, _ = io.Copy(out, r.Body) })
	mux.HandleFunc("/late", func(out http.ResponseWriter, r *http.Request) {
		if testwait.Pass(r.Context(), testwait.Bound) {
			fmt.Fprintln(out, "the client does not end its side")
		} else { // it may still read
			fmt.Fprintf(out, "late hello from %s\n", r.Host)
		}
	})
	mux.HandleFunc("/drip", drip)
	mux.HandleFunc("/upgrade", upgrade)
	mux.HandleFunc("/dns-query", func(out http.ResponseWriter, r *http.Request) { fmt.Fprintln(out, "an answer over https") })
	return mux
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// drip sends events one at a time, as a model does.
func drip(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "text/event-stream")
	next := time.NewTicker(50 * time.Millisecond)
	defer next.Stop()
	for i := range 5 {
		fmt.Fprintf(out, "data: %d %d\n\n", i, time.Now().UnixMilli())
		out.(http.Flusher).Flush()
		select {
		case <-next.C:
		case <-r.Context().Done():
			return
		}
	}
}

// upgrade becomes an echo of lines.
func upgrade(out http.ResponseWriter, r *http.Request) {
	c, rw, err := out.(http.Hijacker).Hijack()
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: lines\r\nConnection: Upgrade\r\n\r\n")
	for lines := bufio.NewScanner(rw); lines.Scan(); {
		if _, err := fmt.Fprintf(c, "echo %s\n", lines.Text()); err != nil {
			return
		}
	}
}

// control changes names while a worker runs, by /names?name=…&addrs=…,… and tells at
// /over whether the test has done what it waited for.
func (n *Net) control() http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.URL.Path == "/names":
			n.Names.Set(q.Get("name"), strings.Split(q.Get("addrs"), ",")...)
		case r.URL.Path == "/over" && n.over.Load():
			fmt.Fprintln(out, "it is over")
			return
		}
		fmt.Fprintln(out, "done")
	})
}

// Over lets those go on who wait for it.
func (n *Net) Over() { n.over.Store(true) }

// Ready waits until somebody asked the control server for /ready.
func (n *Net) Ready() error {
	select {
	case <-n.Web.ready:
		return nil
	case <-time.After(testwait.Bound):
		return errors.New("testnet: nobody is ready")
	}
}

// serveWeb is every web server of the internet.
func (n *Net) serveWeb(a *authority) error {
	quiet := log.New(io.Discard, "", 0) // attacks make it talk
	for _, at := range []string{":80", ":443"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			return fmt.Errorf("testnet: %w", err)
		}
		s := &http.Server{Handler: n.Web, ErrorLog: quiet}
		n.atEnd(func() { s.Close() })
		if at == ":80" {
			go func() { _ = s.Serve(l) }()
			continue
		}
		s.TLSConfig = &tls.Config{GetCertificate: a.get}
		go func() { _ = s.ServeTLS(l, "", "") }()
	}
	return nil
}
