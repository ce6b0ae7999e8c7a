package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/assignment"
	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/identity"
	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/ledger"
	"cordon/internal/testwait"
)

// liar is a node that says what it likes about the trees that it is to test.
type liar struct {
	t      *testing.T
	here   machine
	token  protocol.Token
	key    nkeys.KeyPair
	public string
	engine engine.Node
}

// newLiar joins a home under a name.
func newLiar(here machine, name string) *liar {
	t := here.t
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	text := here.token()
	l := withKey(here, text, key)
	if a := l.say(l.token.Join(l.header(""), l.public, name)); a.Verdict != protocol.Joined {
		t.Fatalf("%+v", a)
	}
	l.engine.Close()
	l = withKey(here, text, key) // with the rights of a node
	if a := l.say(protocol.Hello{Header: l.header(protocol.HelloKind), Can: protocol.Can{Slots: 1}}); a.Verdict != protocol.Go {
		t.Fatalf("%+v", a)
	}
	return l
}

// withKey speaks with the key of a node.
func withKey(here machine, text string, key nkeys.KeyPair) *liar {
	t := here.t
	t.Helper()
	token, err := protocol.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	e, err := jetstream.Node(jetstream.Link{URL: token.Address, Fleet: token.Fleet, TLS: identity.Pin(token.Cert), Key: key}, public)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &liar{t, here, token, key, public, e}
}

func (l *liar) header(kind protocol.Kind) protocol.Header {
	return protocol.Header{Version: protocol.Version, Program: "test", Fleet: l.token.Fleet, Kind: kind, Number: rand.Text()}
}

func (l *liar) sign(message any) []byte {
	l.t.Helper()
	raw, err := protocol.Sign(message, l.key)
	if err != nil {
		l.t.Fatal(err)
	}
	return raw
}

func (l *liar) say(message any) protocol.Answer { l.t.Helper(); return l.tell(l.sign(message)) }

// tell sends a message as it is, until there is an answer.
func (l *liar) tell(raw []byte) protocol.Answer {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), testwait.Bound)
	defer cancel()
	for ctx.Err() == nil {
		said, err := l.engine.Ask(ctx, raw)
		if err != nil {
			continue
		}
		a, err := protocol.Node{Fleet: l.token.Fleet, Home: l.token.Home, Key: l.public}.Heed(said, raw)
		if err != nil {
			l.t.Fatal(err)
		}
		return a
	}
	l.t.Fatal("the home does not answer")
	return protocol.Answer{}
}

// held is a trial that a liar was granted.
type held struct {
	protocol.Offer
	order trial.Order
	base  string
	fence uint64
}

// takes takes the next trial. Offers of trials that are over are let go.
func (l *liar) takes() held {
	l.t.Helper()
	for {
		o := l.next()
		a := l.say(protocol.Ask{Header: l.header(protocol.AskKind), Lease: o.Lease, Hash: o.Hash, Can: protocol.Can{Slots: 1}})
		if a.Verdict != protocol.Granted {
			continue
		}
		_, terms, err := assignment.Open(o.Terms)
		if err != nil {
			l.t.Fatal(err)
		}
		all := l.here.events(ledger.TrialOffered)
		return held{Offer: o, order: read[ledger.TrialOffer](l.t, all[len(all)-1]).Order, base: string(terms.Base), fence: a.Fence}
	}
}

// next is the next offer.
func (l *liar) next() protocol.Offer {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), testwait.Bound)
	defer cancel()
	raw, err := l.engine.Next(ctx, l.public)
	if err != nil {
		l.t.Fatal(err)
	}
	o, err := protocol.Node{Fleet: l.token.Fleet, Home: l.token.Home, Key: l.public}.Accept(raw, time.Now())
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

// honest is a verdict that answers what was asked, and calls the tree good. Nobody has tested anything.
func (l *liar) honest(h held) protocol.Result {
	v := trial.Verdict{Tree: h.order.Tree}
	for _, c := range h.order.Commands {
		v.Checks = append(v.Checks, trial.Check{Command: c, Output: "all is well\n"})
	}
	return protocol.Result{
		Header: l.header(protocol.ResultKind), Lease: h.Lease, Fence: h.fence, Hash: h.Hash, Base: h.base, Ending: "tested", Chain: "none", Verdict: &v,
	}
}

// forged is a message in the name of another key than the one that signed it.
func (l *liar) forged(message any, name string) []byte {
	l.t.Helper()
	var s protocol.Signed
	if err := json.Unmarshal(l.sign(message), &s); err != nil {
		l.t.Fatal(err)
	}
	s.Key = name
	raw, err := json.Marshal(s)
	if err != nil {
		l.t.Fatal(err)
	}
	return raw
}

// refusals are why results of a node were refused, as the journal has it.
func (m machine) refusals(key string) (list []protocol.Verdict) {
	m.t.Helper()
	for _, e := range m.events(home.Refused) {
		if r := read[home.Refusal](m.t, e); r.Node == key {
			list = append(list, r.Why)
		}
	}
	return list
}

// passes lets a result land by calling it good, and returns what it said.
func (l *liar) passes() []byte {
	l.t.Helper()
	p := l.here.follow("", l.here.cordonCommand("run", "--on", "one", "--", "sh", "-c", "date +%s%N >src/done"))
	id := nameIn(p.await("leased"))
	said := l.sign(l.honest(l.takes()))
	if a := l.tell(said); a.Verdict != protocol.Taken {
		l.t.Fatalf("the control is not taken: %s", a.Verdict)
	}
	p.ends()
	if w := l.here.worker(id); w.Status != "merged" || len(w.Gate.Checks) != 1 || w.Gate.Checks[0].Node != "bob" {
		l.t.Fatalf("the control: %+v", w.Gate)
	}
	return said
}

// failsOnce says that the tests failed, and takes the trial with which the gate repeats them.
func (l *liar) failsOnce(h held, said *[]byte) held {
	l.t.Helper()
	r := l.honest(h)
	r.Verdict.Checks[0].Code = 1
	*said = l.sign(r)
	if a := l.tell(*said); a.Verdict != protocol.Taken {
		l.t.Fatalf("%+v", a)
	}
	again := l.takes()
	if again.order.Tree != h.order.Tree || again.fence == h.fence {
		l.t.Errorf("%+v is not another trial of %+v", again, h)
	}
	return again
}

// TestHostileTrial: what a node says about a tree counts only if it answers for exactly that tree and was granted it. Everything else is
// refused in the journal, and the tests run at home. In each case the honest answer counts, which is the control: a node that lies in that form is
// believed, as SECURITY.md says.
func TestHostileTrial(t *testing.T) {
	here, one := newTested(t, saysWhere, "gate: {retries: 1}"), newMachine(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0", "--lost", "10m") // the liar says something only when it is asked
	one.start(here.token(), "node", "--name", "one", "-").await("ready")
	bob := newLiar(here, "bob")
	author := withKey(here, here.token(), one.key(".fleet/*/key"))
	var old []byte // a verdict that was taken

	for _, row := range []struct {
		name  string
		want  protocol.Verdict
		by    *liar
		try   func(held) protocol.Answer
		again bool // after the tests have failed there once
		goes  bool // the trial goes on
	}{
		{name: "another tree", want: protocol.OtherTree, try: func(h held) protocol.Answer {
			r := bob.honest(h)
			r.Verdict.Tree = strings.Repeat("1", len(h.order.Tree))
			return bob.say(r)
		}},
		{name: "an old verdict about the same tree", want: protocol.OldFence, again: true, try: func(held) protocol.Answer { return bob.tell(old) }},
		{name: "a forged signature", want: protocol.Unsigned, goes: true, try: func(h held) protocol.Answer {
			return bob.tell(bob.forged(bob.honest(h), author.public))
		}},
		{name: "the author's own", want: protocol.OwnWork, by: author, goes: true, try: func(h held) protocol.Answer {
			if a := author.say(protocol.Ask{Header: author.header(protocol.AskKind), Lease: h.Lease, Hash: h.Hash, Can: protocol.Can{Slots: 1}}); a.Verdict != protocol.OwnWork {
				t.Errorf("the author asks for the trial and hears %s", a.Verdict)
			}
			return author.say(author.honest(h))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if !row.goes { // otherwise the honest answer follows
				old = bob.passes()
			}
			by := row.by
			if by == nil {
				by = bob
			}
			before := len(here.refusals(by.public))
			p := here.follow("", here.cordonCommand("run", "--on", "one", "--", "sh", "-c", "date +%s%N >src/done"))
			id := nameIn(p.await("leased"))
			h := bob.takes()
			if row.again {
				h = bob.failsOnce(h, &old)
			}
			if a := row.try(h); a.Verdict != row.want {
				t.Errorf("the home says %s, not %s", a.Verdict, row.want)
			}
			if all := here.refusals(by.public); len(all) != before+1 || all[before] != row.want {
				t.Errorf("the journal has the refusals %v", all[before:])
			}
			node := ""
			if row.goes { // nothing has come of it, and the node that has the trial may still answer
				if n := len(here.events(ledger.TrialReturned)); read[ledger.Return](t, here.events(ledger.TrialReturned)[n-1]).Fence == h.fence {
					t.Error("a verdict was taken")
				}
				node = "bob"
				bob.say(bob.honest(h))
			} else {
				p.await("at home: the verdict of bob is refused")
			}
			if code := p.ends(); code != 0 {
				t.Errorf("it ends with %d", code)
			}
			w := here.worker(id)
			if c := w.Gate.Checks; w.Status != "merged" || len(c) != 1 || c[0].Node != node || node == "" && c[0].Output != "tested in "+here.dir+"\n" {
				t.Errorf("%s: %+v", w.Status, c)
			}
		})
	}
	t.Run("the branch moves", func(t *testing.T) { // a verdict counts for the tree that was tested, and no other lands
		p := here.follow("", here.cordonCommand("run", "--on", "one", "--", "sh", "-c", "date +%s%N >src/done"))
		p.await("leased")
		first := bob.takes()
		here.write("repo/other", "new\n")
		here.git("add", "other")
		here.git("-c", "user.name=op", "-c", "user.email=op@example.com", "commit", "-qm", "other")
		bob.say(bob.honest(first))
		second := bob.takes()
		if a := bob.say(bob.honest(second)); a.Verdict != protocol.Taken || second.order.Tree == first.order.Tree {
			t.Errorf("%s: %s after %s", a.Verdict, second.order.Tree, first.order.Tree)
		}
		if code := p.ends(); code != 0 {
			t.Errorf("it ends with %d", code)
		}
		if tree := here.git("rev-parse", "main^{tree}"); tree != second.order.Tree {
			t.Errorf("%s landed, and %s was tested", tree, second.order.Tree)
		}
	})
	t.Run("removed while it tests", func(t *testing.T) {
		p := here.follow("", here.cordonCommand("run", "--on", "one", "--", "sh", "-c", "date +%s%N >src/done"))
		id := nameIn(p.await("leased"))
		bob.takes()
		here.run("rm", "bob")
		p.await("at home: bob was removed")
		if p.ends(); here.worker(id).Gate.Checks[0].Node != "" {
			t.Errorf("%+v", here.worker(id).Gate.Checks)
		}
	})
	here.cordon(0, "journal", "verify")
}

// TestTrialNodeDies: a result whose test a node takes and is not heard of again is tested at home.
func TestTrialNodeDies(t *testing.T) {
	here, one := newTested(t, saysWhere), newMachine(t)
	_, _ = startHome(here, "--listen", "127.0.0.1:0", "--lost", "6s")
	one.start(here.token(), "node", "--name", "one", "-").await("ready")
	bob := newLiar(here, "bob")
	p := here.follow("", here.cordonCommand("run", "--on", "one", "--", "sh", "-c", "echo 1 >src/done"))
	id := nameIn(p.await("leased"))
	h := bob.takes() // and is never heard again
	p.await("at home: no other node had it")
	if code := p.ends(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
	if w := here.worker(id); w.Status != "merged" || w.Gate.Checks[0].Node != "" {
		t.Errorf("%s: %+v", w.Status, w.Gate.Checks)
	}
	if a := bob.say(bob.honest(h)); a.Verdict != protocol.Withdrawn {
		t.Errorf("its verdict comes later, and the home says %s", a.Verdict)
	}
	p = here.follow("", here.cordonCommand("run", "--on", "one", "--", "sh", "-c", "echo 2 >src/done"))
	for range 3 { // it takes the trial and loses it, again and again
		bob.takes()
	}
	p.await("at home: 2 nodes had it and returned nothing")
	if code := p.ends(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
}
