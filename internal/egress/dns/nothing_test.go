package dns

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// ask packs a question.
func ask(t *testing.T, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: 7, RecursionDesired: true})
	if err := b.StartQuestions(); err != nil {
		t.Fatal(err)
	}
	if err := b.Question(dnsmessage.Question{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}); err != nil {
		t.Fatal(err)
	}
	msg, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

// Every name is answered at once, and none exists but localhost.
func TestNothing(t *testing.T) {
	var n Nothing
	for _, c := range []struct {
		name    string
		kind    dnsmessage.Type
		code    dnsmessage.RCode
		answers int
	}{
		{"github.com.", dnsmessage.TypeA, dnsmessage.RCodeNameError, 0},
		{"github.com.", dnsmessage.TypeAAAA, dnsmessage.RCodeNameError, 0},
		{"_http._tcp.deb.debian.org.", dnsmessage.TypeSRV, dnsmessage.RCodeNameError, 0},
		{"1.0.0.127.in-addr.arpa.", dnsmessage.TypePTR, dnsmessage.RCodeNameError, 0},
		{"localhost.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, 1},
		{"a.localhost.", dnsmessage.TypeAAAA, dnsmessage.RCodeSuccess, 1},
		{"localhost.", dnsmessage.TypeMX, dnsmessage.RCodeSuccess, 0},
		{".", dnsmessage.TypeNS, dnsmessage.RCodeSuccess, 0},
	} {
		var m dnsmessage.Message
		if err := m.Unpack(n.answer(ask(t, c.name, c.kind))); err != nil {
			t.Fatal(err)
		}
		if m.RCode != c.code || len(m.Answers) != c.answers || m.ID != 7 || !m.Response || len(m.Questions) != 1 {
			t.Errorf("%s %s: %+v", c.name, c.kind, m)
		}
	}
	if got := n.Asked(); len(got) != 1 || got[0] != "github.com" {
		t.Errorf("asked for %q", got)
	}
	if n.answer([]byte("short")) != nil {
		t.Error("what is no query has an answer")
	}
}
