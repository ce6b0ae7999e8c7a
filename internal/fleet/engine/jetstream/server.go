package jetstream

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
)

// Rights are what a server lets a key do. The zero value is nothing.
type Rights int

const (
	Stranger Rights = iota // does not connect
	Guest                  // may ask the home, as itself: for those who join
	Member                 // may also take offers
	Owner                  // is the home
)

// Listener says how the server inside a home's process is reached, and by whom.
type Listener struct {
	Address string      // host and port; port 0 is any
	Store   string      // a directory that may be deleted at any moment
	TLS     *tls.Config // nil: none; otherwise nothing is said before the handshake
	Fleet   string
	// Admit says what a key may do, each time that its holder connects. Its holder was proven.
	Admit func(key string) Rights
}

// Server is a server inside this process.
type Server struct{ *server.Server }

// Version is that of the server.
const Version = server.VERSION

// AnyClass is the class of offers that every node may take. Every node also takes those of
// the class that has its own name.
const AnyClass = "any"

// Listen starts a server.
func Listen(l Listener) (*Server, error) {
	if err := engine.CheckWord(l.Fleet); err != nil {
		return nil, err
	}
	host, text, err := net.SplitHostPort(l.Address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 0 {
		return nil, fmt.Errorf("%q has no port", l.Address)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "cordon-" + l.Fleet, Host: host, Port: port, JetStream: true, StoreDir: l.Store, NoSigs: true, NoLog: true,
		MaxPayload: 1 << 20, MaxSubs: 100, MaxControlLine: 4096, AlwaysEnableNonce: true, CustomClientAuthentication: admission(l),
		TLSConfig: l.TLS, TLSHandshakeFirst: l.TLS != nil, TLSTimeout: patience.Seconds(), AuthTimeout: patience.Seconds(), DisableJetStreamBanner: true,
		// Nodes say little: a cache for each of them costs more memory than it saves work. Nobody reads the list of
		// closed connections, which would grow to 10,000.
		NoSublistCache: true, MaxClosedClients: 1, PingInterval: Silent, MaxPingsOut: 1,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(5 * patience) {
		s.Shutdown()
		return nil, errors.New("the server of the fleet did not start: is its address in use?")
	}
	return &Server{s}, nil
}

// Stop ends the server.
func (s *Server) Stop() {
	s.Shutdown()
	s.WaitForShutdown()
}

// Expel ends the connections of a key. It may come back, with the rights that it has by then.
func (s *Server) Expel(key string) error {
	open, err := s.Connz(&server.ConnzOptions{Username: true, User: key, Limit: 1000})
	if err != nil {
		return err
	}
	for _, c := range open.Conns {
		_ = s.DisconnectClientByID(c.Cid) // it may be gone by now
	}
	return nil
}

// admission lets in whoever proves a key, with the rights of that key.
type admission Listener

// Check is that of server.Authentication.
func (a admission) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if c.Kind() != server.CLIENT || !proven(o.Nkey, o.Sig, c.GetNonce()) {
		return false
	}
	permissions, ok := permissions(a.Fleet, o.Nkey, a.Admit(o.Nkey))
	if ok {
		c.RegisterUser(&server.User{Username: o.Nkey, Permissions: permissions})
	}
	return ok
}

// proven reports whether the holder of a key has signed this connection's nonce.
func proven(key, signature string, nonce []byte) bool {
	if !nkeys.IsValidPublicUserKey(key) || len(nonce) == 0 {
		return false
	}
	sig, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		return false
	}
	public, err := nkeys.FromPublicKey(key)
	return err == nil && public.Verify(nonce, sig) == nil
}

// permissions are the subjects of a key; nil are all.
func permissions(fleet, key string, r Rights) (*server.Permissions, bool) {
	publish := []string{askSubject(fleet, key)}
	switch r {
	case Owner:
		return nil, true
	case Member:
		for _, class := range []string{AnyClass, key} {
			at := stream(fleet) + "." + class
			publish = append(publish, "$JS.API.CONSUMER.INFO."+at, "$JS.API.CONSUMER.MSG.NEXT."+at, "$JS.ACK."+at+".>")
		}
	case Guest:
	default:
		return nil, false
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{inbox(key) + ".>"}},
	}, true
}
