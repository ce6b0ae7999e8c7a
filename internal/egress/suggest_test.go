package egress

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cordon/internal/egress/record"
	"cordon/internal/egress/target"
	"cordon/internal/policy"
	"cordon/internal/testwait"
)

// forged is a record of a file that somebody else wrote to.
func forged(v record.Verdict, allow string) record.Record {
	r := try("a.example for "+allow, 443, v, "a.example is not in network.allowed_domains")
	r.Allow = allow
	return r
}

func TestSuggest(t *testing.T) {
	resolved := func(name string) record.Record {
		return record.Record{Kind: record.Resolve, Name: name, Verdict: record.Refused, Allow: target.Target{Name: name}.Entry(), Reason: name + " is not in network.allowed_domains"}
	}
	for _, c := range []struct {
		name  string
		tried []record.Record
		want  []string
		ports []int
	}{
		{"nothing", nil, nil, nil},
		{"names", []record.Record{unlistedName("b.example", 443), unlistedName("a.example", 80), unlistedName("a.example", 443)}, []string{"a.example", "b.example"}, nil},
		{"another port", []record.Record{unlistedName("a.example", 22), unlistedName("a.example", 443)}, []string{"a.example", "a.example:22"}, nil},
		{"only resolved", []record.Record{resolved("a.example")}, []string{"a.example"}, nil},
		{"resolved and connected", []record.Record{resolved("a.example"), unlistedName("a.example", 22)}, []string{"a.example:22"}, nil},
		{"allowed and failed", []record.Record{try("a.example", 443, record.Allowed, ""), try("b.example", 443, record.Failed, "not in network.allowed_domains")}, nil, nil},
		{"words of the worker's", []record.Record{try("a.example", 443, record.Refused, `the request is for "b is not in network.allowed_domains`), try("a.example", 80, record.Refused, "the request is for a.example is not in network.allowed_domains"), try("localhost", 25, record.Refused, "the request is for port 25, not in network.host_ports")}, nil, nil},
		{"allowed, in a file", []record.Record{forged(record.Allowed, "a.example"), forged(record.Failed, ":5432")}, nil, nil},
		{"no entries, in a file", []record.Record{forged(record.Refused, "a.example]\n- evil.example"), forged(record.Refused, "single"), forged(record.Refused, "x.local"), forged(record.Refused, "a b.example"), forged(record.Refused, "\x1b[2J"),
			forged(record.Refused, "a.example\u202e"), forged(record.Refused, "*"), forged(record.Refused, "127.0.0.1"), forged(record.Refused, strings.Repeat("a.",
				500)+"example"), forged(record.Refused, "a.example:53"),
			forged(record.Refused, ":0"), forged(record.Refused, ":53"), forged(record.Refused, ":65536"), forged(record.Refused, ":+25"), forged(record.Refused, ":-25"), forged(record.Refused,
				": 25"), forged(record.Refused, "25"), forged(record.Refused, ":")}, nil, nil},
		{"names that are none", []record.Record{unlistedName("single", 443), unlistedName("x.local", 443), unlistedName("1.0.0.127.in-addr.arpa", 443), unlistedName("a b.example", 443), unlistedName("*.example.com", 443), unlistedName("A.example", 443), unlistedName("a.example]\n- evil.example", 443), unlistedName("metadata.google.internal", 80), unlistedName("a.example", 53), unlistedName("169.254.169.254", 80), unlistedName("@npm", 80), unlistedName("a.example:22", 80), unlistedName("x.onion", 443)}, nil, nil},
		{"addresses", []record.Record{unlistedAddress("8.8.8.8", 443), unlistedAddress("8.8.8.8", 22), unlistedAddress("2606:4700::1", 443), unlistedAddress("2606:4700::1", 22)}, []string{"2606:4700::1", "8.8.8.8", "8.8.8.8:22", "[2606:4700::1]:22"}, nil},
		{"private addresses", []record.Record{unlistedAddress("10.0.0.5", 443), unlistedAddress("10.0.0.5", 5432), unlistedAddress("fd00::5", 80), unlistedAddress("fd00::5", 5432)}, []string{"10.0.0.5", "10.0.0.5:5432", "[fd00::5]:5432", "fd00::5"}, nil},
		{"translated addresses", []record.Record{unlistedAddress("64:ff9b::8.8.8.8", 443), unlistedAddress("64:ff9b:1::8.8.8.8", 443), unlistedAddress("2002:808:808::1", 443)},
			[]string{"2002:808:808::1", "64:ff9b:1::808:808", "64:ff9b::808:808"}, nil},
		{"never", []record.Record{
			unlistedAddress("169.254.169.254", 80), unlistedAddress("169.254.170.2", 80), unlistedAddress("fe80::1", 80), unlistedAddress("fd00:ec2::254", 80),
			unlistedAddress("::ffff:169.254.169.254", 80), unlistedAddress("100.100.100.200", 80), unlistedAddress("168.63.129.16",
				80), unlistedAddress("192.0.0.192", 80),
			unlistedAddress("198.18.0.7", 80), unlistedAddress("198.19.0.7", 80), unlistedAddress("fd63:6f72:646f:6e::7", 80), unlistedAddress("224.0.0.1", 80),
			unlistedAddress("64:ff9b::169.254.169.254", 80), unlistedAddress("64:ff9b::127.0.0.1", 80), unlistedAddress("64:ff9b::198.18.0.7",
				80), unlistedAddress("64:ff9b::100.100.100.200", 80),
			unlistedAddress("64:ff9b:1::169.254.169.254", 80), unlistedAddress("64:ff9b:1:a9fe:a9:fe00::", 80), unlistedAddress("64:ff9b:1:a9:fe:a9fe::",
				80), unlistedAddress("64:ff9b:1:0:a9:fea9:fe00::", 80),
			unlistedAddress("2002:a9fe:a9fe::1", 80), unlistedAddress("2002:7f00:1::1", 80), unlistedAddress("::169.254.169.254",
				80), unlistedAddress("::127.0.0.1", 80), unlistedAddress("0.1.2.3", 80),
			unlistedAddress("255.255.255.255", 80), unlistedAddress("0.0.0.0", 80), unlistedAddress("127.0.0.1", 80), unlistedAddress("::1",
				80), unlistedAddress("fe80::1%eth0", 80),
		}, nil, nil},
		{"host ports", []record.Record{unlistedPort(5432), unlistedPort(53)}, nil, []int{5432}},
	} {
		got := tallyOf(c.tried...)
		if entries := got.Suggest(); !slices.Equal(entries, c.want) || !slices.Equal(got.SuggestPorts(), c.ports) {
			t.Errorf("%s: %q and %d, want %q and %d", c.name, entries, got.SuggestPorts(), c.want, c.ports)
		}
		checkLines(t, got)
		checkAllows(t, c.name, got)
	}
}

// checkAllows holds suggestions to what they are for: with them, what was refused
// for want of them is allowed.
func checkAllows(t *testing.T, name string, tally record.Tally) {
	t.Helper()
	cell := newCell(t, policy.Network{AllowedDomains: tally.Suggest(), HostPorts: tally.SuggestPorts()}, "")
	for _, one := range tally.Tried {
		if one.Verdict != record.Refused || one.Port == 0 || !target.IsWritable(one.Allow) {
			continue
		}
		if strings.Contains(one.Reason, "which is not public") {
			continue // the name is allowed already
		}
		p := caller{network: cell.Network}
		if _, err := p.aim(one.Name, one.Port); err != nil {
			t.Errorf("%s: %s:%d with %q: %v", name, one.Name, one.Port, tally.Suggest(), err)
		}
	}
}

// A policy takes so many ports. What is suggested is one, and has what was tried most.
func TestSuggestNoMoreThanAPolicyTakes(t *testing.T) {
	var tried []record.Record
	for i := range uint16(500) {
		tried = append(tried, unlistedPort(1000+i), unlistedName("a.example", 2000+i))
	}
	tried = append(tried, unlistedPort(7777), unlistedPort(7777), unlistedName("b.example", 8888), unlistedName("b.example", 8888),
		unlistedName("z.example", 443), unlistedName("y.example", 2000))
	tally := tallyOf(tried...)
	n := policy.Network{AllowedDomains: tally.Suggest(), HostPorts: tally.SuggestPorts()}
	reach, err := n.Reach()
	if err != nil {
		t.Fatal(err)
	}
	if len(n.HostPorts) != 64 || len(reach.Ports()) != 64 || !reach.HostPort(7777) || !reach.AllowsName("b.example", 8888) ||
		!reach.AllowsName("z.example", 443) || !reach.AllowsName("y.example", 2000) {
		t.Errorf("%d and %d: %+v", len(n.HostPorts), len(reach.Ports()), n)
	}
	checkLines(t, tally)
}

// An address that an allowed name led to is not what was asked for by that name, and
// never one that hands out keys.
func TestSuggestWhereANameLed(t *testing.T) {
	led := func(name, to, allow string) record.Record {
		r := try(name, 443, record.Refused, name+" resolves to "+to+", which is not public")
		r.Allow = allow
		return r
	}
	tally := tallyOf(led("good.example", "10.0.0.5", "10.0.0.5"), led("bad.example", "169.254.169.254", "169.254.169.254"), unlistedName("new.example", 443))
	checkLines(t, tally)
	text := strings.Join(tally.Lines(), "\n")
	for _, want := range []string{
		"refused: good.example:443 1 ×: resolves to 10.0.0.5, which is not public",
		"to allow in a new run: network.allowed_domains: [new.example]",
		"if this name should lead into your own network: network.allowed_domains: [10.0.0.5]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// What a refusal suggests is said where it is decided.
func TestSuggestFromRefusals(t *testing.T) {
	cell, at := proxyOf(t, policy.Network{AllowedDomains: []string{"good.example", "moved.example", "*.below.example"}}, "", "")
	cell.world.addrs = map[string][]netip.Addr{"moved.example": {netip.MustParseAddr("10.0.0.6")}}
	for _, to := range []string{"new.example:443", "good.example:22", "8.8.8.8:443", "8.8.8.8:22", "10.0.0.5:5432", "[2606:4700::1]:22",
		"localhost:5432", "169.254.169.254:80", "single:443", "metadata.google.internal:80", "x.onion:443", "moved.example:443"} {
		if got := tellProxy(t, at, "CONNECT "+to+" HTTP/1.1\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 403") {
			t.Errorf("%s: %q", to, got)
		}
	}
	for _, name := range []string{"asked.example", "below.example", "*.wild.example", "x.local", "y.onion", "one", "169.254.169.253"} {
		cell.dns.Answer(t.Context(), question(name))
	}
	cell.limits.Bytes = 1
	cell.spent.Store(2)
	if got := tellProxy(t, at, "CONNECT late.example:443 HTTP/1.1\r\n\r\n"); !strings.Contains(got, "used up") {
		t.Errorf("%q", got)
	}
	cell.Close()
	got := tallyOf(cell.kept...)
	want := []string{"10.0.0.5:5432", "10.0.0.6", "8.8.8.8", "8.8.8.8:22", "[2606:4700::1]:22", "asked.example", "below.example", "good.example:22", "new.example"}
	if !slices.Equal(got.Suggest(), want) || !slices.Equal(got.SuggestPorts(), []int{5432}) {
		t.Errorf("%q and %d from\n%s", got.Suggest(), got.SuggestPorts(), cell.refusals())
	}
	checkLines(t, got)
	checkAllows(t, "all", got)
}

// question is a query for the IPv4 addresses of a name.
func question(name string) []byte {
	q := []byte{0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(name, ".") {
		q = append(append(q, byte(len(label))), label...)
	}
	return append(q, 0, 0, 1, 0, 1)
}

// What meets a limit is known as that where it is decided, and nothing that a worker
// calls itself is taken for it.
func TestLimitsAreKnown(t *testing.T) {
	cell, at := proxyOf(t, policy.Network{AllowedDomains: []string{"good.example"}, Limits: policy.NetworkLimits{Connections: 1, Queries: 1, Bytes: 1}}, "", "")
	held, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	testwait.Until(t, "one connection more is refused", func() bool {
		if c, err := net.Dial("tcp", at); err == nil { // it may be reset at once
			t.Cleanup(func() { c.Close() })
		}
		return cell.refusals() != ""
	})
	for i := range 9 {
		cell.dns.Answer(t.Context(), question(fmt.Sprintf("n%d", i)))
	}
	cell.spent.Store(2)
	_, spent := cell.judgeTarget(target.Target{Name: "good.example", Port: 443})
	reasons := []string{spent.Error()}
	if cut := cell.usedUp().Error(); cut != spent.Error() {
		t.Errorf("a connection that is cut says %q, one that is refused %q", cut, spent)
	}
	for reason := range strings.SplitSeq(cell.refusals(), "\n") {
		if !strings.HasPrefix(reason, "it has no dot") {
			reasons = append(reasons, reason)
		}
	}
	for _, want := range []string{"network.limits.connections", "network.limits.queries", "the bytes of this launch are used up (network.limits.bytes: "} {
		if !strings.Contains(strings.Join(reasons, "\n"), want) {
			t.Errorf("no %s in %q", want, reasons)
		}
	}
	for _, reason := range reasons {
		if !record.IsLimit(reason) {
			t.Errorf("%q is not known", reason)
		}
	}
	for _, reason := range []string{"", "it has no dot", `the request is for "more than 8 connections at once", which is not a host name`,
		`"more than 8" is not ASCII`, "more.than.example is not in network.allowed_domains"} {
		if record.IsLimit(reason) {
			t.Errorf("%q is taken for a limit", reason)
		}
	}
}

func tallyOf(records ...record.Record) record.Tally {
	k := record.NewKeeper(nil)
	for _, r := range records {
		k.Record(r)
	}
	return k.Tally()
}

// checkLines is what holds of any lines, and of what they suggest.
func checkLines(t *testing.T, tally record.Tally) {
	t.Helper()
	lines := tally.Lines()
	if len(lines) > 12 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 100 || strings.ContainsFunc(l, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q", l)
		}
	}
	entries := tally.Suggest()
	if !slices.IsSorted(entries) || len(slices.Compact(slices.Clone(entries))) != len(entries) {
		t.Errorf("not sorted: %q", entries)
	}
	text := "\n" + strings.Join(lines, "\n")
	for key, before := range map[string]string{"allowed_domains": "\nto allow in a new run: network.allowed_domains: ",
		"host_ports": "\nif your own localhost was meant: network.host_ports: "} {
		if _, list, ok := strings.Cut(text, before); ok {
			list, _, _ = strings.Cut(list, "\nif this name")
			list, _, _ = strings.Cut(list, "\nif your own")
			list, _, _ = strings.Cut(list, "\n(an address")
			list = list[:strings.LastIndexByte(list, ']')+1]
			var read []any
			if err := yaml.Unmarshal([]byte(list), &read); err != nil || len(read) == 0 {
				t.Errorf("not YAML: %q: %v", list, err)
			}
			for _, e := range read {
				if s := fmt.Sprint(e); key == "allowed_domains" && !slices.Contains(entries, s) {
					t.Errorf("%q is none of %q", s, entries)
				}
			}
		}
	}
}

func unlistedName(name string, port uint16) record.Record {
	r := try(name, port, record.Refused, name+" is not in network.allowed_domains")
	r.Allow = target.Target{Name: name, Port: port}.Entry()
	return r
}

func unlistedAddress(a string, port uint16) record.Record {
	t := target.Target{Addr: netip.MustParseAddr(a), Port: port}
	return record.Record{Kind: record.Connect, Address: a, Port: port, Verdict: record.Refused, Allow: t.Entry(), Reason: t.String() +
		" is an address that no name was resolved to, and not in network.allowed_domains"}
}

func unlistedPort(port uint16) record.Record {
	r := try("localhost", port, record.Refused, fmt.Sprintf("port %d of this machine is not in network.host_ports", port))
	r.Allow = target.Target{Host: true, Port: port}.Entry()
	return r
}

func try(name string, port uint16, v record.Verdict, reason string) record.Record {
	return record.Record{Time: time.Unix(1e9, 0).UTC(), Kind: record.Connect, Name: name, Port: port, Verdict: v, Reason: reason}
}
