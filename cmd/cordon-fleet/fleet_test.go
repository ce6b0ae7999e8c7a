package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/protocol"
	"cordon/internal/testfleet"
)

// ask asks a home for a stage that it does not have, with the key of a node: as somebody who copied it.
func ask(t *testing.T, text string, key nkeys.KeyPair) protocol.Verdict {
	t.Helper()
	return question(t, text, key, func(fleet string) any {
		return protocol.Ask{
			Header: protocol.Header{Version: protocol.Version, Fleet: fleet, Kind: protocol.AskKind, Number: "1"}, Lease: "calm-otter", Hash: "h",
		}
	}).Verdict
}

// question asks a home with the key of a node until there is an answer.
func question(t *testing.T, text string, key nkeys.KeyPair, message func(fleet string) any) protocol.Answer {
	t.Helper()
	token, err := protocol.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	link := jetstream.Link{URL: token.Address, Fleet: token.Fleet}
	if token.Cert != "" {
		link.TLS, link.Key = identity.Pin(token.Cert), key
	}
	e, err := jetstream.Node(link, public)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	raw, err := protocol.Sign(message(token.Fleet), key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		said, err := e.Ask(ctx, raw)
		if err != nil {
			continue
		}
		a, err := protocol.Node{Fleet: token.Fleet, Home: token.Home, Key: public}.Heed(said, raw)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	t.Fatal("the home does not answer")
	return protocol.Answer{}
}

// startHome starts a home, and returns where it listens.
func startHome(m machine, args ...string) (p *process, address string) {
	m.t.Helper()
	p = m.start("", append([]string{"home"}, args...)...)
	_, address, _ = strings.Cut(p.await("home of fleet"), "://")
	return p, address
}

// TestFleet runs a home and nodes as processes: nodes join once, are drained and removed, and the home
// and the nodes are killed and come back.
func TestFleet(t *testing.T) {
	t.Parallel()
	here, one, two := newHome(t), newMachine(t), newMachine(t)
	if _, said, err := here.try("", "join"); err == nil || !strings.Contains(said, "no home has run yet") {
		t.Errorf("join without a home: %v, %s", err, said)
	}
	if out := here.nodes(); len(out) != 0 {
		t.Errorf("nodes without a home: %v", out)
	}
	if _, said, err := here.try("", "drain", "one"); err == nil || !strings.Contains(said, "no node with this name") {
		t.Errorf("drain without a home: %v, %s", err, said)
	}
	if made, err := os.ReadDir(filepath.Join(here.dir, "state")); err == nil {
		t.Errorf("these commands have made %v", made)
	}
	home, address := startHome(here, "--listen", "127.0.0.1:0")
	token := here.token()
	first := one.start("", "node", "--name", "one", token)
	first.await("joined as one")
	first.await("ready")
	second := two.start(here.token(), "node", "--name", "two", "-")
	second.await("joined as two")
	second.await("ready")
	keyOne, keyTwo := one.key(".fleet/*/key"), two.key(".fleet/*/key")
	here.file("*/fleet/key")
	here.file("*/fleet/certificate.pem")

	t.Run("a token is good for one node", func(t *testing.T) {
		third := newMachine(t)
		if _, said, err := third.try("", "node", "--name", "three", token); err == nil || !strings.Contains(said, "was used") {
			t.Errorf("%v, %s", err, said)
		}
		if _, known := here.nodes()["three"]; known {
			t.Error("it has joined")
		}
	})
	t.Run("a token with another certificate", func(t *testing.T) {
		forged, err := protocol.ParseToken(here.token())
		if err != nil {
			t.Fatal(err)
		}
		forged.Cert = strings.Repeat("0", 64)
		if _, said, err := newMachine(t).try("", "node", "--name", "four", forged.String()); err == nil || !strings.Contains(said, "another certificate") {
			t.Errorf("%v, %s", err, said)
		}
	})
	t.Run("a second home", func(t *testing.T) {
		if _, said, err := here.try("", "home", "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(said, "is already running") {
			t.Errorf("%v, %s", err, said)
		}
	})
	t.Run("inside a worker", func(t *testing.T) {
		cmd := here.command("ls")
		cmd.Env = append(cmd.Env, "CORDON_WORKER=calm-otter")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "only the operator") {
			t.Errorf("%v, %s", err, out)
		}
	})
	eventually(t, "the nodes are not heard", func() bool {
		n := here.nodes()
		return n["one"].Heard != nil && n["two"].Heard != nil && n["one"].State == "ready" && n["two"].State == "ready"
	})
	t.Run("on the desk of cordon", func(t *testing.T) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		beside := t.TempDir() // the desk hands none of cordon's variables on
		script := "#!/bin/sh\nexec env " + asProgram + "=1 " + self + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(beside, "cordon-fleet"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		desk := exec.Command(filepath.Join(programs, "cordon"), "ui", "--plain")
		desk.Env, desk.Dir = append(here.environ(), "PATH="+beside+":"+os.Getenv("PATH")), here.in
		out, err := desk.CombinedOutput()
		for _, want := range []string{"fleet: 2 nodes.", "one: ready, 0 stages, heard ", "two: ready, "} {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("no %q: %v\n%s", want, err, out)
			}
		}
	})
	if v := ask(t, token, keyOne); v != protocol.NoStage { // the control
		t.Errorf("a node asks: %s", v)
	}

	t.Run("drained, and both killed", func(t *testing.T) {
		here.run("drain", "one")
		home.kill()
		first.kill()
		if s := here.nodes()["one"].State; s != "draining" {
			t.Errorf("without a home, one is %s", s)
		}
		home, _ = startHome(here, "--listen", address)
		back := time.Now()
		first = one.start("", "node") // without a token
		first.await("draining")
		eventually(t, "the node that stayed does not come back", func() bool {
			heard := here.nodes()["two"].Heard
			return heard != nil && heard.After(back)
		})
		here.run("resume", "one")
		if out := here.run("ls"); here.nodes()["one"].State != "ready" || !strings.Contains(out, "one") {
			t.Errorf("resumed: %s", out)
		}
		first.await("ready") // it says so itself
	})
	t.Run("removed", func(t *testing.T) {
		here.run("rm", "two")
		second.await("has removed this node")
		if code := second.ends(); code != exitRefused {
			t.Errorf("it ends with %d", code)
		}
		if left, err := filepath.Glob(filepath.Join(two.dir, "state/cordon/.fleet/*")); err != nil || len(left) != 0 {
			t.Errorf("its key is still there: %v, %v", left, err)
		}
		if v := ask(t, token, keyTwo); v != protocol.Removed {
			t.Errorf("with a copy of its key: %s", v)
		}
		if v := ask(t, token, keyOne); v != protocol.NoStage { // the control
			t.Errorf("the other node: %s", v)
		}
		home.kill()
		home, _ = startHome(here, "--listen", address)
		if v := ask(t, token, keyTwo); v != protocol.Removed {
			t.Errorf("after a restart of the home: %s", v)
		}
		if nodes := here.nodes(); nodes["one"].Next != "cordon fleet drain one" || nodes["two"].Next != "" {
			t.Errorf("next is %q, and for the removed node %q", nodes["one"].Next, nodes["two"].Next)
		}
		if out := here.run("show", "two"); !strings.Contains(out, "two is removed") {
			t.Error(out)
		}
		if _, said, err := here.try("", "rm", "two"); err == nil || !strings.Contains(said, "no node with this name") {
			t.Errorf("removed twice: %v, %s", err, said)
		}
		second = two.start("", "node", "--name", "two", here.token()) // with a new key
		second.await("ready")
	})
	t.Run("ended by a signal", func(t *testing.T) {
		for _, p := range []*process{first, second, home} {
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := p.ends(); code != 0 {
				t.Errorf("it ends with %d", code)
			}
		}
	})
	parsed, err := protocol.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	journals, err := filepath.Glob(filepath.Join(here.dir, "state/cordon/*/journal.*"))
	if err != nil || len(journals) == 0 {
		t.Fatal(journals, err)
	}
	for _, at := range journals {
		if text, err := os.ReadFile(at); err != nil || strings.Contains(string(text), string(parsed.Secret)) {
			t.Errorf("%s: %v, or it holds the secret of a token", at, err)
		}
	}
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
		a := question(t, text, key, func(fleet string) any {
			return protocol.Hello{Header: protocol.Header{Version: version, Program: "v0", Fleet: fleet, Kind: protocol.HelloKind, Number: fmt.Sprint(version)}}
		})
		if a.Verdict != want || a.Version != protocol.Version || a.Program == "" || a.Say == "" {
			t.Errorf("version %d: %+v, not %s", version, a, want)
		}
	}
}

// TestOtherCertificate: a home that has lost its certificate is another one for its nodes.
func TestOtherCertificate(t *testing.T) {
	t.Parallel()
	here, one := newHome(t), newMachine(t)
	home, address := startHome(here, "--listen", "127.0.0.1:0")
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
