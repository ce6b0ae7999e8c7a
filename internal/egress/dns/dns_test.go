package dns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"cordon/internal/egress/rate"
)

// naming is a dns for tests, and what it told of.
type naming struct {
	*Server
	out *zone

	mu   sync.Mutex
	told []string
}

// refusals are the names that it told of, without the reasons.
func (n *naming) refusals() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for _, s := range n.told {
		name, _, _ := strings.Cut(s, ": ")
		list = append(list, name)
	}
	return list
}

// newNaming knows good.example and what is below wild.example. Names with missing in
// them do not exist, those with broken fail.
func newNaming(t testing.TB) *naming {
	out := &zone{find: func(_ context.Context, name string) ([]netip.Addr, error) {
		switch {
		case strings.Contains(name, "missing"):
			return nil, noSuchHost(name)
		case strings.Contains(name, "broken"):
			return nil, errors.New("server misbehaving")
		}
		return parseAll([]string{publicAddr}), nil
	}}
	n := &naming{out: out}
	reach := reachOf(t, "good.example", "*.wild.example", "missing.example", "broken.example", "good.example:22")
	n.Server = NewServer(reach, NewBook(), NewResolver(reach, out), rate.New(1e6, 1e6), func(name, why string) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.told = append(n.told, name+": "+why)
	})
	return n
}

// summary is an answer in one line.
func summary(m dnsmessage.Message) string {
	s := map[dnsmessage.RCode]string{0: "ok", 1: "format", 2: "failure", 3: "missing", 4: "unknown", 5: "refused"}[m.RCode]
	for _, r := range m.Answers {
		switch b := r.Body.(type) {
		case *dnsmessage.AResource:
			s += " " + netip.AddrFrom4(b.A).String()
		case *dnsmessage.AAAAResource:
			s += " " + netip.AddrFrom16(b.AAAA).String()
		case *dnsmessage.PTRResource:
			s += " " + b.PTR.String()
		}
		s += fmt.Sprintf(" %ds", r.Header.TTL)
	}
	return s
}

const (
	typeA, typeAAAA, typePTR = dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypePTR
	typeHTTPS, typeSVCB      = dnsmessage.Type(65), dnsmessage.Type(64)
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		typ    dnsmessage.Type
		name   string
		want   string
		tells  string // the name that is told of
		lookup bool
	}{
		{typeA, "good.example", "ok 198.18.0.2 30s", "", true},
		{typeAAAA, "good.example", "ok fd63:6f72:646f:6e::2 30s", "", true},
		{typeA, "GOOD.Example", "ok 198.18.0.2 30s", "", true},
		{typeA, "a.b.wild.example", "ok 198.18.0.2 30s", "", true},
		{typeA, "_a.wild.example", "ok 198.18.0.2 30s", "", true},
		{typeA, "missing.example", "missing", "", true},
		{typeAAAA, "missing.wild.example", "missing", "", true},
		{typeA, "broken.example", "failure", "", true},
		{dnsmessage.TypeTXT, "good.example", "ok", "", false},
		{dnsmessage.TypeMX, "a.wild.example", "ok", "", false},
		{dnsmessage.TypeALL, "good.example", "ok 198.18.0.2 30s", "", true},
		{dnsmessage.TypeCNAME, "good.example", "ok", "", false},
		{typeHTTPS, "good.example", "ok", "", false},
		{typeSVCB, "good.example", "ok", "", false},

		{typeA, "other.example", "ok 198.18.0.2 5s", "other.example", false},
		{typeAAAA, "Other.Example", "ok fd63:6f72:646f:6e::2 5s", "other.example", false},
		{typeA, "wild.example", "ok 198.18.0.2 5s", "wild.example", false},
		{typeA, "good.example.evil.example", "ok 198.18.0.2 5s", "good.example.evil.example", false},
		{typeA, "xgood.example", "ok 198.18.0.2 5s", "xgood.example", false},
		{typeA, "sub.good.example", "ok 198.18.0.2 5s", "sub.good.example", false},
		{dnsmessage.TypeTXT, "payload.evil.example", "ok", "payload.evil.example", false},
		{dnsmessage.TypeALL, "evil.example", "ok 198.18.0.2 5s", "evil.example", false},
		{typeHTTPS, "evil.example", "ok", "evil.example", false},
		{typeHTTPS, "_8443._https.evil.example", "ok", "_8443._https.evil.example", false},

		{dnsmessage.TypeSRV, "_http._tcp.good.example", "missing", "", false},
		{typeHTTPS, "_8443._https.good.example", "missing", "", false},
		{typeA, "use-application-dns.net", "missing", "", false},
		{typeA, "host", "missing", "host", false},
		{typeA, "example", "missing", "example", false},
		{typeA, "printer.local", "missing", "printer.local", false},
		{dnsmessage.TypeSOA, "local", "missing", "", false},
		{typePTR, "_services._dns-sd._udp.local", "missing", "", false},
		{typeA, "a.onion", "missing", "a.onion", false},
		{typeA, "a.invalid", "missing", "a.invalid", false},
		{typeA, "10.0.0.1", "missing", "10.0.0.1", false},
		{typeA, "0x7f000001", "missing", "0x7f000001", false},
		{typeA, "127.0x1", "missing", "127.0x1", false},
		{typeA, "-a.example", "missing", "-a.example", false},
		{typeA, "bücher.example", "missing", `b\u00fccher.example`, false},
		{typeA, "ｇood.example", "missing", `\uff47ood.example`, false},
		{typeA, "good.exam\x00ple", "missing", `good.exam\x00ple`, false},
		{typeA, "good\x00.example", "missing", `good\x00.example`, false},
		{typeA, "\xff\xfe.example", "missing", `\xff\xfe.example`, false},
		{typeA, "a b.example", "missing", "a b.example", false},
		{typeA, "xn--a.example", "missing", "xn--a.example", false},

		{typeA, "localhost", "ok 127.0.0.1 30s", "", false},
		{typeAAAA, "LOCALHOST", "ok ::1 30s", "", false},
		{typeA, "app.localhost", "ok 127.0.0.1 30s", "", false},
		{dnsmessage.TypeTXT, "localhost", "ok", "", false},
		{typePTR, "1.0.0.127.in-addr.arpa", "ok localhost. 30s", "", false},
		{typePTR, "4.3.2.1.in-addr.arpa", "missing", "", false},
		{typePTR, "2.0.18.198.in-addr.arpa", "missing", "", false},
		{typeA, "ipv4only.arpa", "missing", "", false},
		{typeSVCB, "_dns.resolver.arpa", "missing", "", false},
	} {
		t.Run(fmt.Sprintf("%d/%s", c.typ, c.name), func(t *testing.T) {
			n := newNaming(t)
			packet := asks(c.typ, c.name)
			msg := n.Answer(t.Context(), packet)
			if got := summary(parsed(t, msg)); got != c.want {
				t.Errorf("answered %q, want %q", got, c.want)
			}
			if !bytes.HasPrefix(msg[12:], packet[12:]) {
				t.Errorf("the question came back as %q", msg[12:])
			}
			if got := strings.Join(n.refusals(), " "); got != c.tells {
				t.Errorf("told of %q", n.told)
			}
			if asked := n.out.asked.Load() > 0; asked != c.lookup {
				t.Errorf("asked for outside: %v", asked)
			}
		})
	}
}

func TestRoot(t *testing.T) {
	n := newNaming(t)
	for _, class := range []dnsmessage.Class{dnsmessage.ClassCHAOS, dnsmessage.ClassANY, 0, 9} {
		if got := summary(parsed(t, n.Answer(t.Context(), asksLabels(dnsmessage.TypeTXT, class, "good", "example")))); got != "refused" {
			t.Errorf("class %d: %s", class, got)
		}
	}
	if got := summary(parsed(t, n.Answer(t.Context(), asksLabels(dnsmessage.TypeNS, dnsmessage.ClassINET)))); got != "ok" {
		t.Errorf("the root: %s", got)
	}
	if len(n.told) != 0 {
		t.Errorf("told of %q", n.told)
	}
}

// Addresses have the names that they were given for, the refused as well.
func TestNamesOfAddresses(t *testing.T) {
	n := newNaming(t)
	for _, name := range []string{"good.example", "other.example"} {
		n.Answer(t.Context(), asks(typeA, name))
	}
	for reverse, want := range map[string]string{
		"2.0.18.198.IN-ADDR.arpa": "ok good.example. 30s",
		"3.0.18.198.in-addr.arpa": "ok other.example. 30s",
		"4.0.18.198.in-addr.arpa": "missing",
		"3.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.e.6.0.0.f.6.4.6.2.7.f.6.3.6.d.f.ip6.arpa": "ok other.example. 30s",
	} {
		if got := summary(parsed(t, n.Answer(t.Context(), asks(typePTR, reverse)))); got != want {
			t.Errorf("%s: %s", reverse, got)
		}
	}
	if got := summary(parsed(t, n.Answer(t.Context(), asks(typeA, "2.0.18.198.in-addr.arpa")))); got != "ok" {
		t.Errorf("another type: %s", got)
	}
}

// Who speaks EDNS is told why, and who does not gets none.
func TestExplanation(t *testing.T) {
	n := newNaming(t)
	for _, c := range []struct {
		packet []byte
		want   string
	}{
		{withEDNS(asks(typeA, "wild.example"), 0), "\x00\x0fwild.example is not in network.allowed_domains (only names below it are)"},
		{withEDNS(asks(typeHTTPS, "evil.example"), 0), "\x00\x0fevil.example is not in network.allowed_domains"},
		{withEDNS(asks(typeA, "host"), 0), "\x00\x0fit has no dot: only whole names are resolved"},
		{withEDNS(asks(typeA, "good.example"), 0), ""},
		{asks(typeA, "evil.example"), "none"},
	} {
		m := parsed(t, n.Answer(t.Context(), c.packet))
		got := "none"
		for _, r := range m.Additionals {
			got = ""
			for _, o := range r.Body.(*dnsmessage.OPTResource).Options {
				got = string(o.Data)
			}
			if r.Header.Class != payload || !m.RecursionAvailable || m.Authoritative {
				t.Errorf("%+v %+v", m.Header, r.Header)
			}
		}
		if got != c.want {
			t.Errorf("explained by %q, want %q", got, c.want)
		}
	}
	m := parsed(t, n.Answer(t.Context(), withEDNS(asks(typeA, "good.example"), 7)))
	if len(m.Additionals) != 1 || m.Additionals[0].Header.ExtendedRCode(m.RCode) != badVersion || len(m.Answers) != 0 {
		t.Errorf("a version that there is not: %+v", m)
	}
}

// Names beyond the room of the book do not exist, whatever type is asked for, and
// those of the lease are not affected.
func TestRefusedNamesAreBounded(t *testing.T) {
	n := newNaming(t)
	for i := range 2 * refusedRoom {
		name := fmt.Sprintf("%d.evil.example", i)
		first := summary(parsed(t, n.Answer(t.Context(), asks(typeA, name))))
		text := summary(parsed(t, n.Answer(t.Context(), asks(dnsmessage.TypeTXT, name))))
		if given := i < refusedRoom; given != strings.HasPrefix(first, "ok 198.18.") || given != (text == "ok") || !given && first != "missing" {
			t.Fatalf("%s: %s, %s", name, first, text)
		}
	}
	if got := summary(parsed(t, n.Answer(t.Context(), asks(typeA, "good.example")))); !strings.HasPrefix(got, "ok 198.18.") {
		t.Errorf("good.example: %s", got)
	}
	if len(n.book.names) != refusedRoom+1 || n.out.asked.Load() != 1 {
		t.Errorf("%d names, %d asked for", len(n.book.names), n.out.asked.Load())
	}
}

// Names are counted, and one that is asked for again and again is counted once.
func TestQueryLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNaming(t)
		n.limit = rate.New(100, 200)
		ask := func(name string) string { return summary(parsed(t, n.Answer(t.Context(), asks(typeA, name)))) }
		for range 1000 {
			if got := ask("good.example"); !strings.HasPrefix(got, "ok 198.18.") {
				t.Fatalf("the same name often: %s", got)
			}
		}
		refused := 0
		for i := range 1000 {
			if ask(fmt.Sprintf("n%d.bad.example", i)) == "refused" {
				refused++
			}
		}
		if refused != 801 {
			t.Errorf("%d of 1000 names are refused", refused)
		}
		if want := ": more than 100 queries for names in a second (network.limits.queries)"; n.told[len(n.told)-1] != want {
			t.Errorf("told %q", n.told[len(n.told)-1])
		}
		time.Sleep(2 * time.Second)
		if got := ask("another.bad.example"); got == "refused" {
			t.Error("still refused after a rest")
		}
	})
}

// FuzzAnswer: an answer is whole, of this query, and leads nowhere but to the book
// and to the cell itself; nothing is asked for outside that the lease does not name.
func FuzzAnswer(f *testing.F) {
	for _, name := range []string{"good.example", "evil.example", "a.wild.example", "localhost", "2.0.18.198.in-addr.arpa", "x", ""} {
		for _, typ := range []dnsmessage.Type{typeA, typeAAAA, typePTR, typeHTTPS} {
			f.Add(asks(typ, name))
			f.Add(withEDNS(asks(typ, name), 0))
		}
	}
	f.Add(wireQuery(0, [4]uint16{1}, []byte{4, 'g', 'o', 'o', 'd', 0xc0, 3}, be(1, 1)))
	f.Fuzz(func(t *testing.T, packet []byte) {
		n := newNaming(t)
		find := n.out.find
		n.out.find = func(ctx context.Context, name string) ([]netip.Addr, error) {
			if !n.reach.KnowsName(name) {
				t.Errorf("%q was asked for", name)
			}
			return find(ctx, name)
		}
		msg := n.Answer(t.Context(), packet)
		if len(msg) == 0 {
			if len(packet) >= headerSize && packet[2]&0x80 == 0 {
				t.Fatalf("no answer to %x", packet)
			}
			return
		}
		m := parsed(t, msg)
		if len(msg) > answerSize || !bytes.Equal(msg[:2], packet[:2]) || !m.Response {
			t.Fatalf("%x is answered %x", packet, msg)
		}
		if len(m.Questions) == 1 {
			size := len(queryName(strings.Split(strings.TrimSuffix(m.Questions[0].Name.String(), "."), ".")...)) + 4
			if m.Questions[0].Name.String() == "." {
				size = 5
			}
			if !bytes.Equal(msg[12:12+size], packet[12:12+size]) {
				t.Fatalf("the question of %x came back as %x", packet, msg)
			}
		}
		for _, r := range m.Answers {
			checkFuzzed(t, n, m, r)
		}
	})
}

func checkFuzzed(t *testing.T, n *naming, m dnsmessage.Message, r dnsmessage.Resource) {
	t.Helper()
	if len(m.Questions) != 1 || r.Header.Name != m.Questions[0].Name || r.Header.Type != m.Questions[0].Type &&
		m.Questions[0].Type != dnsmessage.TypeALL || m.RCode != 0 {
		t.Fatalf("answered %+v", m)
	}
	var a netip.Addr
	switch b := r.Body.(type) {
	case *dnsmessage.AResource:
		a = netip.AddrFrom4(b.A)
	case *dnsmessage.AAAAResource:
		a = netip.AddrFrom16(b.AAAA)
	default:
		return
	}
	asked := lower(strings.TrimSuffix(r.Header.Name.String(), "."))
	local := asked == "localhost" || strings.HasSuffix(asked, ".localhost")
	if name, ok := n.book.Name(a); !local && (!ok || name != asked) || local && !a.IsLoopback() {
		t.Fatalf("%q is at %s, which means %q", asked, a, name)
	}
}
