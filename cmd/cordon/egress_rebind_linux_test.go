package main

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
)

// inward are addresses that no name may lead a cell to.
func inward() map[string]string {
	return map[string]string{
		"loopback": "127.0.0.1", "loopback2": "127.8.8.8", "loopback6": "::1", "zero": "0.0.0.0", "zero6": "::",
		"ten": "10.0.0.5", "home": "192.168.1.1", "twelve": "172.16.0.9", "shared": "100.64.0.9", "link": "169.254.1.1",
		"metadata": "169.254.169.254", "metadata6": "fd00:ec2::254", "unique": "fd12:3456::5", "link6": "fe80::5",
		"mapped": "::ffff:127.0.0.1", "mapped10": "::ffff:10.0.0.5", "translated": "64:ff9b::7f00:1", "translated10": "64:ff9b::a00:5",
		"sixtofour": "2002:7f00:1::1", "teredo": "2001::1", "documentation": "192.0.2.9", "documentation6": "2001:db8::9",
		"benchmark": "198.18.0.2", "multicast": "224.0.0.251", "future": "240.0.0.1", "broadcast": "255.255.255.255",
		"site": "fec0::5", "book": "fd63:6f72:646f:6e::2", "own": testnet.Own, "own6": testnet.Own6, "alibaba": "100.100.100.200", "oracle": "192.0.0.192",
	}
}

// A name that may be reached is no way to what is not public.
func TestEgressInward(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		var attacks []attack
		for name, addr := range inward() {
			full := name + ".inward.example.com"
			n.Names.Set(full, addr)
			control := seesHello
			if a := netip.MustParseAddr(addr); a.IsMulticast() || a.IsLinkLocalUnicast() && a.Is6() || addr == "255.255.255.255" {
				control = "" // there is no connecting to those
			}
			attacks = append(attacks, attack{name, act{"http", full + ":80", full}, sees403, control, full, 80, ""})
		}
		besiege(t, n, policyText(allowing("*.inward.example.com", "0.0.0.0/0", "::/0")), attacks)
	})
}

// Only an entry that names a network of its own kind opens what is not public.
func TestEgressNamedNetworks(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		n.Names.Set("ten.inward.example.com", "10.0.0.5")
		n.Names.Set("home.inward.example.com", "192.168.1.1")
		n.Names.Set("metadata.inward.example.com", "169.254.169.254")
		s := newSite(t)
		policy := policyText(allowing("*.inward.example.com", "10.0.0.0/24", "192.168.1.1", "93.184.216.0/24:8080", "0.0.0.0/0:8081"))
		cases := []struct {
			act  act
			want string
		}{
			{act{"http", "ten.inward.example.com:80", "ten.inward.example.com"}, seesHello},
			{act{"http", "10.0.0.5:80", "anything"}, seesHello},
			{act{"https", "10.0.0.77:443", "anything"}, seesHello},
			{act{"http", "10.0.1.5:80", "anything"}, sees403},
			{act{"http", "home.inward.example.com:80", "home.inward.example.com"}, seesHello},
			{act{"http", "192.168.1.2:80", "anything"}, sees403},
			{act{"http", "metadata.inward.example.com:80", "metadata.inward.example.com"}, sees403},
			{act{"tcp", "93.184.216.200:8080", ""}, seesHello},
			{act{"tcp", "93.184.217.200:8080", ""}, "reset"},
			{act{"tcp", testnet.Own + ":8080", ""}, "reset"},
			{act{"tcp", "169.254.169.254:8081", ""}, "reset"},
		}
		var acts []act
		for _, c := range cases {
			acts = append(acts, c.act)
		}
		v, found := s.probeCell(policy, acts)
		for i, c := range cases {
			wants(t, strings.Join(c.act, " "), found[i].String(), c.want)
		}
		v.recorded("10.0.0.5", 80, record.Allowed, "")
	})
}

// A name that changes its address between two looks leads nowhere new.
func TestEgressRebinding(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		if err := n.Serve("10.0.0.5:8081", func(c net.Conn) { _, _ = io.WriteString(c, "hello from inside") }); err != nil {
			t.Fatal(err)
		}
		targets := []string{"127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "fd00::5", testnet.Own}
		name := func(i int) string { return string(rune('a'+i)) + "reb.example.com" }
		var first, later, then []attack
		for i, to := range targets {
			n.Names.Set(name(i), "93.184.216.34")
			first = append(first, attack{"before " + to, act{"http", name(i) + ":80", name(i)}, seesHello, seesHello, "", 0, ""})
			later = append(later, attack{"turned to " + to, tell(name(i), to), "200 done", "200 done", "", 0, ""})
			then = append(then, attack{"after " + to, act{"http", name(i) + ":80", name(i)}, sees403, seesHello, name(i), 80, "resolves to " + to})
		}
		turns := func(odd string) func(int) []netip.Addr {
			return func(asked int) []netip.Addr {
				if asked%2 == 1 {
					return []netip.Addr{netip.MustParseAddr(odd)}
				}
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}
			}
		}
		n.Names.Answer("flipreb.example.com", turns("127.0.0.1"))
		n.Names.Answer("flopreb.example.com", turns("10.0.0.5"))
		n.Names.Set("bothreb.example.com", "93.184.216.37", "10.0.0.5")
		all := append(append(first, later...), attack{"a while", act{"outlive", "5.2s"}, "", "", "", 0, ""})
		all = append(all, then...)
		for _, flip := range []string{"flipreb.example.com", "flopreb.example.com"} {
			all = append(all, attack{flip, act{"http", flip + ":80", flip}, seesHello + "|" + sees403, "", "", 0, ""})
		}
		all = append(all, attack{"one of two addresses", act{"tcp", "bothreb.example.com:8081", ""}, "reset|refused", "hello from inside", "", 0, ""})
		for i := range all {
			if all[i].name == "a while" {
				all[i].outside = ""
			}
		}
		domains := []string{"control.example.com", "flipreb.example.com", "flopreb.example.com", "bothreb.example.com:8081"}
		for i := range targets {
			domains = append(domains, name(i))
		}
		besiege(t, n, policyText(allowing(domains...)), all)
	})
}
