package protocol

import (
	"encoding/json"
	"testing"
	"time"
)

// forge is what a broker can make: a message that names alice's key and has evil's signature.
func (w *world) forge(message any) []byte {
	w.t.Helper()
	var s Signed
	if err := json.Unmarshal(w.sign(message, w.evil), &s); err != nil {
		w.t.Fatal(err)
	}
	s.Key = w.public(w.alice)
	raw, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}

// altered is a signed message with another body.
func (w *world) altered(raw []byte, change func(body map[string]any)) []byte {
	w.t.Helper()
	var s Signed
	body := map[string]any{}
	if err := json.Unmarshal(raw, &s); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(s.Body, &body); err != nil {
		w.t.Fatal(err)
	}
	change(body)
	s.Body, _ = json.Marshal(body)
	raw, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}

func (w *world) offer() Offer {
	return Offer{Header: w.header(OfferKind), Lease: "calm-otter", Terms: []byte(terms), Hash: hash, Until: w.now.Add(time.Minute)}
}

func (w *world) node() Node {
	return Node{Fleet: "f1", Home: w.public(w.own), Key: w.public(w.alice)}
}

// A broker cannot make a node run anything: what it forges or changes is refused, and what
// it repeats gets no grant.
func TestHostileBrokerOffers(t *testing.T) {
	w := newWorld(t)
	n := w.node()
	good := w.sign(w.offer(), w.own)
	if o, err := n.Accept(good, w.now); err != nil || o.Lease != "calm-otter" || string(o.Terms) != terms {
		t.Fatalf("the control: %+v, %v", o, err)
	}
	other := func(change func(*Offer)) []byte { o := w.offer(); change(&o); return w.sign(o, w.own) }
	for name, raw := range map[string][]byte{
		"signed by another":      w.sign(w.offer(), w.evil),
		"signed by a node":       w.sign(w.offer(), w.bob),
		"with another lease":     w.altered(good, func(b map[string]any) { b["lease"] = "bold-yak" }),
		"with other terms":       w.altered(good, func(b map[string]any) { b["terms"] = map[string]any{"policy": "wide"} }),
		"for another fleet":      other(func(o *Offer) { o.Fleet = "f2" }),
		"of a newer version":     other(func(o *Offer) { o.Version++ }),
		"of an older version":    other(func(o *Offer) { o.Version-- }),
		"that has run out":       other(func(o *Offer) { o.Until = w.now }),
		"whose terms are others": other(func(o *Offer) { o.Terms = []byte(`{}`) }),
		"that is an answer":      w.sign(Answer{Header: w.header(AnswerKind), Verdict: Granted, Fence: 9}, w.own),
		"cut off":                good[:len(good)-9],
		"nothing":                nil,
	} {
		if o, err := n.Accept(raw, w.now); err == nil {
			t.Errorf("an offer %s is accepted: %+v", name, o)
		}
	}
	// An offer that is repeated after the stage is over.
	fence := w.grant(w.alice)
	w.say(w.result(fence), w.alice)
	if _, err := n.Accept(good, w.now); err != nil {
		t.Error(err)
	}
	if a := w.say(w.ask(), w.alice); a.Verdict != Over {
		t.Errorf("a repeated offer leads to %+v", a)
	}
}

// A broker cannot answer for the home.
func TestHostileBrokerAnswers(t *testing.T) {
	w := newWorld(t)
	n := w.node()
	question := w.sign(w.ask(), w.alice)
	good := w.sign(w.tell(question, w.alice), w.own)
	if a, err := n.Heed(good, question); err != nil || a.Verdict != Granted || a.Fence != 8 {
		t.Fatalf("the control: %+v, %v", a, err)
	}
	later := w.sign(w.ask(), w.alice)
	held := w.sign(w.tell(w.sign(w.ask(), w.bob), w.bob), w.own)
	for name, raw := range map[string][]byte{
		"to an earlier question":  good, // heeded for the later one
		"to another node":         held,
		"forged":                  w.sign(Answer{Header: w.header(AnswerKind), To: Digest(later), Verdict: Granted, Fence: 99}, w.evil),
		"changed":                 w.altered(good, func(b map[string]any) { b["to"] = Digest(later) }),
		"without a fence":         w.sign(Answer{Header: w.header(AnswerKind), To: Digest(later), Verdict: Granted}, w.own),
		"with a fence and no yes": w.sign(Answer{Header: w.header(AnswerKind), To: Digest(later), Verdict: Held, Fence: 9}, w.own),
		"that is an offer":        w.sign(w.offer(), w.own),
	} {
		if a, err := n.Heed(raw, later); err == nil {
			t.Errorf("an answer %s is heeded: %+v", name, a)
		}
	}
}

// A broker cannot type on the terminal of a stage: what it forges, changes or repeats is not heeded.
func TestHostileBrokerTypes(t *testing.T) {
	w := newWorld(t)
	n := w.node()
	fence := w.grant(w.alice)
	typed := func(question []byte, keys string) []byte {
		a := w.tell(question, w.alice)
		if a.Verdict != Go {
			t.Fatalf("%+v", a)
		}
		a.Strokes = []Stroke{{Keys: []byte(keys)}}
		return w.sign(a, w.own)
	}
	question := w.sign(w.listen(fence, 0), w.alice)
	good := typed(question, "y")
	if a, err := n.Heed(good, question); err != nil || string(a.Strokes[0].Keys) != "y" {
		t.Fatalf("the control: %+v, %v", a, err)
	}
	later := w.sign(w.listen(fence, 1), w.alice)
	forged := Answer{Header: w.header(AnswerKind), To: Digest(later), Verdict: Go, Strokes: []Stroke{{Keys: []byte("y")}}}
	for name, raw := range map[string][]byte{
		"typed a second time":   good,
		"typed by somebody":     w.sign(forged, w.evil),
		"typed by another node": w.sign(forged, w.bob),
		"typed by the node":     w.sign(forged, w.alice),
		"in the home's name":    w.altered(w.sign(forged, w.evil), func(map[string]any) {}),
		"with other keys": w.altered(typed(later, "n"), func(b map[string]any) {
			b["strokes"] = []Stroke{{Keys: []byte("y")}}
		}),
		"moved to this question": w.altered(good, func(b map[string]any) { b["to"] = Digest(later) }),
	} {
		if a, err := n.Heed(raw, later); err == nil {
			t.Errorf("keys %s are heeded: %+v", name, a)
		}
	}
	if _, err := n.Heed(typed(later, "n"), later); err != nil {
		t.Errorf("the control: %v", err)
	}
}

// A broker that repeats, reorders and withholds messages of a node changes nothing but time.
func TestHostileBrokerOrder(t *testing.T) {
	w := newWorld(t)
	asked := w.sign(w.ask(), w.alice)
	fence := w.tell(asked, w.alice).Fence
	first, second := w.sign(w.beat(fence, 1), w.alice), w.sign(w.beat(fence, 2), w.alice)
	returned := w.sign(w.result(fence), w.alice)
	if a := w.tell(second, w.alice); a.Verdict != Go {
		t.Errorf("the second beat, which came first: %+v", a)
	}
	w.now = w.now.Add(50 * time.Second)
	for _, raw := range [][]byte{first, second} {
		if a := w.tell(raw, w.alice); a.Verdict != Replayed {
			t.Errorf("a beat that is late or repeated: %+v", a)
		}
	}
	if got := w.stages["calm-otter"].Grant.Renewed; !got.Equal(w.now.Add(-50 * time.Second)) {
		t.Error("a repeated beat renews the grant")
	}
	w.now = w.now.Add(11 * time.Second) // beats are withheld: the stage goes to bob
	newer := w.grant(w.bob)
	for name, raw := range map[string][]byte{"result": returned, "beat": second} {
		if a := w.tell(raw, w.alice); a.Verdict != OldFence {
			t.Errorf("a withheld %s: %+v", name, a)
		}
	}
	if a := w.tell(asked, w.alice); a.Verdict != Held {
		t.Errorf("a question that is repeated: %+v", a)
	}
	taken := w.sign(w.result(newer), w.bob)
	events := w.events
	for range 3 {
		if a := w.tell(taken, w.bob); a.Verdict != Taken {
			t.Errorf("bob's result: %+v", a)
		}
	}
	if w.events != events+1 {
		t.Errorf("the result was taken %d times", w.events-events)
	}
	if a := w.tell(w.altered(taken, func(b map[string]any) { b["commit"] = base }), w.bob); a.Verdict != Unsigned {
		t.Errorf("a changed result: %+v", a)
	}
}
