package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/protocol"
	"cordon/internal/testfleet"
	"cordon/internal/testwait"
)

// ask asks a home for a stage that it does not have, with the key of a node: as somebody who copied it.
func ask(t *testing.T, text string, key nkeys.KeyPair) protocol.Verdict {
	t.Helper()
	a, err := question(text, key, noStage)
	if err != nil {
		t.Fatal(err)
	}
	return a.Verdict
}

func noStage(fleet string) any {
	return protocol.Ask{
		Header: protocol.Header{Version: protocol.Version, Fleet: fleet, Kind: protocol.AskKind, Number: "1"}, Lease: "calm-otter", Hash: "h",
	}
}

// question asks a home with the key of a node until there is an answer.
func question(text string, key nkeys.KeyPair, message func(fleet string) any) (protocol.Answer, error) {
	token, err := protocol.ParseToken(text)
	if err != nil {
		return protocol.Answer{}, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return protocol.Answer{}, err
	}
	link := jetstream.Link{URL: token.Address, Fleet: token.Fleet}
	if token.Cert != "" {
		link.TLS, link.Key = identity.Pin(token.Cert), key
	}
	e, err := jetstream.Node(link, public)
	if err != nil {
		return protocol.Answer{}, err
	}
	defer e.Close()
	raw, err := protocol.Sign(message(token.Fleet), key)
	if err != nil {
		return protocol.Answer{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Bound)
	defer cancel()
	for ctx.Err() == nil {
		if said, err := e.Ask(ctx, raw); err == nil {
			return protocol.Node{Fleet: token.Fleet, Home: token.Home, Key: public}.Heed(said, raw)
		}
	}
	return protocol.Answer{}, errors.New("the home does not answer")
}

// startHome starts a home, and returns where it listens.
func startHome(m machine, args ...string) (p *process, address string) {
	m.t.Helper()
	p = m.start("", append([]string{"home"}, args...)...)
	_, address, _ = strings.Cut(p.await("home of fleet"), "://")
	return p, address
}

// TestOutdatedNode: a home tells a node with an older protocol that it is outdated, and one with a newer that it is itself. Neither
// is taken for a node that is there.
func TestOutdatedNode(t *testing.T) {
	t.Parallel()
	here, one := newHome(t), newMachine(t)
	startHome(here, "--listen", "127.0.0.1:0")
	text := here.token()
	node := one.start("", "node", "--name", "one", text)
	node.await("ready")
	node.kill()
	key := one.key(".fleet/*/key")
	for version, want := range map[int]protocol.Verdict{
		protocol.Version: protocol.Go, protocol.Version - 1: protocol.Outdated, protocol.Version + 1: protocol.Newer,
	} {
		a, err := question(text, key, func(fleet string) any {
			return protocol.Hello{Header: protocol.Header{Version: version, Program: "v0", Fleet: fleet, Kind: protocol.HelloKind, Number: fmt.Sprint(version)}}
		})
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict != want || a.Version != protocol.Version || a.Program == "" || a.Say == "" {
			t.Errorf("version %d: %+v, not %s", version, a, want)
		}
	}
}

// TestOtherCertificate: a home that has lost its certificate is another one for its nodes.
func TestOtherCertificate(t *testing.T) {
	t.Parallel()
	here, one := newHome(t), newMachine(t)
	home, address := startHome(here, "--listen", ownLoopback())
	node := one.start("", "node", "--name", "one", here.token())
	node.await("ready")
	home.kill()
	if err := os.Remove(here.file("*/fleet/certificate.pem")); err != nil {
		t.Fatal(err)
	}
	startHome(here, "--listen", address)
	node.await("another certificate")
}

// TestCluster: the engine of a fleet may be a cluster of servers that others run.
func TestCluster(t *testing.T) {
	c, err := testfleet.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	here, one := newHome(t), newMachine(t)
	if _, said, err := here.try("", "home", "--url", "nats://me:secret@127.0.0.1:1"); err == nil ||
		!strings.Contains(said, "--address") || strings.Contains(said, "secret@") {
		t.Errorf("a URL with a password: %v, %s", err, said)
	}
	startHome(here, "--url", c.URLs())
	token := here.token()
	node := one.start("", "node", "--name", "one", token)
	node.await("ready")
	key := one.key(".fleet/*/key")
	if v := ask(t, token, key); v != protocol.NoStage { // the control
		t.Errorf("a node asks: %s", v)
	}
	here.run("rm", "one")
	if v := ask(t, token, key); v != protocol.Removed {
		t.Errorf("a removed node asks: %s", v)
	}
}
