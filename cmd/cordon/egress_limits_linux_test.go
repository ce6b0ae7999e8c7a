package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/egress/record"
	"cordon/internal/testnet"
)

// Connections that end on one side first, change what they speak, or say nothing.
func TestEgressConnections(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		servers(t, n)
		n.Names.Set("raw.example.com", "93.184.216.36")
		if err := n.Serve(":7001", func(c net.Conn) {
			b, err := io.ReadAll(c)
			fmt.Fprintf(c, "hello from the end of %q, %v", b, err)
		}); err != nil {
			t.Fatal(err)
		}
		if err := n.Serve(":7003", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }); err != nil {
			t.Fatal(err)
		}
		const to, late = "allowed.example.com:80", "GET /late HTTP/1.1\r\nHost: allowed.example.com\r\nConnection: close\r\n\r\n"
		besiege(t, n, policyText(allowing("allowed.example.com", "raw.example.com:7000", "raw.example.com:7001", "raw.example.com:7002",
			"raw.example.com:7003")), []attack{
			{"client ends first", act{"halfopen", to, late}, "late hello", "late hello", "", 0, ""},
			{"client ends first, raw", act{"halfopen", "raw.example.com:7001", "abc"}, `end of "abc", <nil>`, `end of "abc", <nil>`, "", 0, ""},
			{"server ends first", act{"tcp", "raw.example.com:7000", "abc"}, "hello from 7000", "hello from 7000", "", 0, ""},
			{"HTTP at a leased port for another", act{"tcp", "raw.example.com:7001", plainRequest("refused.example.net")}, sees403 + "|reset", "", "raw.example.com", 7001, "refused.example.net"},
			{"TLS at a leased port for another", act{"https", "raw.example.com:7003", "refused.example.net"}, "access denied|reset|EOF", "", "raw.example.com", 7003, "refused.example.net"},
			{"upgrade", act{"upgrade", to, "allowed.example.com"}, `101 echo one\n echo two`, `101 echo one\n echo two`, "", 0, ""},
			{"slow loris", act{"loris", to, "100", to, "allowed.example.com"}, seesHello, seesHello, "", 0, ""},
			{"nobody there", act{"tcp", "raw.example.com:7002", ""}, "reset|refused", "refused", "", 0, ""},
			{"still there", act{"http", to, "allowed.example.com"}, seesHello, seesHello, "", 0, ""},
		})
	})
}

func TestEgressLimits(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		t.Run("bytes", func(t *testing.T) {
			v, f := s.probeCell(policyText(allowing("allowed.example.com"), "limits: {bytes: 1MiB}"), []act{
				{"get", "http://allowed.example.com/bytes?n=500000"},
				{"get", "http://allowed.example.com/bytes?n=5000000"},
				{"http", "allowed.example.com:80", "allowed.example.com"},
			})
			wants(t, "below the limit", f[0].String(), `200 with 500000 bytes\|`)
			wants(t, "over the limit", f[1].String(), `EOF|reset`)
			wants(t, "afterwards", f[2].String(), sees403+`(?s:.*)used up`)
			v.recordedIn(t, "allowed.example.com", 80, record.Refused, "used up")
		})
		t.Run("connections", func(t *testing.T) {
			v, f := s.probeCell(policyText(allowing("allowed.example.com"), "limits: {connections: 10}"), []act{
				{"keep", "allowed.example.com:80", "10", "allowed.example.com:80", "allowed.example.com"},
				{"until", "hello from", "http", "allowed.example.com:80", "allowed.example.com"}, // that they are gone has to be noticed
			})
			wants(t, "over the limit", f[0].Err, "reset|EOF|broken pipe")
			wants(t, "afterwards", f[1].String(), seesHello)
			v.recordedIn(t, "allowed.example.com", 80, record.Refused, "connections at once")
		})
		t.Run("queries", func(t *testing.T) {
			before := len(n.Names.Asked())
			v, f := s.probeCell(policyText(allowing("*.example.com"), "limits: {queries: 5}"), []act{
				{"flood", "198.18.0.1:53", "150", "n#.example.com"},
				{"until", "198.18.", "lookup", "allowed.example.com"},
			})
			wants(t, "the flood", f[0].Text, `RCodeRefused:1\d\d`)
			wants(t, "afterwards", f[1].String(), `198\.18\.`)
			if asked := len(n.Names.Asked()) - before; asked == 0 || asked > 60 {
				t.Errorf("%d questions came out of a cell that may ask 5 in a second", asked)
			}
			v.recordedIn(t, "", 0, record.Refused, "queries")
		})
	})
}

// silent is an address of IPv6 at which nobody answers, not even to refuse: a socket
// whose queue is full.
func silent(t *testing.T, at string, port int) {
	t.Helper()
	to := &unix.SockaddrInet6{Port: port, Addr: netip.MustParseAddr(at).As16()}
	open := func() int {
		fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	fd := open()
	if err := errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1), unix.Bind(fd, to), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_ = unix.Connect(open(), to) // it is under way, and that is enough
	}
}

// A host whose IPv6 leads nowhere is none that waits for it with every connection.
func TestEgressBrokenFamily(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		n.Names.Set("raw.example.com", "2606:2800:220:1::bb", "93.184.216.36")
		silent(t, "2606:2800:220:1::bb", 7010)
		if err := n.Serve("93.184.216.36:7010", func(c net.Conn) { _, _ = io.WriteString(c, "hello from IPv4") }); err != nil {
			t.Fatal(err)
		}
		one := act{"tcp", "raw.example.com:7010", ""}
		s := newSite(t)
		outside := s.asProbe([]act{one})[0]
		_, f := s.probeCell(policyText(allowing("raw.example.com:7010")), []act{one, one})
		for _, f := range append(f, outside) {
			wants(t, "what comes of it", f.Text, "hello from IPv4")
			if f.Millis > soon {
				t.Errorf("it took %d ms, and %d ms without a cell", f.Millis, outside.Millis)
			}
		}
	})
}

// A program that asks for one name before every connection is no flood: the answer
// costs nothing, and a refusal would fail a build that does nothing wrong.
func TestEgressSameNameOften(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		_, f := s.probeCell(policyText(allowing("allowed.example.com")), []act{{"often", "allowed.example.com", "500"}})
		wants(t, "what came of it", f[0].Text, `^map\[198\.18\.0\.2 fd63:6f72:646f:6e::2:500\]$`)
		if asked := len(n.Names.Asked()); asked > 20 {
			t.Errorf("%d questions came out", asked)
		}
	})
}

// supervised runs a worker and tells the most memory that cordon had meanwhile, in
// bytes.
func (s *site) supervised(policy string, acts []act) ([]finding, int64) {
	s.t.Helper()
	file := s.write("policy.yaml", policy)
	cmd := s.command("run", "--no-merge", "--policy", file, "--", testnet.Probe, scriptOf(acts))
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	most, done := int64(0), make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }() // how it ended is in its findings
	for {
		most = max(most, peak(cmd.Process.Pid))
		select {
		case <-done:
			return findings(s.t, text.String(), acts), most
		case <-time.After(20 * time.Millisecond): // the next look, not a wait
		}
	}
}

// peak is the most memory that a process had; 0 when it is over.
func peak(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(number, 10, 64) // "" is 0
	return n << 10
}

// Ten thousand connections, one after the other and too many at once, and more names
// than there are, neither grow the supervisor nor end it.
func TestEgressFlood(t *testing.T) {
	internet(t, func(t *testing.T, n *testnet.Net) {
		s := newSite(t)
		const to, name = "allowed.example.com:80", "allowed.example.com"
		policy := policyText(allowing("allowed.example.com", "*.wild.example.com"))
		f, quiet := s.supervised(policy, []act{{"many", to, "10", "1", name}})
		wants(t, "a few", f[0].Text, "^10 good")
		n.Names.Set("*.wild.example.com", "93.184.216.34")
		f, most := s.supervised(policy, []act{
			{"many", to, "10000", "64", name},
			{"many", to, "4000", "2000", name},
			{"many", "93.184.216.34:80", "3000", "500", name},
			{"flood", "198.18.0.1:53", "5000", "n#.refused.example.net"},
			{"flood", "198.18.0.1:53", "5000", "n#.wild.example.com"},
			{"many", "93.184.216.34:8080", "20000", "64", name},
			{"until", "hello from", "http", to, name},
		})
		wants(t, "ten thousand", f[0].Text, "^10000 good")
		t.Logf("many at once: %s; refused: %s; names: %s, %s; closed port: %s", f[1].Text, f[2].Text, f[3].Text, f[4].Text, f[5].Text)
		wants(t, "afterwards", f[6].String(), seesHello)
		t.Logf("the supervisor had %d MiB at most, and %d MiB with a few connections; %v", most>>20, quiet>>20, f)
		if most-quiet > 96<<20 {
			t.Errorf("it grew by %d MiB", (most-quiet)>>20)
		}
		if n.Names.AskedBelow("refused.example.net") != 0 {
			t.Error("names of the flood came out")
		}
	})
}
