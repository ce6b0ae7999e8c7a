package home_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/protocol"
	"cordon/internal/journal"
	"cordon/internal/testwait"
)

// broker is an engine in the hands of somebody else. Each of its tricks counts how often it was played.
type broker struct {
	*engine.Local
	t      *testing.T
	trick  string
	key    nkeys.KeyPair // with which it forges
	mu     sync.Mutex
	played int
	offers []taken  // that it has seen
	said   [][]byte // answers that it has seen
	asked  []taken  // questions that it has seen, with their sender

	answering sync.RWMutex // held while the home answers
	over      bool         // the home answers no more
}

// Answer is that of engine.Home. Messages that come late find nobody.
func (b *broker) Answer(answer func(string, []byte) []byte) error {
	return b.Local.Answer(func(node string, question []byte) []byte {
		b.answering.RLock()
		defer b.answering.RUnlock()
		if b.over {
			return nil
		}
		return answer(node, question)
	})
}

// end waits until the home has answered what it was asked.
func (b *broker) end() {
	b.answering.Lock()
	defer b.answering.Unlock()
	b.over = true
}

type taken struct {
	class, name string
	message     []byte
}

// plays reports whether it plays a trick this time, and counts it.
func (b *broker) plays(trick string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trick != trick || rand.IntN(3) > 0 {
		return false
	}
	b.played++
	return true
}

func (b *broker) sign(message any) []byte {
	raw, err := protocol.Sign(message, b.key)
	if err != nil {
		b.t.Error(err)
	}
	return raw
}

// Offer is that of engine.Home.
func (b *broker) Offer(ctx context.Context, class, name string, offer []byte) error {
	b.mu.Lock()
	b.offers = append(b.offers, taken{class, name, offer})
	old := b.offers[rand.IntN(len(b.offers))]
	b.mu.Unlock()
	switch {
	case b.plays("withheld"):
		return nil
	case b.plays("replayed"):
		_ = b.Local.Offer(ctx, old.class, "again-"+fmt.Sprint(rand.Int()), old.message)
	case b.plays("reordered"):
		time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _ = b.Local.Offer(context.Background(), class, name, offer) })
		return nil
	case b.plays("forged"):
		head := protocol.Header{Version: protocol.Version, Fleet: fleet, Kind: protocol.OfferKind}
		_ = b.Local.Offer(ctx, class, "forged-"+fmt.Sprint(rand.Int()), b.sign(protocol.Offer{
			Header: head, Lease: "foreign", Terms: []byte(theTerms), Hash: protocol.Digest([]byte(theTerms)), Until: time.Now().Add(time.Hour).UTC(),
		}))
		_ = b.Local.Offer(ctx, class, "altered-"+fmt.Sprint(rand.Int()), altered(b.t, offer, "lease", "foreign"))
	}
	return b.Local.Offer(ctx, class, name, offer)
}

// altered is a signed message with another value in its body.
func altered(t *testing.T, raw []byte, field string, value any) []byte {
	var s protocol.Signed
	body := map[string]any{}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal(s.Body, &body); err != nil {
		t.Error(err)
	}
	body[field] = value
	s.Body, _ = json.Marshal(body)
	raw, _ = json.Marshal(s)
	return raw
}

// through is the side of a node.
type through struct {
	engine.Node
	b    *broker
	name string
}

// Ask is that of engine.Node.
func (n through) Ask(ctx context.Context, question []byte) ([]byte, error) {
	b := n.b
	b.mu.Lock()
	b.asked = append(b.asked, taken{name: n.name, message: question})
	old, oldAnswer := b.asked[rand.IntN(len(b.asked))], []byte(nil)
	if len(b.said) > 0 {
		oldAnswer = b.said[rand.IntN(len(b.said))]
	}
	b.mu.Unlock()
	switch {
	case b.plays("withheld"):
		if rand.IntN(2) == 0 {
			_, _ = n.Node.Ask(ctx, question) // only the answer is
		}
		return nil, engine.ErrNoAnswer
	case b.plays("replayed"):
		_, _ = n.Node.Ask(ctx, question)
		_, _ = n.b.Node(old.name).Ask(ctx, old.message)
		if oldAnswer != nil && rand.IntN(2) == 0 {
			return oldAnswer, nil
		}
	case b.plays("reordered"):
		time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _, _ = n.Node.Ask(context.Background(), question) })
		return nil, engine.ErrNoAnswer
	case b.plays("forged"):
		return n.forge(ctx, question)
	}
	said, err := n.Node.Ask(ctx, question)
	if err == nil {
		b.mu.Lock()
		b.said = append(b.said, said)
		b.mu.Unlock()
	}
	return said, err
}

// forge sends results and questions that nobody signed, and answers for the home.
func (n through) forge(ctx context.Context, question []byte) ([]byte, error) {
	head := protocol.Header{Version: protocol.Version, Fleet: fleet, Kind: protocol.ResultKind, Number: fmt.Sprint(rand.Int())}
	for fence := range uint64(20) {
		_, _ = n.Node.Ask(ctx, n.b.sign(protocol.Result{Header: head, Lease: "s0", Fence: fence, Hash: protocol.Digest([]byte(theTerms)), Base: baseOID, Ending: "forged"}))
	}
	_, _ = n.Node.Ask(ctx, altered(n.b.t, question, "fence", 1))
	head.Kind = protocol.AnswerKind
	return n.b.sign(protocol.Answer{Header: head, To: protocol.Digest(question), Verdict: protocol.Granted, Say: "x", Fence: 7}), nil
}

// brokeredStages is how many stages run through a broker.
const brokeredStages = 30

// brokered runs stages through a broker, and returns what nodes ran: node and lease.
func brokered(t *testing.T, trick string, withHomesKey bool, enough func(o outcome, ran map[[2]string]int) bool) (*broker, map[[2]string]int, *journal.Journal) {
	dir := t.TempDir() // it is removed after the engine is closed
	seed, homeKey := newKey(t)
	key, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	b := &broker{Local: engine.NewLocal(), t: t, trick: trick, key: key}
	t.Cleanup(func() { b.Close() })
	if !withHomesKey {
		if b.key, err = nkeys.CreateUser(); err != nil {
			t.Fatal(err)
		}
	}
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tickets := map[string]protocol.Ticket{}
	tokens := map[string]protocol.Token{}
	for _, name := range []string{"one", "two", "three"} {
		secret := []byte("the secret of the node " + name)
		tickets[name] = protocol.Ticket{Secret: secret, Expires: time.Now().Add(time.Hour)}
		tokens[name] = protocol.Token{Address: "x", Home: homeKey, Fleet: fleet, Ticket: name, Secret: secret}
	}
	const soon = 5 * time.Second
	h := &home.Home{
		Engine: b, Key: key, Fleet: fleet, Program: "test", Source: stages{brokeredStages, tickets}, Lost: soon, Again: 50 * time.Millisecond, MaxPack: 1 << 20,
	}
	if err := h.Open(log); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() {
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	var mu sync.Mutex
	ran := map[[2]string]int{}
	for name, token := range tokens {
		k, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		n := &node.Node{
			Engine: through{b.Node(public), b, public}, Key: k, Home: protocol.Node{Fleet: fleet, Home: homeKey, Key: public}, Program: "test",
			Classes: []string{home.AnyClass}, Slots: 2, Beat: soon / 5,
			Run: func(ctx context.Context, _ *node.Hold, o protocol.Offer) (protocol.Result, error) {
				mu.Lock()
				ran[[2]string{public, o.Lease}]++
				mu.Unlock()
				return protocol.Result{Base: baseOID, Ending: "done", Chain: "none"}, ctx.Err()
			},
		}
		all.Go(func() {
			a, err := n.Join(ctx, token, name)
			if ctx.Err() == nil && !withHomesKey && (err != nil || a.Verdict != protocol.Joined) { // who has that key also answers this
				t.Errorf("%s: %+v, %v", name, a, err)
			}
			n.Work(ctx)
		})
	}
	w := &world{t: t, dir: dir}
	testwait.Until(t, "enough has run", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return ctx.Err() != nil || enough(w.read(), ran)
	}, func() string { mu.Lock(); defer mu.Unlock(); return fmt.Sprintf("%+v\n%v", w.read(), ran) })
	stop()
	all.Wait()
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b, ran, log
}

// TestHostileBroker runs stages through an engine that forges, reorders, replays and withholds offers,
// questions and answers. Every stage has one result, under its newest fence, and no node runs anything that
// the home did not grant to it. The controls: an engine that plays no trick, and one that forges with the
// home's own key, which makes nodes run what it wants.
func TestHostileBroker(t *testing.T) {
	allDone := func(o outcome, _ map[[2]string]int) bool { return len(o.returned) == brokeredStages }
	for _, trick := range []string{"", "forged", "reordered", "replayed", "withheld"} {
		t.Run("trick "+trick, func(t *testing.T) {
			t.Parallel()
			b, ran, log := brokered(t, trick, false, allDone)
			if (b.played > 0) != (trick != "") {
				t.Errorf("it has played %d tricks", b.played)
			}
			events, err := log.Events()
			if err != nil {
				t.Fatal(err)
			}
			granted, returned, fences := map[[2]string]int{}, map[string]int{}, map[string]uint64{}
			for _, e := range events {
				switch e.Type {
				case home.Granted:
					var g home.Grant
					if err := json.Unmarshal(e.Data, &g); err != nil {
						t.Fatal(err)
					}
					granted[[2]string{g.Node, e.Worker}]++
					fences[e.Worker] = e.Seq
				case home.Returned:
					var r home.Return
					if err := json.Unmarshal(e.Data, &r); err != nil || r.Fence != fences[e.Worker] {
						t.Errorf("%s with the fence %d, not %d: %v", e.Worker, r.Fence, fences[e.Worker], err)
					}
					returned[e.Worker]++
				}
			}
			for i := range brokeredStages {
				if n := returned[fmt.Sprint("s", i)]; n != 1 {
					t.Errorf("s%d has %d results", i, n)
				}
			}
			for what, times := range ran {
				if times > granted[what] {
					t.Errorf("%v ran %d times and was granted %d times", what, times, granted[what])
				}
			}
			t.Logf("%d tricks; %d stages, %d grants", b.played, brokeredStages, len(granted))
		})
	}
	t.Run("the control with the home's key", func(t *testing.T) {
		t.Parallel()
		foreign := func(ran map[[2]string]int) (n int) {
			for what, times := range ran {
				if what[1] == "foreign" {
					n += times
				}
			}
			return n
		}
		_, ran, _ := brokered(t, "forged", true, func(_ outcome, ran map[[2]string]int) bool { return foreign(ran) > 0 })
		if foreign(ran) == 0 {
			t.Error("whoever has the home's key makes no node run anything: the attack is none")
		}
	})
}
