package policy

import (
	"net/netip"
	"strings"
	"testing"
)

// goodDomains are entries with their normal form.
var goodDomains = []struct{ entry, want string }{
	{"api.example.com", "api.example.com"},
	{"API.Example.COM", "api.example.com"},
	{"a.b", "a.b"},
	{"a.b.", "a.b"},
	{"a.b.:80", "a.b:80"},
	{"a.b:1", "a.b:1"},
	{"a.b:443", "a.b:443"},
	{"a.b:65535", "a.b:65535"},
	{"github.com:22", "github.com:22"},
	{"*.a.b", "*.a.b"},
	{"*.A.b:8443", "*.a.b:8443"},
	{"_dmarc.example.com", "_dmarc.example.com"},
	{"r3---sn-abc.example.com", "r3---sn-abc.example.com"},
	{"1.example", "1.example"},
	{"a.1b", "a.1b"},
	{"bücher.example", "xn--bcher-kva.example"},
	{"BÜCHER.example", "xn--bcher-kva.example"},
	{"*.bücher.example:8443", "*.xn--bcher-kva.example:8443"},
	{"xn--bcher-kva.example", "xn--bcher-kva.example"},
	{"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
	{"faß.example", "xn--fa-hia.example"},
	{"_srv.bücher.example", "_srv.xn--bcher-kva.example"},
	{strings.Repeat("a", 63) + ".example", strings.Repeat("a", 63) + ".example"},
	{longName(253), longName(253)},
	{"203.0.113.7", "203.0.113.7"},
	{"203.0.113.7/32", "203.0.113.7"},
	{"203.0.113.7:5432", "203.0.113.7:5432"},
	{"10.1.0.0/16", "10.1.0.0/16"},
	{"10.1.0.0/16:5432", "10.1.0.0/16:5432"},
	{"0.0.0.0/0", "0.0.0.0/0"},
	{"::/0", "::/0"},
	{"169.254.169.254", "169.254.169.254"},
	{"2001:db8::1", "2001:db8::1"},
	{"2001:db8::53", "2001:db8::53"},
	{"2001:DB8:0::1", "2001:db8::1"},
	{"[2001:db8::1]", "2001:db8::1"},
	{"[2001:db8::1]:443", "[2001:db8::1]:443"},
	{"2001:db8::/32", "2001:db8::/32"},
	{"2001:db8::1/128", "2001:db8::1"},
	{"[2001:db8::/32]:8443", "[2001:db8::/32]:8443"},
	{"fd00::/8", "fd00::/8"},
	{"@anthropic", "@anthropic"},
	{"@debian", "@debian"},
}

// longName is a name of n characters.
func longName(n int) string {
	s := strings.Repeat("abcdefgh.", n/9+1)
	return s[:n-7] + "example"
}

// badDomains are entries with what is wrong. The schema sees it too, unless left
// says why it cannot.
var badDomains = []struct{ entry, want, left string }{
	{"", `"" is not a host name (it is empty)`, ""},
	{".", `"." is not a host name (it is empty)`, ""},
	{"https://a.b", `"https://a.b" is a URL, not a host (write the host alone, such as api.example.com)`, ""},
	{"example.com/x", `"example.com/x" is neither a host nor a prefix (write the host alone, such as api.example.com, or 10.1.0.0/16)`, ""},
	{"*", `"*" is every host there is (write the hosts, or *.example.com for those below one)`, ""},
	{"*.com", `"*.com" is too wide (write at least two parts after the *, such as *.example.com)`, ""},
	{"*.", `"" is not a host name (it is empty)`, ""},
	{"a*.example.com", `"a*.example.com" has a * that is not its whole first part (write *.example.com)`, ""},
	{"a.*.example.com", `"a.*.example.com" has a * that is not its whole first part (write *.example.com)`, ""},
	{"*.*.example.com", `"*.*.example.com" has a * that is not its whole first part (write *.example.com)`, ""},
	{"localhost", `"localhost" is this machine (use network.host_ports)`, ""},
	{"localhost:5432", `"localhost:5432" is this machine (use network.host_ports)`, ""},
	{"db.localhost", `"db.localhost" is this machine (use network.host_ports)`, ""},
	{"*.localhost", `"*.localhost" is this machine (use network.host_ports)`, ""},
	{"printer.local", `"printer.local" is not a name that cordon resolves (write its address)`, ""},
	{"1.0.0.10.in-addr.arpa", `"1.0.0.10.in-addr.arpa" is not a name that cordon resolves (write its address)`, ""},
	{"db", `"db" has only one part (write the whole name, such as api.example.com)`, ""},
	{"com.", `"com." has only one part (write the whole name, such as api.example.com)`, ""},
	{"a..b", `"a..b" is not a host name (it has an empty part)`, ""},
	{"a.b..", `"a.b.." is not a host name (it has an empty part)`, ""},
	{".a.b", `".a.b" is not a host name (it has an empty part)`, ""},
	{"-a.b", `"-a.b" is not a host name (a part begins or ends with a hyphen)`, ""},
	{"a.b-", `"a.b-" is not a host name (a part begins or ends with a hyphen)`, ""},
	{"a b.example", `"a b.example" is not a host name (use letters, digits, - and _)`, ""},
	{"a@b.example", `"a@b.example" is not a host name (use letters, digits, - and _)`, ""},
	{" a.b", `" a.b" is not a host name (use letters, digits, - and _)`, ""},
	{"xn--a.example", `"xn--a.example" is not a host name (its letters have no form that is agreed on)`, "punycode is not a regular language"},
	{"xn--abc-.example", `"xn--abc-.example" is not a host name (its letters have no form that is agreed on)`, ""},
	{"a\u200db.example", `"a\u200db.example" is not a host name (its letters have no form that is agreed on)`, "the letters are a table of their own"},
	{"a\u2100.example", `"a℀.example" is not a host name (use letters, digits, - and _)`, "the letters are a table of their own"},
	{strings.Repeat("a", 64) + ".b", `"` + strings.Repeat("a", 64) + `.b" is not a host name (it has a part of more than 63 characters)`, ""},
	{longName(254), `"` + longName(254)[:80] + `"… is not a host name (it is longer than 253 characters)`, "left to the parser"},
	{longName(1025), `a host name of 1025 bytes is too long`, "left to the parser"},
	{"a.b:", `"a.b:" does not end in a port (write host:1 to host:65535)`, ""},
	{"a.b:0", `"a.b:0" does not end in a port (write host:1 to host:65535)`, ""},
	{"a.b:080", `"a.b:080" does not end in a port (write host:1 to host:65535)`, ""},
	{"a.b:+80", `"a.b:+80" does not end in a port (write host:1 to host:65535)`, ""},
	{"a.b:https", `"a.b:https" does not end in a port (write host:1 to host:65535)`, ""},
	{"a.b:65536", `"a.b:65536" does not end in a port (write host:1 to host:65535)`, "left to the parser"},
	{"a.b:53", `port 53 is never passed on: names are resolved by cordon itself (leave it out)`, ""},
	{"[2001:db8::1]:53", `port 53 is never passed on: names are resolved by cordon itself (leave it out)`, ""},
	{"a.b:80:90", `"a.b:80:90" is not an address ` + addressHint, ""},
	{"@", `"@" is not a preset ` + presetHint, ""},
	{"@rubygems", `"@rubygems" is not a preset ` + presetHint, ""},
	{"@NPM", `"@NPM" is not a preset (did you mean @npm?)`, ""},
	{"@nmp", `"@nmp" is not a preset (did you mean @npm?)`, ""},
	{"@pipy", `"@pipy" is not a preset (did you mean @pypi?)`, ""},
	{"@npm:80", `"@npm:80" is not a preset ` + presetHint, ""},
	{"10.0.0.256", `"10.0.0.256" is not an address ` + addressHint, ""},
	{"010.0.0.1", `"010.0.0.1" is not an address ` + addressHint, ""},
	{"10.1", `"10.1" is not an address ` + addressHint, ""},
	{"127.1", `"127.1" is not an address ` + addressHint, ""},
	{"0x7f.0x1", `"0x7f.0x1" is not an address ` + addressHint, ""},
	{"2130706433", `"2130706433" is not an address ` + addressHint, ""},
	{"a.b.5:80", `"a.b.5:80" is not an address ` + addressHint, ""},
	{"10.0.0.0/33", `"10.0.0.0/33" is not a prefix (one has at most 32 bits)`, ""},
	{"10.0.0.0/99:80", `"10.0.0.0/99:80" is not a prefix (one has at most 32 bits)`, ""},
	{"2001:db8::/129", `"2001:db8::/129" is not a prefix (one has at most 128 bits)`, ""},
	{"10.0.0.0/08", `"10.0.0.0/08" is not an address ` + addressHint, ""},
	{"10.0.0.0/255.0.0.0", `"10.0.0.0/255.0.0.0" is not an address ` + addressHint, ""},
	{"10.1.2.0/16", `"10.1.2.0/16" has more bits than its prefix (write 10.1.0.0/16, or 10.1.2.0 for the one address)`, "left to the parser"},
	{"2001:db8::1/32", `"2001:db8::1/32" has more bits than its prefix (write 2001:db8::/32, or 2001:db8::1 for the one address)`, "left to the parser"},
	{"127.0.0.1", `"127.0.0.1" is this machine's loopback (use network.host_ports)`, ""},
	{"127.0.0.1:5432", `"127.0.0.1:5432" is this machine's loopback (use network.host_ports)`, ""},
	{"127.1.0.0/16", `"127.1.0.0/16" is this machine's loopback (use network.host_ports)`, ""},
	{"::1", `"::1" is this machine's loopback (use network.host_ports)`, ""},
	{"[::1]:80", `"[::1]:80" is this machine's loopback (use network.host_ports)`, ""},
	{"::1/128", `"::1/128" is this machine's loopback (use network.host_ports)`, ""},
	{"0.0.0.0", `"0.0.0.0" is not the address of a host`, ""},
	{"0.0.0.0:80", `"0.0.0.0:80" is not the address of a host`, ""},
	{"0.1.0.0/16", `"0.1.0.0/16" is not the address of a host`, "left to the parser"},
	{"::", `"::" is not the address of a host`, ""},
	{"224.0.0.1", `"224.0.0.1" is not the address of a host`, ""},
	{"255.255.255.255", `"255.255.255.255" is not the address of a host`, ""},
	{"ff02::1", `"ff02::1" is not the address of a host`, ""},
	{"198.18.0.0/15", `"198.18.0.0/15" is where cordon puts the names that a worker resolves (write the name)`, ""},
	{"fd63:6f72:646f:6e::7", `"fd63:6f72:646f:6e::7" is where cordon puts the names that a worker resolves (write the name)`, "left to the parser"},
	{"::ffff:10.0.0.1", `"::ffff:10.0.0.1" is an IPv4 address in IPv6 form (write it as IPv4: 10.0.0.1)`, ""},
	{"::ffff:0:0/96", `"::ffff:0:0/96" is an IPv4 address in IPv6 form (write it as IPv4: 0.0.0.0)`, ""},
	{"::ffff:127.0.0.1", `"::ffff:127.0.0.1" is an IPv4 address in IPv6 form (write it as IPv4: 127.0.0.1)`, ""},
	{"fe80::1%eth0", `"fe80::1%eth0" has a zone (an address of one link cannot be leased)`, ""},
	{"[2001:db8::1", `"[2001:db8::1" is not an address with a port ` + bracketHint, ""},
	{"[2001:db8::1]443", `"[2001:db8::1]443" is not an address with a port ` + bracketHint, ""},
	{"[10.0.0.1]:80", `"[10.0.0.1]:80" is not an address with a port ` + bracketHint, ""},
	{"[2001:db8::1]:", `"[2001:db8::1]:" does not end in a port (write host:1 to host:65535)`, ""},
	{"2001:db8:::1", `"2001:db8:::1" is not an address ` + addressHint, "left to the parser"},
}

const (
	addressHint = "(write 203.0.113.7, 10.1.0.0/16, 2001:db8::1 or 2001:db8::/32, with a port as in 10.1.0.0/16:5432 or [2001:db8::1]:443)"
	presetHint  = "(the presets are @anthropic, @openai, @google, @copilot, @opencode, @qwen, @openrouter, @github, @npm, @go, @crates, @pypi, @debian)"
	bracketHint = "(write [2001:db8::1]:443 or [2001:db8::/32]:443)"
)

func TestGoodDomains(t *testing.T) {
	s := compiledSchema(t)
	for _, c := range goodDomains {
		got, err := checkDomain(c.entry)
		if err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.entry, got, err, c.want)
		}
		text := listed(t, c.entry)
		if p, err := Parse("p", []byte(text)); err != nil {
			t.Errorf("%q: %v", c.entry, err)
		} else {
			roundTrip(t, p)
		}
		v, err := value(text)
		if err == nil {
			err = s.Validate(v)
		}
		if err != nil {
			t.Errorf("%q: the schema refuses it: %v", c.entry, err)
		}
	}
}

func TestBadDomains(t *testing.T) {
	s := compiledSchema(t)
	for _, c := range badDomains {
		got, err := checkDomain(c.entry)
		if err == nil || err.Error() != c.want || got != "" {
			t.Errorf("%q\n got %q, %v\nwant %s", c.entry, got, err, c.want)
		}
		text := listed(t, c.entry)
		if _, err := Parse("p", []byte(text)); err == nil {
			t.Errorf("%q: the parser accepts it", c.entry)
		}
		v, err := value(text)
		if err != nil {
			t.Fatal(err)
		}
		if accepted := s.Validate(v) == nil; accepted != (c.left != "") {
			t.Errorf("%q: the schema accepts it: %v (%s)", c.entry, accepted, c.left)
		}
	}
}

// A mistake in the middle of a list stands where it was made, and one of the list
// as a whole where the list begins.
func TestDomainPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"network: {allowed_domains: [a.b, localhost]}\n":                            `p:1:34: "localhost" is this machine (use network.host_ports)`,
		"network: {allowed_domains: [\"a\\0.b\"]}\n":                                `p:1:29: the text contains a NUL character`,
		"network: {allowed_domains: [" + quotedNumbers(65) + "]}\n":                 `p:1:28: 65 different ports are named (at most 64 can be)`,
		"network: {allowed_domains: [" + quotedNumbers(63) + ", a.example]}\n":      `p:1:28: 65 different ports are named (at most 64 can be)`,
		"network: {allowed_domains: [" + quotedNumbers(63) + ", 'a.example:80']}\n": "",
	} {
		_, err := Parse("p", []byte(text))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%.60s…\n got %v\nwant %s", text, err, want)
		}
	}
}

func quotedNumbers(n int) string { return numbers(n, `"a.example:%d"`) }

// FuzzDomain: the normal form of an entry is its own, compiles, and never reaches
// this machine or a cloud's metadata unless that is what was written.
func FuzzDomain(f *testing.F) {
	for _, d := range goodDomains {
		f.Add(d.entry)
	}
	for _, d := range badDomains {
		f.Add(d.entry)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, err := checkDomain(s)
		if err != nil {
			if clean != "" {
				t.Fatalf("%q: %q with %v", s, clean, err)
			}
			return
		}
		if again, err := checkDomain(clean); err != nil || again != clean {
			t.Fatalf("%q became %q, and that %q, %v", s, clean, again, err)
		}
		r := reachOf(t, Network{AllowedDomains: []string{clean}})
		host, _, _ := strings.Cut(clean, ":")
		name, below := strings.CutPrefix(host, "*.")
		if r.Empty() || len(r.Ports()) == 0 {
			t.Fatalf("%q reaches nothing", s)
		}
		if _, err := netip.ParseAddr(name); err != nil && !strings.ContainsAny(clean, "@/[") && strings.Count(clean, ":") < 2 &&
			(r.KnowsName(name) == below || r.KnowsName("x."+name) != below || r.KnowsName("x"+name)) {
			t.Fatalf("%q covers another name than %q", s, clean)
		}
		for _, a := range []string{"127.0.0.1", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "224.0.0.1"} {
			if a := netip.MustParseAddr(a); r.AllowsAddr(a, 80) || r.NamesAddr(a, 80) {
				t.Fatalf("%q reaches %s", s, a)
			}
		}
	})
}
