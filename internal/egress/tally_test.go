package egress

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cordon/internal/policy"
)

func tallyOf(records ...Record) Tally {
	k := NewKeeper(nil)
	for _, r := range records {
		k.Record(r)
	}
	return k.Tally()
}

// checkLines is what holds of any lines, and of what they suggest.
func checkLines(t *testing.T, tally Tally) {
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
			list, _, _ = strings.Cut(list, "\nif a name")
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

func unlistedName(name string, port uint16) Record {
	r := try(name, port, Refused, name+" is not in network.allowed_domains")
	r.Allow = target{name: name, port: port}.entry()
	return r
}

func unlistedAddress(a string, port uint16) Record {
	t := target{addr: netip.MustParseAddr(a), port: port}
	return Record{Kind: Connect, Address: a, Port: port, Verdict: Refused, Allow: t.entry(), Reason: t.String() +
		" is an address that no name was resolved to, and not in network.allowed_domains"}
}

func unlistedPort(port uint16) Record {
	r := try("localhost", port, Refused, fmt.Sprintf("port %d of this machine is not in network.host_ports", port))
	r.Allow = target{host: true, port: port}.entry()
	return r
}

// forged is a record of a file that somebody else wrote to.
func forged(v Verdict, allow string) Record {
	r := try("a.example for "+allow, 443, v, "a.example is not in network.allowed_domains")
	r.Allow = allow
	return r
}

func TestSuggest(t *testing.T) {
	resolved := func(name string) Record {
		return Record{Kind: Resolve, Name: name, Verdict: Refused, Allow: target{name: name}.entry(), Reason: name + " is not in network.allowed_domains"}
	}
	for _, c := range []struct {
		name  string
		tried []Record
		want  []string
		ports []int
	}{
		{"nothing", nil, nil, nil},
		{"names", []Record{unlistedName("b.example", 443), unlistedName("a.example", 80), unlistedName("a.example", 443)}, []string{"a.example", "b.example"}, nil},
		{"another port", []Record{unlistedName("a.example", 22), unlistedName("a.example", 443)}, []string{"a.example", "a.example:22"}, nil},
		{"only resolved", []Record{resolved("a.example")}, []string{"a.example"}, nil},
		{"resolved and connected", []Record{resolved("a.example"), unlistedName("a.example", 22)}, []string{"a.example:22"}, nil},
		{"allowed and failed", []Record{try("a.example", 443, Allowed, ""), try("b.example", 443, Failed, "not in network.allowed_domains")}, nil, nil},
		{"words of the worker's", []Record{try("a.example", 443, Refused, `the request is for "b is not in network.allowed_domains`), try("a.example", 80, Refused, "the request is for a.example is not in network.allowed_domains"), try("localhost", 25, Refused, "the request is for port 25, not in network.host_ports")}, nil, nil},
		{"allowed, in a file", []Record{forged(Allowed, "a.example"), forged(Failed, ":5432")}, nil, nil},
		{"no entries, in a file", []Record{forged(Refused, "a.example]\n- evil.example"), forged(Refused, "single"), forged(Refused, "x.local"), forged(Refused, "a b.example"), forged(Refused, "\x1b[2J"),
			forged(Refused, "a.example\u202e"), forged(Refused, "*"), forged(Refused, "127.0.0.1"), forged(Refused, strings.Repeat("a.",
				500)+"example"), forged(Refused, "a.example:53"),
			forged(Refused, ":0"), forged(Refused, ":53"), forged(Refused, ":65536"), forged(Refused, ":+25"), forged(Refused, ":-25"), forged(Refused,
				": 25"), forged(Refused, "25"), forged(Refused, ":")}, nil, nil},
		{"names that are none", []Record{unlistedName("single", 443), unlistedName("x.local", 443), unlistedName("1.0.0.127.in-addr.arpa", 443), unlistedName("a b.example", 443), unlistedName("*.example.com", 443), unlistedName("A.example", 443), unlistedName("a.example]\n- evil.example", 443), unlistedName("metadata.google.internal", 80), unlistedName("a.example", 53), unlistedName("169.254.169.254", 80), unlistedName("@npm", 80), unlistedName("a.example:22", 80), unlistedName("x.onion", 443)}, nil, nil},
		{"addresses", []Record{unlistedAddress("8.8.8.8", 443), unlistedAddress("8.8.8.8", 22), unlistedAddress("2606:4700::1", 443), unlistedAddress("2606:4700::1", 22)}, []string{"2606:4700::1", "8.8.8.8", "8.8.8.8:22", "[2606:4700::1]:22"}, nil},
		{"private addresses", []Record{unlistedAddress("10.0.0.5", 443), unlistedAddress("10.0.0.5", 5432), unlistedAddress("fd00::5", 80), unlistedAddress("fd00::5", 5432)}, []string{"10.0.0.5", "10.0.0.5:5432", "[fd00::5]:5432", "fd00::5"}, nil},
		{"translated addresses", []Record{unlistedAddress("64:ff9b::8.8.8.8", 443), unlistedAddress("64:ff9b:1::8.8.8.8", 443), unlistedAddress("2002:808:808::1", 443)},
			[]string{"2002:808:808::1", "64:ff9b:1::808:808", "64:ff9b::808:808"}, nil},
		{"never", []Record{
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
		{"host ports", []Record{unlistedPort(5432), unlistedPort(53)}, nil, []int{5432}},
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
func checkAllows(t *testing.T, name string, tally Tally) {
	t.Helper()
	cell := newCell(t, policy.Network{AllowedDomains: tally.Suggest(), HostPorts: tally.SuggestPorts()}, "")
	for _, one := range tally.Tried {
		if one.Verdict != Refused || one.Port == 0 || !writable(one.Allow) {
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

func TestLines(t *testing.T) {
	good := try("good.example", 443, Allowed, "")
	good.ID, good.Count = 1, 12
	for _, c := range []struct {
		name  string
		tried []Record
		want  []string
	}{
		{"nothing", nil, nil},
		{"the usual", []Record{
			good, {Kind: End, ID: 1, Verdict: Allowed, Sent: 1_234_567, Received: 30_000_000},
			try("slow.example", 443, Failed, "connection timed out"),
			{Kind: Resolve, Name: "telemetry.example", Verdict: Refused, Reason: "telemetry.example is not in network.allowed_domains"},
			unlistedName("telemetry.example", 443), unlistedName("telemetry.example", 443),
			{Kind: Resolve, Verdict: Refused, Reason: "more than 100 queries for names in a second"}, unlistedAddress("8.8.8.8", 443),
			unlistedPort(5432),
		}, []string{
			"allowed: 12 connections, 1.2 MiB sent, 29 MiB received",
			"failed: slow.example:443 1 ×: connection timed out",
			"refused: telemetry.example:443 2 ×: not in network.allowed_domains",
			"refused: 8.8.8.8:443 1 ×: an address, not in network.allowed_domains",
			"refused: localhost:5432 1 ×: nothing in the cell answered; not in network.host_ports",
			"refused: names 1 ×: more than 100 queries for names in a second",
			"to allow in a new run: network.allowed_domains: [8.8.8.8, telemetry.example]",
			"if your own localhost was meant: network.host_ports: [5432]",
			"(an address is whoever answers there: where programs can use a name, allow that instead)",
		}},
		{"limits last", []Record{
			{Kind: Resolve, Verdict: Refused, Count: 900, Reason: "more than 100 queries for names in a second (network.limits.queries)"},
			limited("good.example", 80, 800), limited("good.example", 81, 700), limited("good.example", 82, 600),
			unlistedName("exfil.example", 443), try("good.example", 80, Refused, "the request names no Host"),
		}, []string{
			"refused: exfil.example:443 1 ×: not in network.allowed_domains",
			"refused: good.example:80 1 ×: the request names no Host",
			"refused: names 900 ×: more than 100 queries for names in a second (network.limits.queries)",
			"refused: good.example:80 800 ×: more than 1024 connections at once (network.limits.connections)",
			"refused: others 1300 ×",
			"to allow in a new run: network.allowed_domains: [exfil.example]",
		}},
		{"many names", []Record{
			unlistedName("a.example", 443), unlistedName("b.example", 443), unlistedName("c.example", 443), unlistedName("d.example", 443),
			unlistedName("d.example", 80), unlistedName("e.example", 443), unlistedName("f.example", 443), unlistedName("f.example", 80),
			try("good.example", 443, Failed, "x"), try("good.example", 444, Failed, "x"), try("good.example", 445, Allowed, ""),
		}, []string{
			"allowed: 1 connection, 0 B sent, 0 B received",
			"failed: good.example:443 1 ×: x",
			"failed: others 1 ×",
			"refused: a.example:443 1 ×: not in network.allowed_domains",
			"refused: b.example:443 1 ×: not in network.allowed_domains",
			"refused: c.example:443 1 ×: not in network.allowed_domains",
			"refused: d.example:80 1 ×: not in network.allowed_domains",
			"refused: others 4 ×: 2 other destinations",
			"to allow in a new run: network.allowed_domains: [a.example, b.example, c.example,",
			"          d.example, e.example, f.example]",
		}},
		{"of a preset", []Record{unlistedName("pypi.org", 443), unlistedName("files.pythonhosted.org", 443)}, []string{
			"refused: files.pythonhosted.org:443 1 ×: not in network.allowed_domains",
			"refused: pypi.org:443 1 ×: not in network.allowed_domains",
			"to allow in a new run: network.allowed_domains: [files.pythonhosted.org, pypi.org] (part of @pypi)",
		}},
		{"of presets", []Record{unlistedName("pypi.org", 443), unlistedName("registry.npmjs.org", 443)}, []string{
			"refused: pypi.org:443 1 ×: not in network.allowed_domains",
			"refused: registry.npmjs.org:443 1 ×: not in network.allowed_domains",
			"to allow in a new run: network.allowed_domains: [pypi.org, registry.npmjs.org] (part of @pypi, @npm)",
		}},
		{"of a preset that has no room", []Record{unlistedName("generativelanguage.googleapis.com", 443)}, []string{
			"refused: generativelanguage.googleapis.com:443 1 ×: not in network.allowed_domains",
			"to allow in a new run: network.allowed_domains: [generativelanguage.googleapis.com]",
		}},
		{"partly of a preset", []Record{unlistedName("pypi.org", 443), unlistedName("a.b", 443)}, []string{
			"refused: a.b:443 1 ×: not in network.allowed_domains",
			"refused: pypi.org:443 1 ×: not in network.allowed_domains",
			"to allow in a new run: network.allowed_domains: [a.b, pypi.org] (some are part of @pypi)",
		}},
		{"of a preset by another port", []Record{unlistedName("pypi.org", 8443)}, []string{
			"refused: pypi.org:8443 1 ×: not in network.allowed_domains",
			"to allow in a new run: network.allowed_domains: [pypi.org:8443]",
		}},
		{"looked up", []Record{looked("x.wild.example"), looked("y.wild.example"), looked("y.wild.example")}, []string{"allowed: no connection; 2 names looked up"}},
		{"looked up and connected to", []Record{looked("x.wild.example"), looked("y.wild.example"), try("x.wild.example", 443, Allowed, "")}, []string{"allowed: 1 connection, 0 B sent, 0 B received; 1 other name looked up"}},
		{"one connection", []Record{{Kind: Connect, ID: 2, Name: "a.example", Port: 443, Verdict: Allowed}}, []string{"allowed: 1 connection, 0 B sent, 0 B received"}},
	} {
		got := tallyOf(c.tried...).Lines()
		for i := range c.want {
			c.want[i] = shorten(c.want[i], lineColumns)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func limited(name string, port uint16, n int) Record {
	r := try(name, port, Refused, "more than 1024 connections at once (network.limits.connections)")
	r.Count = n
	return r
}

func looked(name string) Record { return Record{Kind: Resolve, Name: name, Verdict: Allowed} }

// However much was tried, it fits on a screen, and what is left out is counted.
func TestLinesOfMuch(t *testing.T) {
	var tried []Record
	for i := range 3000 {
		tried = append(tried, unlistedName(fmt.Sprintf("host%d.example", i), 443), unlistedAddress(fmt.Sprintf("10.1.%d.%d", i/250, i%250), uint16(i+1)),
			try(fmt.Sprintf("%s%d.example", strings.Repeat("x", 50), i), 443, Failed, strings.Repeat("y", 300)),
			unlistedPort(uint16(i+60)))
	}
	tally := tallyOf(tried...)
	checkLines(t, tally)
	text := strings.Join(tally.Lines(), "\n")
	for _, want := range []string{"failed: others 2999 ×\n", "refused: others 8996 ×: more than 1363 other destinations\n", " more\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	top := tally.Top(10)
	if len(top.Tried) != 10 || top.More != 4*3000-10 || len(tally.Tried) != 2*maxTried {
		t.Error(len(top.Tried), top.More, len(tally.Tried))
	}
}

// The first of a tally say what was refused, however much was allowed, failed, or
// met a limit.
func TestTop(t *testing.T) {
	var tried []Record
	for i := range 100 {
		tried = append(tried, looked(fmt.Sprintf("n%d.wild.example", i)), try(fmt.Sprintf("m%d.wild.example", i), 443, Allowed, ""),
			try(fmt.Sprintf("m%d.wild.example", i), 443, Allowed, ""),
			limited(fmt.Sprintf("m%d.wild.example", i), 443, 5), try(fmt.Sprintf("m%d.wild.example", i), 80, Failed, "no"))
	}
	for i := range 30 {
		tried = append(tried, unlistedName(fmt.Sprintf("refused%d.example", i), 443))
	}
	all := tallyOf(tried...)
	top := all.Top(20).Top(20)
	refused := 0
	for _, one := range top.Tried {
		if one.Verdict == Refused && one.particular() {
			refused++
		}
	}
	if refused != 10 || len(top.Tried) != 20 || top.Left != 20 || top.Crowded || all.Left != 0 || all.More != 0 || top.Resolved != 100 || top.Allowed != 200 {
		t.Errorf("%d refused in %+v", refused, top)
	}
	if top = all.Top(20).Top(6); len(top.Tried) != 6 || top.Left != 27 || top.More != top.Allowed+top.Refused+top.Failed-3-3*2 {
		t.Errorf("%+v", top)
	}
	if text := strings.Join(all.Top(20).Lines(), "\n"); !strings.Contains(text, "refused: refused0.example:443 1 ×") || !strings.Contains(text,
		"refused: others 526 ×: 26 other destinations\n") {
		t.Error(text)
	}
}

// A policy takes so many ports. What is suggested is one, and has what was tried most.
func TestSuggestNoMoreThanAPolicyTakes(t *testing.T) {
	var tried []Record
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
	led := func(name, to, allow string) Record {
		r := try(name, 443, Refused, name+" resolves to "+to+", which is not public")
		r.Allow = allow
		return r
	}
	tally := tallyOf(led("good.example", "10.0.0.5", "10.0.0.5"), led("bad.example", "169.254.169.254", "169.254.169.254"), unlistedName("new.example", 443))
	checkLines(t, tally)
	text := strings.Join(tally.Lines(), "\n")
	for _, want := range []string{
		"refused: good.example:443 1 ×: resolves to 10.0.0.5, which is not public",
		"to allow in a new run: network.allowed_domains: [new.example]",
		"if a name is to lead into your own network: network.allowed_domains: [10.0.0.5]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1_249_000: "1.2 MiB", 30_000_000: "29 MiB", 10_480_000: "10 MiB",
		1_048_000: "1023 KiB", 1_048_570: "1.0 MiB", math.MaxInt64: "8.0 EiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
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
		cell.dns.answer(t.Context(), question(name))
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

// What YAML reads of an entry is the entry, in a list of either form.
func TestQuoted(t *testing.T) {
	for entry, quoted := range map[string]bool{
		"a.example": false, "a.example:22": false, "10.1.0.0/16:5432": false, "2606:4700::1": false, "1.example": false,
		"*.a.example": true, "@npm": true, "[2606:4700::1]:22": true, ":5432": true, "::5/128": true, "2606:4700::": true, "": true, "_a.example": true, "a,b": true, "a #b": true, "a\"b": true,
	} {
		got := Quoted(entry)
		var list []string
		err := yaml.Unmarshal([]byte("["+got+", "+got+"]"), &list)
		var more []string
		other := yaml.Unmarshal([]byte("- "+got+"\n"), &more)
		if err != nil || other != nil || !slices.Equal(append(list, more...), []string{entry, entry, entry}) || (got != entry) != quoted {
			t.Errorf("%q is %s: %q %v, %q %v", entry, got, list, err, more, other)
		}
	}
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
	for deadline := time.Now().Add(5 * time.Second); cell.refusals() == "" && time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", at); err == nil { // it may be reset at once
			defer c.Close()
		}
		time.Sleep(time.Millisecond)
	}
	for i := range 9 {
		cell.dns.answer(t.Context(), question(fmt.Sprintf("n%d", i)))
	}
	cell.spent.Store(2)
	_, spent := cell.judgeTarget(target{name: "good.example", port: 443})
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
		if !isLimit(reason) {
			t.Errorf("%q is not known", reason)
		}
	}
	for _, reason := range []string{"", "it has no dot", `the request is for "more than 8 connections at once", which is no host name`,
		`"more than 8" is not ASCII`, "more.than.example is not in network.allowed_domains"} {
		if isLimit(reason) {
			t.Errorf("%q is taken for a limit", reason)
		}
	}
}
