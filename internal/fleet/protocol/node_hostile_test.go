package protocol

import (
	"strings"
	"testing"
	"time"
)

// TestStage is the control of everything below: a stage from its offer to its result.
func TestStage(t *testing.T) {
	w := newWorld(t)
	fence := w.grant(w.alice)
	if fence != 8 {
		t.Errorf("the fence is %d, not the number of the event", fence)
	}
	if a := w.say(w.beat(fence, 1), w.alice); a.Verdict != Go {
		t.Errorf("a beat: %+v", a)
	}
	for _, m := range []any{
		Want{Header: w.header(WantKind), Lease: "calm-otter", Fence: fence, Have: []string{base}},
		Fetch{Header: w.header(FetchKind), Lease: "calm-otter", Fence: fence, Pack: pack, Offset: 3}, w.put(fence),
	} {
		if a := w.say(m, w.alice); a.Verdict != Go {
			t.Errorf("%+v: %+v", m, a)
		}
	}
	returned := w.sign(w.result(fence), w.alice)
	if a := w.tell(returned, w.alice); a.Verdict != Taken || w.events != 9 {
		t.Errorf("a result: %+v, %d events", a, w.events)
	}
	if a := w.tell(returned, w.alice); a.Verdict != Taken || w.events != 9 {
		t.Errorf("the same result, because the answer was lost: %+v, %d events", a, w.events)
	}
	if !w.stages["calm-otter"].Over {
		t.Error("the stage is not over")
	}
}

// A grant whose answer was lost is the same grant, and that of a node that says nothing any
// more goes to another, with a new fence.
func TestGrants(t *testing.T) {
	w := newWorld(t)
	first := w.grant(w.alice)
	if again := w.grant(w.alice); again != first || w.events != 8 {
		t.Errorf("asked twice: %d and %d, %d events", first, again, w.events)
	}
	if a := w.say(w.ask(), w.bob); a.Verdict != Held || a.Fence != 0 {
		t.Errorf("another node: %+v", a)
	}
	w.now = w.now.Add(59 * time.Second)
	if a := w.say(w.beat(first, 1), w.alice); a.Verdict != Go {
		t.Errorf("a beat: %+v", a)
	}
	w.now = w.now.Add(59 * time.Second)
	if a := w.say(w.ask(), w.bob); a.Verdict != Held {
		t.Errorf("another node, after a beat: %+v", a)
	}
	w.now = w.now.Add(2 * time.Second)
	second := w.grant(w.bob)
	if second <= first {
		t.Errorf("the fences are %d and %d", first, second)
	}
	if a := w.say(w.result(first), w.alice); a.Verdict != OldFence {
		t.Errorf("the result of the first node: %+v", a)
	}
	if a := w.say(w.result(second), w.bob); a.Verdict != Taken {
		t.Errorf("the result of the second node: %+v", a)
	}
}

// An answer of the operator's changes the terms of a stage. Whoever has the stage returns it under the terms that it was
// granted, and whoever gets it next has the new ones.
func TestOtherTermsAfterGrant(t *testing.T) {
	for name, one := range map[string]struct {
		want Verdict
		try  func(w *world, fence uint64) Answer
	}{
		"the holder's result": {Taken, func(w *world, f uint64) Answer { return w.say(w.result(f), w.alice) }},
		"a result under the new terms": {OtherTerms, func(w *world, f uint64) Answer {
			r := w.result(f)
			r.Hash = sha("with an answer")
			return w.say(r, w.alice)
		}},
		"the holder asks again": {Granted, func(w *world, _ uint64) Answer { return w.say(w.ask(), w.alice) }},
		"another asks with the old terms": {OtherTerms, func(w *world, _ uint64) Answer {
			w.now = w.now.Add(time.Hour)
			return w.say(w.ask(), w.bob)
		}},
		"another asks with the new terms": {Granted, func(w *world, _ uint64) Answer {
			w.now = w.now.Add(time.Hour)
			a := w.ask()
			a.Hash = sha("with an answer")
			return w.say(a, w.bob)
		}},
	} {
		w := newWorld(t)
		fence := w.grant(w.alice)
		w.stages["calm-otter"].Hash = sha("with an answer")
		if a := one.try(w, fence); a.Verdict != one.want {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestHostileNode plays a node that has a key, and one that has none. Alice has the stage.
// After each attempt nothing has changed, and alice's own result is taken: the control.
func TestHostileNode(t *testing.T) {
	for name, one := range map[string]struct {
		want Verdict
		try  func(w *world, fence uint64) Answer
	}{
		"a foreign result":          {OldFence, func(w *world, f uint64) Answer { return w.say(w.result(f), w.bob) }},
		"a foreign beat":            {OldFence, func(w *world, f uint64) Answer { return w.say(w.beat(f, 1), w.bob) }},
		"a guessed fence":           {OldFence, func(w *world, f uint64) Answer { return w.say(w.result(f+1), w.alice) }},
		"no fence":                  {OldFence, func(w *world, _ uint64) Answer { return w.say(w.result(0), w.bob) }},
		"another's stage":           {Held, func(w *world, _ uint64) Answer { return w.say(w.ask(), w.bob) }},
		"in another's name":         {OtherSender, func(w *world, f uint64) Answer { return w.tell(w.sign(w.result(f), w.bob), w.alice) }},
		"signed in another's name":  {Unsigned, func(w *world, f uint64) Answer { return w.tell(w.forge(w.result(f)), w.alice) }},
		"another's message, resent": {OtherSender, func(w *world, f uint64) Answer { return w.tell(w.sign(w.result(f), w.alice), w.bob) }},
		"a stranger":                {Unknown, func(w *world, f uint64) Answer { return w.say(w.result(f), w.evil) }},
		"a stranger's question":     {Unknown, func(w *world, _ uint64) Answer { return w.say(w.ask(), w.evil) }},
		"of another fleet":          {OtherFleet, func(w *world, f uint64) Answer { r := w.result(f); r.Fleet = "f2"; return w.say(r, w.alice) }},
		"of an older version":       {Outdated, func(w *world, f uint64) Answer { r := w.result(f); r.Version--; return w.say(r, w.alice) }},
		"of a newer version":        {Newer, func(w *world, f uint64) Answer { r := w.result(f); r.Version++; return w.say(r, w.alice) }},
		"another base":              {OtherBase, func(w *world, f uint64) Answer { r := w.result(f); r.Base = commit; return w.say(r, w.alice) }},
		"other terms":               {OtherTerms, func(w *world, f uint64) Answer { r := w.result(f); r.Hash = sha("wider"); return w.say(r, w.alice) }},
		"asks for other terms":      {OtherTerms, func(w *world, _ uint64) Answer { a := w.ask(); a.Hash = sha("wider"); return w.say(a, w.bob) }},
		"no such stage":             {NoStage, func(w *world, f uint64) Answer { r := w.result(f); r.Lease = "bold-yak"; return w.say(r, w.alice) }},
		"an endless pack":           {TooBig, func(w *world, f uint64) Answer { r := w.result(f); r.Pack.Size = 1<<20 + 1; return w.say(r, w.alice) }},
		"a negative pack":           {TooBig, func(w *world, f uint64) Answer { r := w.result(f); r.Pack.Size = -1; return w.say(r, w.alice) }},
		"a pack without a sum":      {Malformed, func(w *world, f uint64) Answer { r := w.result(f); r.Pack.Sum = "../x"; return w.say(r, w.alice) }},
		"a commit that is an option": {Malformed, func(w *world, f uint64) Answer {
			r := w.result(f)
			r.Commit = "--upload-pack=x"
			return w.say(r, w.alice)
		}},
		"a commit without a pack": {Malformed, func(w *world, f uint64) Answer { r := w.result(f); r.Pack = Pack{}; return w.say(r, w.alice) }},
		"an offer":                {Malformed, func(w *world, _ uint64) Answer { return w.say(Offer{Header: w.header(OfferKind)}, w.alice) }},
		"a kind that is none":     {Malformed, func(w *world, _ uint64) Answer { return w.say(Ask{Header: w.header("land")}, w.alice) }},
		"more than a message": {Malformed, func(w *world, f uint64) Answer {
			return w.tell(append(w.sign(w.result(f), w.alice), " {}"...), w.alice)
		}},
		"an unknown field": {Malformed, func(w *world, f uint64) Answer {
			return w.say(struct {
				Result
				Ref string `json:"ref"`
			}{w.result(f), "refs/heads/main"}, w.alice)
		}},
		"wants another's base": {OldFence, func(w *world, f uint64) Answer {
			return w.say(Want{Header: w.header(WantKind), Lease: "calm-otter", Fence: f}, w.bob)
		}},
		"has what is no commit": {Malformed, func(w *world, f uint64) Answer {
			return w.say(Want{Header: w.header(WantKind), Lease: "calm-otter", Fence: f, Have: []string{"--all"}}, w.alice)
		}},
		"fetches for another": {OldFence, func(w *world, f uint64) Answer {
			return w.say(Fetch{Header: w.header(FetchKind), Lease: "calm-otter", Fence: f, Pack: pack}, w.bob)
		}},
		"fetches a file": {Malformed, func(w *world, f uint64) Answer {
			return w.say(Fetch{Header: w.header(FetchKind), Lease: "calm-otter", Fence: f, Pack: Pack{Sum: "../key", Size: 4}}, w.alice)
		}},
		"fetches beyond the end": {Malformed, func(w *world, f uint64) Answer {
			return w.say(Fetch{Header: w.header(FetchKind), Lease: "calm-otter", Fence: f, Pack: pack, Offset: 4}, w.alice)
		}},
		"puts for another":        {OldFence, func(w *world, f uint64) Answer { return w.say(w.put(f), w.bob) }},
		"puts without end":        {TooBig, func(w *world, f uint64) Answer { p := w.put(f); p.Pack.Size = 1 << 40; return w.say(p, w.alice) }},
		"puts more than it named": {Malformed, func(w *world, f uint64) Answer { p := w.put(f); p.Piece = []byte("packs"); return w.say(p, w.alice) }},
		"puts nothing":            {Malformed, func(w *world, f uint64) Answer { p := w.put(f); p.Piece = nil; return w.say(p, w.alice) }},
		"reports for another":     {OldFence, func(w *world, f uint64) Answer { return w.say(w.report(f), w.bob) }},
		"reports an old stage":    {OldFence, func(w *world, f uint64) Answer { return w.say(w.report(f-1), w.alice) }},
		"listens for another":     {OldFence, func(w *world, f uint64) Answer { return w.say(w.listen(f, 0), w.bob) }},
		"listens to an old stage": {OldFence, func(w *world, f uint64) Answer { return w.say(w.listen(f-1, 0), w.alice) }},
		"reports from before the beginning": {Malformed, func(w *world, f uint64) Answer {
			r := w.report(f)
			r.Offset = -1
			return w.say(r, w.alice)
		}},
		"reports too much": {Malformed, func(w *world, f uint64) Answer {
			r := w.report(f)
			r.Piece = make([]byte, maxPiece+1)
			return w.say(r, w.alice)
		}},
		"asks without end": {Malformed, func(w *world, f uint64) Answer {
			r := w.report(f)
			r.Questions = make([]Question, maxQuestions+1)
			return w.say(r, w.alice)
		}},
		"asks a book": {Malformed, func(w *world, f uint64) Answer {
			r := w.report(f)
			r.Questions[0].Options = []string{strings.Repeat("x", maxQuestion+1)}
			return w.say(r, w.alice)
		}},
		"nothing": {Malformed, func(w *world, _ uint64) Answer { return w.tell(nil, w.alice) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fence := w.grant(w.alice)
			before, events := *w.stages["calm-otter"], w.events
			if a := one.try(w, fence); a.Verdict != one.want || a.Say == "" || a.Fence != 0 {
				t.Errorf("the answer is %+v, not %s", a, one.want)
			}
			if *w.stages["calm-otter"] != before || w.events != events {
				t.Error("something has changed")
			}
			if a := w.say(w.result(fence), w.alice); a.Verdict != Taken {
				t.Errorf("the control: %+v", a)
			}
		})
	}
}

// A second result of the same holder is not the first.
func TestSecondResult(t *testing.T) {
	w := newWorld(t)
	fence := w.grant(w.alice)
	if a := w.say(w.result(fence), w.alice); a.Verdict != Taken {
		t.Fatalf("the first: %+v", a)
	}
	other := w.result(fence)
	other.Commit = strings.Repeat("3", 40)
	if a := w.say(other, w.alice); a.Verdict != Over {
		t.Errorf("the second: %+v", a)
	}
	if a := w.say(w.ask(), w.bob); a.Verdict != Over {
		t.Errorf("a node that asks late: %+v", a)
	}
}

func TestOperatorsWord(t *testing.T) {
	w := newWorld(t)
	w.members[w.public(w.bob)].Draining = true
	if a := w.say(w.ask(), w.bob); a.Verdict != Draining {
		t.Errorf("a draining node: %+v", a)
	}
	w.stages["calm-otter"].On = "bob"
	if a := w.say(w.ask(), w.alice); a.Verdict != NotForYou {
		t.Errorf("a node that was not chosen: %+v", a)
	}
	w.stages["calm-otter"].On = "alice"
	fence := w.grant(w.alice)
	w.members[w.public(w.alice)].Draining = true
	if a := w.say(w.beat(fence, 1), w.alice); a.Verdict != Go {
		t.Errorf("a draining node that works: %+v", a)
	}
	w.stages["calm-otter"].Withdrawn = true
	if a := w.say(w.beat(fence, 2), w.alice); a.Verdict != Withdrawn {
		t.Errorf("a beat for a stage that was withdrawn: %+v", a)
	}
	if a := w.say(w.result(fence), w.alice); a.Verdict != Withdrawn {
		t.Errorf("a result for a stage that was withdrawn: %+v", a)
	}
	w.members[w.public(w.alice)].Removed = true
	if a := w.say(w.beat(fence, 3), w.alice); a.Verdict != Removed {
		t.Errorf("a node that was removed: %+v", a)
	}
}

// Every verdict has words for a person.
func TestSayings(t *testing.T) {
	verdicts := []Verdict{Granted, Go, Taken, Joined, Malformed, Unsigned, Outdated, Newer, OtherFleet, OtherSender, Unknown, Removed, Draining,
		NoStage, OtherTerms, NotForYou, OwnWork, OtherTree, NoVerdict, Unfit, AtLimit, Held, Withdrawn, Over, OldFence, Replayed, OtherBase, TooBig, NoPack, NoRoom, NoTicket, BadName}
	for _, v := range verdicts {
		if v.Say() == "" {
			t.Errorf("%s has no words", v)
		}
	}
	if len(sayings) != len(verdicts) {
		t.Errorf("%d verdicts have words, and %d are listed here", len(sayings), len(verdicts))
	}
}
