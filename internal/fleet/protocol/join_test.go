package protocol

import (
	"strings"
	"testing"
	"time"
)

func (w *world) token() Token {
	return Token{
		Address: "home.example:4222", Cert: sha("cert"), Home: w.public(w.own), Fleet: "f1", Ticket: "t1", Secret: w.tickets["t1"].Secret,
	}
}

func TestToken(t *testing.T) {
	token := newWorld(t).token()
	text := token.String()
	got, err := ParseToken(" " + text + "\n")
	if err != nil || got.String() != text {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "cordon-join-", text[1:], text[:len(text)-7], text + "!", "cordon-join-e30"} {
		if _, err := ParseToken(bad); err == nil {
			t.Errorf("%q is a token", bad)
		}
	}
	token.Cert = ""
	if _, err := ParseToken(token.String()); err != nil {
		t.Errorf("a token for an engine without TLS: %v", err)
	}
	token.Home = "somebody"
	if _, err := ParseToken(token.String()); err == nil {
		t.Error("a token without a home is a token")
	}
}

// TestJoin: who has the token joins once, under a name that is free, and with its own key. A
// broker that sees the message cannot join with it.
func TestJoin(t *testing.T) {
	for name, one := range map[string]struct {
		want Verdict
		try  func(w *world) Answer
	}{
		"the control":     {Joined, func(w *world) Answer { return w.say(w.token().Join(w.header(""), w.public(w.evil), "carol"), w.evil) }},
		"another's proof": {NoTicket, func(w *world) Answer { return w.say(w.token().Join(w.header(""), w.public(w.bob), "carol"), w.evil) }},
		"another's name":  {BadName, func(w *world) Answer { return w.say(w.token().Join(w.header(""), w.public(w.evil), "alice"), w.evil) }},
		"a name that hides": {BadName, func(w *world) Answer {
			return w.say(w.token().Join(w.header(""), w.public(w.evil), "a\u202eb"), w.evil)
		}},
		"no secret": {NoTicket, func(w *world) Answer {
			token := w.token()
			token.Secret = []byte("sixteen bytes or more")
			return w.say(token.Join(w.header(""), w.public(w.evil), "carol"), w.evil)
		}},
		"the proof under another name": {NoTicket, func(w *world) Answer {
			m := w.token().Join(w.header(""), w.public(w.evil), "carol")
			m.Name = "dave"
			return w.say(m, w.evil)
		}},
		"no such ticket": {NoTicket, func(w *world) Answer {
			token := w.token()
			token.Ticket = "t2"
			return w.say(token.Join(w.header(""), w.public(w.evil), "carol"), w.evil)
		}},
		"a used ticket": {NoTicket, func(w *world) Answer {
			w.tickets["t1"].Used = true
			return w.say(w.token().Join(w.header(""), w.public(w.evil), "carol"), w.evil)
		}},
		"a ticket that has run out": {NoTicket, func(w *world) Answer {
			w.now = w.now.Add(time.Hour)
			return w.say(w.token().Join(w.header(""), w.public(w.evil), "carol"), w.evil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if a := one.try(w); a.Verdict != one.want {
				t.Errorf("the answer is %+v, not %s", a, one.want)
			}
			_, in := w.members[w.public(w.evil)]
			if in != (one.want == Joined) {
				t.Errorf("it has joined: %v", in)
			}
		})
	}
}

// A node whose answer was lost joins again, and nobody else does with the same token.
func TestJoinAgain(t *testing.T) {
	w := newWorld(t)
	m := w.token().Join(w.header(""), w.public(w.evil), "carol")
	raw := w.sign(m, w.evil)
	for range 2 {
		if a := w.tell(raw, w.evil); a.Verdict != Joined {
			t.Errorf("%+v", a)
		}
	}
	third := newKey(t)
	if a := w.say(w.token().Join(w.header(""), w.public(third), "dave"), third); a.Verdict != NoTicket {
		t.Errorf("a second node with the token: %+v", a)
	}
	if strings.Contains(string(raw), string(w.tickets["t1"].Secret)) {
		t.Error("the message holds the secret")
	}
}
