package record

import (
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cordon/internal/egress/target"
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
	r.Allow = target.Target{Name: name, Port: port}.Entry()
	return r
}

func unlistedAddress(a string, port uint16) Record {
	t := target.Target{Addr: netip.MustParseAddr(a), Port: port}
	return Record{Kind: Connect, Address: a, Port: port, Verdict: Refused, Allow: t.Entry(), Reason: t.String() +
		" is an address that no name was resolved to, and not in network.allowed_domains"}
}

func unlistedPort(port uint16) Record {
	r := try("localhost", port, Refused, fmt.Sprintf("port %d of this machine is not in network.host_ports", port))
	r.Allow = target.Target{Host: true, Port: port}.Entry()
	return r
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

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1_249_000: "1.2 MiB", 30_000_000: "29 MiB", 10_480_000: "10 MiB",
		1_048_000: "1023 KiB", 1_048_570: "1.0 MiB", math.MaxInt64: "8.0 EiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
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
