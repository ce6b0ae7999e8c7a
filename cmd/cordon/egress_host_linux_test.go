package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
	"cordon/internal/testwait"
)

// files replaces files of /etc and /run; a text that begins with "->" is a link, and
// "-" is no file.
func files(t *testing.T, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(to, name)
		} else if text != "-" {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// resolving is a way in which a host resolves names.
type resolving struct {
	name  string
	texts map[string]string // of files
}

const (
	resolvFile  = "/etc/resolv.conf"
	hostsFile   = "/etc/hosts"
	serviceFile = "/etc/nsswitch.conf"

	plainResolv = "nameserver 127.0.0.1\n"
)

func resolvings() []resolving {
	return []resolving{
		{"link to /run", map[string]string{"/run/systemd/resolve/stub-resolv.conf": plainResolv, resolvFile: "->../run/systemd/resolve/stub-resolv.conf"}},
		{"search and ndots", map[string]string{resolvFile: plainResolv + "search corp.example.net example.net\noptions ndots:5 rotate use-vc\n"}},
		{"absolute link to /run", map[string]string{"/run/resolvconf/resolv.conf": plainResolv, resolvFile: "->/run/resolvconf/resolv.conf"}},
		{"link to a link", map[string]string{"/run/a": plainResolv, "/run/b": "->/run/a", resolvFile: "->/run/b"}},
		{"dangling link", map[string]string{resolvFile: "->/run/nowhere/resolv.conf"}},
		{"no file", map[string]string{resolvFile: "-"}},
		{"empty file", map[string]string{resolvFile: ""}},
		{"nonsense", map[string]string{resolvFile: plainResolv + "\x00\xff nameserver\noptions ndots:99 timeout:x\n"}},
		{"IPv6 server", map[string]string{resolvFile: "nameserver ::1\n"}},
		{"resolve and mDNS", map[string]string{serviceFile: "passwd: files\nhosts: files mymachines mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] dns myhostname\n"}},
		{"no nsswitch", map[string]string{serviceFile: "-"}},
		{"hosts is a link", map[string]string{"/run/hosts": "127.0.0.1 localhost\n", hostsFile: "->/run/hosts"}},
		{"no hosts", map[string]string{hostsFile: "-"}},
		{"name in hosts", map[string]string{hostsFile: "127.0.0.1 localhost\n93.184.216.34 allowed.example.com\n"}},
	}
}

// check wants that a name is reached, whatever the host has, and another is not.
func (r resolving) check(t *testing.T, n *testnet.Net) {
	n.Names.Set("allowed.example.com", "93.184.216.34")
	n.Names.Set("allowed.example.com.corp.example.net", "93.184.216.67")
	files(t, map[string]string{resolvFile: plainResolv, hostsFile: "127.0.0.1 localhost\n::1 localhost\n", serviceFile: "passwd: files\nhosts: files dns\n"})
	files(t, r.texts)
	s := newSite(t)
	acts := []act{{"get", "https://allowed.example.com/"}, {"http", "127.0.0.1:80", "localhost"}, {"http", "refused.example.net:80", "refused.example.net"}}
	wants(t, "outside", s.asProbe(acts[:1])[0].String(), "200 hello from allowed")
	asked := n.Names.AskedBelow("refused.example.net")
	v, f := s.probeCell(policyText(allowing("allowed.example.com")), acts)
	for i, want := range []string{"200 hello from allowed", sees403, sees403} {
		wants(t, strings.Join(acts[i], " "), f[i].String(), want)
	}
	v.recorded("93.184.216.34", 443, record.Allowed, "")
	if n.Names.AskedBelow("refused.example.net") != asked {
		t.Error("for the cell somebody was asked for a refused name")
	}
	need(t, "curl") // which resolves as the C library does
	v = s.dispatch(policyText(allowing("allowed.example.com")), "curl", "-sS", "https://allowed.example.com/")
	wants(t, "what curl says", v.out, "hello from allowed")
}

// However the host resolves names, a cell does, and only what it may.
func TestEgressHostNames(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		for _, r := range resolvings()[:2] {
			t.Run(r.name, func(t *testing.T) { r.check(t, n) })
		}
	})
}

func TestEgressHostNamesAll(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		for _, r := range resolvings()[2:] {
			t.Run(r.name, func(t *testing.T) { r.check(t, n) })
		}
	})
}

// A worker reaches itself and not another one.
func TestEgressOtherCell(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		one, two := newSite(t), newSite(t)
		acts := []act{{"hold", "0.0.0.0:9998"}}
		policy := policyText(allowing("control.example.com", "raw.example.com:7000"))
		held := make(chan []finding, 1)
		go func() {
			_, f := one.probeCell(policy, acts)
			held <- f
		}()
		if err := n.Ready(); err != nil {
			t.Fatal(err)
		}
		n.Names.Set("raw.example.com", "93.184.216.36")
		_, f := two.probeCell(policy, []act{
			{"tcp", "127.0.0.1:9998", ""}, {"tcp", "[::1]:9998", ""}, {"tcp", "198.18.0.1:9998", ""},
			{"tcp", "10.0.0.1:9998", ""}, {"tcp", "raw.example.com:9998", ""}, {"tcp", "[fd63:6f72:646f:6e::1]:9998", ""},
		})
		n.Over()
		for _, got := range f {
			if strings.Contains(got.Text, "hello") || got.Err == "" || got.Millis > soon {
				t.Errorf("%v", got)
			}
		}
		wants(t, "the other one, by itself", (<-held)[0].String(), `hello from another cell\| `)
	})
}

// The host's loopback is reached at the ports that were named, by either family, and
// names are what they are written as.
func TestEgressHostPorts(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		for _, at := range []string{"[::1]:7778", "127.0.0.1:7779"} {
			if err := n.Serve(at, func(c net.Conn) { _, _ = io.WriteString(c, "hello from "+at) }); err != nil {
				t.Fatal(err)
			}
		}
		n.Names.Set("xn--bcher-kva.example.com", "93.184.216.38")
		n.Names.Set("one.wild.example.com", "93.184.216.38")
		n.Names.Set("wild.example.com", "93.184.216.38")
		cases := []struct {
			act  act
			want string
		}{
			{act{"tcp", "127.0.0.1:7778", ""}, seesHello}, {act{"tcp", "[::1]:7778", ""}, seesHello},
			{act{"tcp", "localhost:7779", ""}, seesHello}, {act{"tcp", "[::1]:7779", ""}, seesHello},
			{act{"http", "127.0.0.1:80", "localhost"}, seesHello}, {act{"https", "127.0.0.1:443", "localhost"}, seesAlert},
			{act{"http", "allowed.example.com:80", "allowed.example.com"}, "hello from allowed"},
			{act{"http", "93.184.216.34:80", "allowed.example.com"}, sees403},
			{act{"http", "refused.example.net:80", "localhost"}, sees403},
			{act{"http", "one.wild.example.com:80", "one.wild.example.com"}, seesHello},
			{act{"http", "wild.example.com:80", "wild.example.com"}, sees403},
			{act{"https", "xn--bcher-kva.example.com:443", "xn--bcher-kva.example.com"}, seesHello},
			{act{"lookup", "b\u00fccher.example.com"}, "no such host"},
		}
		var acts []act
		for _, c := range cases {
			acts = append(acts, c.act)
		}
		v, f := newSite(t).probeCell(policyText(allowing("allowed.example.com", "*.wild.example.com", "B\u00dcCHER.example.com."),
			"host_ports: [80, 7778, 7779]"), acts)
		for i, c := range cases {
			wants(t, strings.Join(c.act, " "), f[i].String(), c.want)
		}
		v.recorded("localhost", 7778, record.Allowed, "")
		v.recorded("xn--bcher-kva.example.com", 443, record.Allowed, "")
	})
}

// What a worker that may reach nothing tries is seen, unless its policy says otherwise.
func TestEgressObserved(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		acts := []act{{"https", "allowed.example.com:443", "allowed.example.com"}, {"http", "93.184.216.34:80", "x"}, {"udp", "93.184.216.34:443", "x"},
			{"lookup", "only.asked.example.org"}}
		v, f := s.probeCell(policyText(), acts)
		for i, want := range []string{seesAlert, sees403, seesRefused, `198\.18\.`} {
			wants(t, strings.Join(acts[i], " "), f[i].String(), want)
		}
		v.recorded("allowed.example.com", 443, record.Refused, "not in network.allowed_domains")
		v.recorded("only.asked.example.org", 0, record.Refused, "")
		if asked := n.Names.Asked(); len(asked) != 0 || len(n.Web.Visits()) != 0 {
			t.Errorf("something came out: %v %v", asked, n.Web.Visits())
		}
		bare, f := s.probeCell(policyText("observe: false"), acts[:2])
		for _, got := range f {
			if got.Err == "" || got.Millis > soon {
				t.Errorf("without a network: %v", got)
			}
		}
		if kept := bare.records(); len(kept) != 0 {
			t.Errorf("nobody asked for %v", kept)
		}
	})
}

// exec has the network of its policy too, and says at the end what it refused.
func TestEgressExec(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		s := newSite(t)
		file := s.write("policy.yaml", reachable())
		acts := []act{
			{"https", "allowed.example.com:443", "allowed.example.com"}, {"http", "refused.example.net:80", "refused.example.net"},
			{"http", "127.0.0.1:11434", "x"}, {"tcp", "127.0.0.1:7777", ""},
		}
		o := s.try(s.command("exec", "--policy", file, "--", testnet.Probe, scriptOf(acts)))
		f := findings(t, o.out, acts)
		for i, want := range []string{seesHello, sees403, "hello from the model", seesRefused} {
			wants(t, acts[i][0], f[i].String(), want)
		}
		wants(t, "what exec says", o.err, "refused.example.net")
		bare := s.try(s.command("exec", "--", testnet.Probe, scriptOf(acts)))
		for _, f := range findings(t, bare.out, acts) {
			if strings.Contains(f.Text, "hello") || f.Err == "" || f.Millis > soon {
				t.Errorf("with the default policy: %v", f)
			}
		}
	})
}

// The supervisor ends with the worker, whatever is still open.
func TestEgressEnds(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		start := time.Now()
		v := s.dispatch(policyText(allowing("allowed.example.com")), "sh", "-c",
			`sleep 600 & exec `+testnet.Probe+` '[["loris","allowed.example.com:80","20","allowed.example.com:80","allowed.example.com"]]'`)
		wants(t, "what it says", v.out, seesHello)
		if took := time.Since(start); took > testwait.Bound {
			t.Errorf("it took %v", took)
		}
	})
}
