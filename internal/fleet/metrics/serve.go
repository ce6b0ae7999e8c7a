package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Listen listens at HOST:PORT. Without a host it is the loopback address.
func Listen(address string) (net.Listener, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err == nil && port == "" {
		err = errors.New("the address has no port")
	}
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return l, nil
}

// patience is how long one who asks may take.
const patience = 10 * time.Second

// Serve answers with what collect returns, until ctx ends.
func Serve(ctx context.Context, l net.Listener, collect func(context.Context) []Family) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", ContentType)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_ = Write(w, collect(r.Context())) // whoever asked has gone
	})
	server := &http.Server{
		Handler: named(l.Addr(), mux), ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// named refuses requests for a loopback address that use a name of somebody else's: a page in a
// browser of this machine can make its own name mean 127.0.0.1.
func named(at net.Addr, next http.Handler) http.Handler {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && host != "localhost" {
			http.Error(w, "ask under the address or as localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
