package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
)

// attack is an act of the probe that is refused in a cell, and at once. The same
// act outside of a cell is the control.
type attack struct {
	name    string
	act     act
	inside  string // what comes of it in a cell
	outside string // and without one; "": it cannot be shown here
	whom    string // the record: a name or an address; "": nothing is kept of it
	port    uint16
	reason  string
}

// soon is when a refusal has to be there, in milliseconds, also on a machine that has much else to do. cordon tries for
// longer to reach whom a cell may reach: what takes more than this was not refused, but let go out into the void.
const soon = 25_000

// What programs see of a refusal.
const (
	seesAlert   = `tls: access denied`
	sees403     = `403 Forbidden(?s:.*)cordon refused this`
	seesRefused = `connection refused`
	seesHello   = `hello from`
)

// besiege runs attacks in one cell, and outside of it.
func besiege(t *testing.T, n *testnet.Net, policy string, attacks []attack) visit {
	t.Helper()
	s := newSite(t)
	var acts []act
	for _, a := range attacks {
		acts = append(acts, a.act)
	}
	visits, questions := len(n.Web.Visits()), len(n.Names.Asked())
	v, inside := s.probeCell(policy, acts)
	strangers(t, n.Web.Visits()[visits:])
	tunnelled(t, n.Names.Asked()[questions:])
	outside := controls(s, attacks)
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			wants(t, "in the cell: "+strings.Join(a.act, " "), inside[i].String(), a.inside)
			if inside[i].Millis > soon && a.act[0] != "outlive" {
				t.Errorf("in the cell it took %d ms", inside[i].Millis)
			}
			if a.whom != "" {
				v.recordedIn(t, a.whom, a.port, record.Refused, a.reason)
			}
			if a.outside != "" {
				wants(t, "without a cell: "+strings.Join(a.act, " "), outside[i].String(), a.outside)
			}
		})
	}
	return v
}

// controls are the acts that can be shown outside of a cell, by the number of their
// attack.
func controls(s *site, attacks []attack) map[int]finding {
	s.t.Helper()
	var acts []act
	var numbers []int
	for i, a := range attacks {
		if a.outside != "" {
			acts, numbers = append(acts, a.act), append(numbers, i)
		}
	}
	found := map[int]finding{}
	for i, f := range s.asProbe(acts) {
		found[numbers[i]] = f
	}
	return found
}

// strangers wants that every visit from the cell was to a name that it may reach.
func strangers(t *testing.T, visits []testnet.Visit) {
	t.Helper()
	for _, v := range visits {
		for _, name := range []string{v.Host, v.SNI} {
			if strings.Contains(name, "refused") {
				t.Errorf("from the cell came %+v", v)
			}
		}
		at, err := netip.ParseAddrPort(v.At)
		if a := at.Addr().Unmap(); err != nil || !a.IsGlobalUnicast() || a.IsPrivate() || a.String() == testnet.Own || a.String() == testnet.Own6 {
			t.Errorf("from the cell came %+v", v)
		}
	}
}

// tunnelled wants that nobody was asked anything but for the addresses of names that
// the cell may reach, whatever was in its queries.
func tunnelled(t *testing.T, asked []testnet.Question) {
	t.Helper()
	for _, q := range asked {
		known := regexp.MustCompile(`^(allowed|also|control|raw|[a-z0-9-]*reb[a-z0-9-]*|[a-z0-9-]+\.inward)\.example\.com$`).MatchString(q.Name)
		if !known || q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeAAAA {
			t.Errorf("for the cell somebody was asked for %s of %s", q.Type, q.Name)
		}
	}
}

// servers are what the attacks are after, beside the web.
func servers(t *testing.T, n *testnet.Net) {
	t.Helper()
	say := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	for at, serve := range map[string]func(net.Conn){
		":8080":           say("hello from 8080"),
		":7000":           say("hello from 7000"),
		"127.0.0.1:7777":  say("hello from the host's own"),
		"[::1]:7777":      say("hello from the host's own"),
		"127.0.0.1:11434": modelServer,
	} {
		if err := n.Serve(at, serve); err != nil {
			t.Fatal(err)
		}
	}
	echo := func(b []byte) []byte { return append([]byte("echo "), b...) }
	for _, at := range []string{":443", ":9999"} {
		if err := n.ServeUDP(at, echo); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", fmt.Sprintf("@cordon-egress-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello from an abstract socket")
			c.Close()
		}
	}()
}

// modelServer is a model server of the operator's: it answers one request.
func modelServer(c net.Conn) {
	buf := make([]byte, 4096)
	if _, err := c.Read(buf); err == nil {
		const body = "hello from the model\n"
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
}

// reachable is the policy of the attacks.
func reachable() string {
	return policyText(allowing("allowed.example.com", "also.example.com", "control.example.com", "raw.example.com:7000"), "host_ports: [11434]")
}

func TestEgressAttacks(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		n.Names.Set("raw.example.com", "93.184.216.36")
		n.Names.Set("*.tunnel.example.net", "93.184.216.66")
		n.Names.Set("*.allowed.example.com", "93.184.216.66")
		var all []attack
		for _, list := range [][]attack{addressAttacks(), nameAttacks(), requestAttacks(), queryAttacks(), packetAttacks(), kernelAttacks()} {
			all = append(all, list...)
		}
		all = append(all, attack{"the positive ones", act{"https", "allowed.example.com:443", "allowed.example.com"}, seesHello, seesHello, "", 0, ""},
			attack{"a model on a host port", act{"http", "localhost:11434", "localhost:11434"}, "hello from the model", "hello from the model", "", 0, ""},
			attack{"a leased port", act{"tcp", "raw.example.com:7000", ""}, "hello from 7000", "hello from 7000", "", 0, ""},
			attack{"a server of its own", act{"listen", "127.0.0.1:0"}, "from myself", "from myself", "", 0, ""})
		besiege(t, n, reachable(), all)
	})
}

// recordedIn is recorded for a subtest.
func (v visit) recordedIn(t *testing.T, whom string, port uint16, verdict record.Verdict, reason string) {
	t.Helper()
	s := *v.site
	s.t = t
	v.site = &s
	v.recorded(whom, port, verdict, reason)
}

// tell is what the control server is asked to do while a worker runs.
func tell(name string, addrs ...string) act {
	return act{"get", "http://control.example.com/names?name=" + name + "&addrs=" + strings.Join(addrs, ",")}
}

// The record of everything is shown to people and to programs.
func TestEgressShown(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		acts := []act{
			{"https", "allowed.example.com:443", "allowed.example.com"},
			{"https", "refused.example.net:443", "refused.example.net"},
			{"http", "refused.example.net:80", "refused.example.net"},
		}
		for port := range 10 {
			acts = append(acts, act{"https", fmt.Sprintf("refused.example.net:%d", 9000+port), "refused.example.net"})
		}
		v, _ := s.probeCell(reachable(), acts)
		named := func() bool {
			return slices.ContainsFunc(v.records(), func(r record.Record) bool {
				return r.Verdict == record.Refused && r.Kind == record.Connect && r.Process != ""
			})
		}
		wants(t, "the summary", v.said, `refused.example.net`)
		text := s.cordon([]int{0}, "logs", "--net", v.id).out
		wants(t, "logs --net", text, `allowed.example.com:443`)
		wants(t, "logs --net", text, `refused.example.net:(443|80)`)
		s.await("the process of a refusal was found", func() bool {
			if named() {
				return true
			}
			v, _ = s.probeCell(reachable(), acts) // cordon spends little time on it
			return false
		}, func() string { b, _ := json.Marshal(v.records()); return string(b) })
		if n.Web.Visited("refused.example.net") != 0 {
			t.Error("it was reached")
		}
		s.sound()
	})
}
