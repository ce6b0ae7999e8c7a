package jetstream_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/testfleet"
	"cordon/internal/testground"
)

// world is an engine under test. lose takes from it everything that it stores.
type world struct {
	home engine.Home
	node func(t *testing.T, name string) (engine.Node, string) // with the name that it has
	lose func(t *testing.T)
}

// worlds are all engines.
var worlds = map[string]func(t *testing.T) world{"local": localWorld, "embedded": embeddedWorld, "cluster": clusterWorld}

const fleet = "f1"

func localWorld(t *testing.T) world {
	l := engine.NewLocal()
	t.Cleanup(func() { l.Close() })
	return world{
		home: l,
		node: func(_ *testing.T, name string) (engine.Node, string) { return l.Node(name), name },
		lose: func(*testing.T) { l.Forget() },
	}
}

func newKey(t *testing.T) nkeys.KeyPair {
	t.Helper()
	k, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// embeddedWorld is a server in this process, with keys and rights.
func embeddedWorld(t *testing.T) world {
	own := newKey(t)
	l := jetstream.Listener{
		Address: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Fleet: fleet,
		Admit: func(key string) jetstream.Rights {
			if key == public(t, own) {
				return jetstream.Owner
			}
			return jetstream.Member
		},
	}
	s, err := jetstream.Listen(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	l.Address = s.Addr().String()
	url := "nats://" + l.Address
	home, err := jetstream.Home(jetstream.Link{URL: url, Key: own, Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	return world{
		home: home,
		node: func(t *testing.T, _ string) (engine.Node, string) {
			key := newKey(t)
			return join(t, jetstream.Link{URL: url, Key: key, Fleet: fleet}, ""), public(t, key)
		},
		lose: func(t *testing.T) {
			s.Stop()
			remove(t, l.Store)
			if s, err = jetstream.Listen(l); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func join(t *testing.T, l jetstream.Link, name string) engine.Node {
	t.Helper()
	n, err := jetstream.Node(l, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// clusterWorld is three processes on loopback. lose kills one of them, and when it is back all
// at once, and deletes their stores.
func clusterWorld(t *testing.T) world {
	c, err := testfleet.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	link := jetstream.Link{URL: c.URLs(), Fleet: fleet, Many: 3}
	home, err := jetstream.Home(link)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	return world{
		home: home,
		node: func(t *testing.T, name string) (engine.Node, string) { return join(t, link, name), name },
		lose: func(t *testing.T) {
			c.Kill(0)
			if err := errors.Join(c.Start(0), c.Lose()); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func TestMain(m *testing.M) {
	testfleet.ServeIfAsked()
	os.Exit(testground.Run("internal/fleet/engine/jetstream", m))
}
