package node

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/protocol"
	"cordon/internal/testwait"
)

// oldHome grants every stage, and reads no result with a word that it does not know.
type oldHome struct {
	t       *testing.T
	key     nkeys.KeyPair
	unknown string

	mu      sync.Mutex
	refused int
	taken   chan protocol.Result
}

func (h *oldHome) answer(_ string, raw []byte) []byte {
	var s protocol.Signed
	var r protocol.Result
	if json.Unmarshal(raw, &s) != nil || json.Unmarshal(s.Body, &r) != nil {
		return nil
	}
	a := protocol.Answer{
		Header: protocol.Header{Version: protocol.Version, Fleet: "f1", Kind: protocol.AnswerKind}, To: protocol.Digest(raw), Verdict: protocol.Go,
	}
	switch {
	case r.Kind == protocol.AskKind:
		a.Verdict, a.Fence = protocol.Granted, 7
	case r.Kind == protocol.ResultKind && strings.Contains(string(s.Body), h.unknown):
		a.Verdict = protocol.Malformed
		h.mu.Lock()
		h.refused++
		h.mu.Unlock()
	case r.Kind == protocol.ResultKind:
		a.Verdict = protocol.Taken
		h.taken <- r
	}
	return h.sign(a)
}

func (h *oldHome) sign(message any) []byte {
	raw, err := protocol.Sign(message, h.key)
	if err != nil {
		h.t.Error(err)
	}
	return raw
}

// TestOldHome: a home that does not know that a stage can fail because of a rate limit gets the result all the same. A home that knows it
// is told.
func TestOldHome(t *testing.T) {
	for _, row := range []struct {
		unknown string
		limited bool
		refused int
	}{{`"limited"`, false, 1}, {"nothing of this kind", true, 0}} {
		own, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err := own.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		h := &oldHome{t: t, key: own, unknown: row.unknown, taken: make(chan protocol.Result, 1)}
		local := engine.NewLocal()
		if err := local.Answer(h.answer); err != nil {
			t.Fatal(err)
		}
		const terms, hash = "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
		offer := protocol.Offer{
			Header: protocol.Header{Version: protocol.Version, Fleet: "f1", Kind: protocol.OfferKind}, Lease: "calm-otter", Terms: json.RawMessage(terms),
			Hash: hash, Until: time.Now().Add(time.Hour),
		}
		if err := local.Offer(t.Context(), "any", "calm-otter", h.sign(offer)); err != nil {
			t.Fatal(err)
		}
		n := &Node{
			Engine: local.Node("one"), Key: own, Home: protocol.Node{Fleet: "f1", Home: public}, Classes: []string{"any"}, Slots: 1, Beat: time.Second,
			Run: func(context.Context, *Hold, protocol.Offer) (protocol.Result, error) {
				return protocol.Result{Exit: 1, Limited: true}, nil
			},
		}
		ctx, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() { n.Work(ctx) })
		select {
		case r := <-h.taken:
			if r.Limited != row.limited || r.Exit != 1 {
				t.Errorf("%s: %+v", row.unknown, r)
			}
		case <-time.After(testwait.Bound):
			t.Errorf("%s: the home has no result", row.unknown)
		}
		stop()
		work.Wait()
		if h.refused != row.refused {
			t.Errorf("%s: refused %d times", row.unknown, h.refused)
		}
	}
}
