package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/cell/plan"
	"cordon/internal/testwait"
)

func TestNetworkLeadsEverywhere(t *testing.T) {
	r, s := netRoom(t, plan.Net{Ports: []uint16{443, 8443, 443}, Host: []uint16{5432, 8443}, Anywhere: true})
	var told Launch
	r.command.Started = func(l Launch) error {
		told = l
		if s.calls != 1 || s.ended {
			t.Errorf("served %d times before the launch was told", s.calls)
		}
		return nil
	}
	r.expect(map[string]string{
		"tcp=93.184.216.34:443":          "at 93.184.216.34:443",
		"tcp=198.18.0.7:443":             "at 198.18.0.7:443",
		"tcp=169.254.169.254:8443":       "at 169.254.169.254:8443",
		"tcp=10.0.0.1:53":                "at 10.0.0.1:53",
		"tcp=[2606:4700::1111]:443":      "at [2606:4700::1111]:443",
		"tcp=[fd63:6f72:646f:6e::9]:443": "at [fd63:6f72:646f:6e::9]:443",
		"tcp=127.0.0.1:5432":             "at 127.0.0.1:5432",
		"tcp=[::1]:5432":                 "at [::1]:5432",
		"tcp=127.0.0.1:8443":             "at 127.0.0.1:8443",
		"udp=8.8.8.8:53":                 "heard query",
		"udp=[2001:4860:4860::8888]:53":  "heard query",
		"udp=127.0.0.1:53":               "heard query",
		// and nothing else
		"tcp=93.184.216.34:22":       "ECONNREFUSED",
		"tcp=[2606:4700::1111]:22":   "ECONNREFUSED",
		"tcp=93.184.216.34:5432":     "ECONNREFUSED",
		"tcp=[2606:4700::1111]:5432": "ECONNREFUSED",
		"tcp=127.0.0.1:22":           "ECONNREFUSED",
		"udp=93.184.216.34:443":      "ECONNREFUSED",
		"udp=[2606:4700::1111]:443":  "ECONNREFUSED",
		"udp=127.0.0.1:123":          "ECONNREFUSED",
	})
	if !s.ended || s.calls != 1 || s.given.Pid == 0 || s.given.Proxy != nil || s.given.Token != "" || len(s.given.TCP) != 5 {
		t.Errorf("%+v", s)
	}
	if want := append([]plan.Layer{plan.Namespaces, plan.Network}, plan.Every()[1:]...); !slices.Equal(told.Layers, want) || told.Missing != nil ||
		!slices.Contains(told.Proven, "connect elsewhere") || !slices.Contains(told.Proven, "connect tcp") {
		t.Errorf("%+v", told)
	}
	if s.given.Pid != told.Pid {
		t.Errorf("served for process %d, launched %d", s.given.Pid, told.Pid)
	}
}

// What a cell has without a network is the control: nothing leads anywhere there,
// and every port is the worker's.
func TestNetworkIsNotTheWorkersToChange(t *testing.T) {
	n := plan.Net{Ports: []uint16{8443}, Host: []uint16{5432}, Anywhere: true}
	r, _ := netRoom(t, n)
	taken := []string{
		"listen=0.0.0.0:8443", "listen=127.0.0.1:8443", "listen=[::]:8443", "listen=[::1]:8443", "listen=198.18.0.1:8443", "listen=93.184.216.34:8443",
		"listen=[fd63:6f72:646f:6e::9]:8443", "share=0.0.0.0:8443", "share=93.184.216.34:8443", "share=[::]:8443",
		"listen=127.0.0.1:5432", "listen=0.0.0.0:5432", "listen=[::1]:5432", "share=127.0.0.1:5432", "share=[::]:5432",
	}
	want := map[string]string{
		"listen=0.0.0.0:443": "EACCES", "listen=127.0.0.1:53": "EACCES", "address": "EPERM", "route": "EPERM", "packet": "EAFNOSUPPORT", "raw": "EPERM", "ping": "EACCES",
		"listen=0.0.0.0:9000": "taken", "listen=127.0.0.1:9000": "taken", "listen=[::]:9000": "taken", "share=[::1]:9000": "taken",
		"files=self": "0", "four": "at 10.9.8.7:9001, heard query",
	}
	for _, act := range taken {
		want[act] = "EADDRINUSE"
	}
	want["listen=[fd63:6f72:646f:6e::9]:8443"] = "EADDRNOTAVAIL" // a route does not make it one of its own
	r.expect(want)
	r.order.Net = nil
	want = map[string]string{"tcp=93.184.216.34:8443": "ENETUNREACH", "udp=8.8.8.8:53": "ENETUNREACH", "tcp=[2606:4700::1111]:443": "ENETUNREACH"}
	for _, act := range taken {
		want[act] = "taken"
		if strings.Contains(act, "93.184") || strings.Contains(act, "198.18") || strings.Contains(act, "fd63") {
			want[act] = "EADDRNOTAVAIL"
		}
	}
	r.expect(want)
}

// The cell's first process keeps no socket of the network: it is looked at from
// outside, where it can be.
func TestNetworkLeavesNoDescriptors(t *testing.T) {
	var hidden error
	count := func(n *plan.Net) (sockets int) {
		r, s := netRoom(t, plan.Net{})
		r.order.Net = n
		r.command.Started = func(l Launch) error {
			var entries []os.DirEntry
			entries, hidden = os.ReadDir(fmt.Sprintf("/proc/%d/fd", l.Pid))
			for _, e := range entries {
				if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", l.Pid, e.Name())); strings.HasPrefix(to, "socket:") {
					sockets++
				}
			}
			return nil
		}
		before := openDescriptors(t)
		r.sh("true")
		runtime.GC()
		// The socket that watches is closed beside: the kernel takes its time for it.
		testwait.Until(t, fmt.Sprintf("no more than the %d descriptors are open that were before: %+v", before, s.given), func() bool {
			return openDescriptors(t) <= before
		})
		return sockets
	}
	count(nil) // what the test itself opens once
	if without, with := count(nil), count(&plan.Net{Ports: []uint16{443}, Host: []uint16{99}, Anywhere: true}); with != without {
		t.Errorf("%d sockets, and %d without a network", with, without)
	}
	if hidden != nil {
		t.Skipf("the first process does not let itself be looked at: %v", hidden)
	}
}

func TestNetworkSeesWhatIsRefused(t *testing.T) {
	r, s := netRoom(t, plan.Net{Ports: []uint16{443}, Host: []uint16{5432}, Anywhere: true})
	// Those that must not be seen come between each two that must.
	quiet := []string{"tcp=93.184.216.34:443", "tcp=127.0.0.1:5432", "tcp=[::1]:5432", "tcp=127.0.0.1:443", "tcp=[::1]:443", "cut=127.0.0.1:9998",
		"cut=[::1]:9998", "udp=127.0.0.1:9999", "udp=[::1]:9999", "udp=8.8.8.8:53", "udp=[2001::8]:53", "tcp=8.8.8.8:53"}
	seen := []string{"tcp=93.184.216.34:22", "tcp=[2606:4700::1111]:25", "udp=1.2.3.4:443", "udp=[2606:4700::1111]:123", "tcp=1.2.3.4:5432",
		"tcp=[2606:4700::1]:5432",
		"tcp=127.0.0.1:9999", "tcp=[::1]:9999", "tcp=127.9.8.7:5432"}
	var acts []string
	for _, act := range seen {
		acts = append(append(acts, quiet...), act)
	}
	said := r.acts(append(acts, quiet...)...)
	if said["cut=127.0.0.1:9998"] != "ECONNRESET" || said["cut=[::1]:9998"] != "ECONNRESET" {
		t.Errorf("nothing was reset: %v", said)
	}
	if s.given.Watch == nil {
		t.Fatal("nothing is watched here")
	}
	var got []string
	for _, p := range s.watch {
		got = append(got, packetTo(p))
	}
	if !slices.Equal(got, seen) {
		t.Errorf("seen\n%v, want\n%v", got, seen)
	}
}

// packetTo is where a packet goes, or where the answer of a closed port comes from.
func packetTo(p []byte) string {
	header, from, to, proto := 20, 12, 16, 9
	if len(p) >= 40 && p[0]>>4 == 6 {
		header, from, to, proto = 40, 8, 24, 6
	}
	if len(p) < header+8 {
		return fmt.Sprintf("%x", p)
	}
	at, port := p[to:to+to-from], p[header+2:]
	if p[proto] == 6 && p[header+13]&0x04 != 0 {
		at, port = p[from:to], p[header:]
	}
	a, _ := netip.AddrFromSlice(at)
	return map[byte]string{6: "tcp=", 17: "udp="}[p[proto]] + netip.AddrPortFrom(a, binary.BigEndian.Uint16(port)).String()
}

// A service of the host's own loopback is not reached, at whatever address.
func TestNetworkDoesNotReachTheHost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go (&served{}).accept(l)
	port := l.Addr().(*net.TCPAddr).Port
	r, _ := netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true})
	act := fmt.Sprintf("tcp=127.0.0.1:%d", port)
	r.expect(map[string]string{act: "ECONNREFUSED", fmt.Sprintf("tcp=127.0.0.2:%d", port): "ECONNREFUSED", fmt.Sprintf("tcp=198.18.0.1:%d", port): "ECONNREFUSED"})
	if _, out, err := r.free("./probe", "net", act); err != nil || results(out)[act] != "at "+l.Addr().String() {
		t.Errorf("the control does not reach it: %v %s", err, out)
	}
}

func TestNetworkByProxy(t *testing.T) {
	r, s := netRoom(t, plan.Net{Ports: []uint16{443}, Host: []uint16{5432, 3128}})
	r.command.Env = append(r.command.Env, "HTTPS_PROXY=http://proxy.example:8080", "No_Proxy=example", "http_proxy=x")
	var told Launch
	r.command.Started = func(l Launch) error { told = l; return nil }
	r.expect(map[string]string{
		"tcp=127.0.0.1:3129": "at 127.0.0.1:3129", "tcp=127.0.0.1:5432": "at 127.0.0.1:5432", "tcp=[::1]:5432": "at [::1]:5432", "tcp=127.0.0.1:3128": "at 127.0.0.1:3128",
		"tcp=127.0.0.1:443": "ECONNREFUSED", "tcp=93.184.216.34:443": "ENETUNREACH", "udp=127.0.0.1:53": "ECONNREFUSED", "listen=0.0.0.0:3129": "EADDRINUSE",
	})
	if s.given.Proxy == nil || s.given.Queries != nil || s.given.Watch != nil || len(s.given.TCP) != 4 || slices.Contains(told.Layers, plan.Network) {
		t.Errorf("%+v %v", s.given, told.Layers)
	}
	want := `ALL_PROXY=socks5h://127.0.0.1:3129
HTTPS_PROXY=http://127.0.0.1:3129
HTTP_PROXY=http://127.0.0.1:3129
NO_PROXY=localhost,127.0.0.1,::1
all_proxy=socks5h://127.0.0.1:3129
http_proxy=http://127.0.0.1:3129
https_proxy=http://127.0.0.1:3129
no_proxy=localhost,127.0.0.1,::1
`
	if got := r.sh("env | grep -i _proxy= | LC_ALL=C sort"); got != want {
		t.Errorf("%s", got)
	}
	r.order.Net = &plan.Net{Anywhere: true}
	if got := r.sh("env | grep -i _proxy= | sort"); got != "" {
		t.Errorf("where every program finds its way: %s", got)
	}
	r.order.Net = nil
	if got := r.sh("env | grep -ic _proxy="); got != "3\n" {
		t.Errorf("without a network the operator's are left alone: %s", got)
	}
}

func TestNetworkThatIsNotServed(t *testing.T) {
	r, s := netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true})
	no := errors.New("not today")
	ran := filepath.Join(r.tree, "ran")
	for name, c := range map[string]struct {
		serve   func(Sockets) (func(), error)
		started func(Launch) error
		ended   bool
	}{
		"by nobody":       {nil, nil, false},
		"by one who errs": {func(g Sockets) (func(), error) { s.given = g; return nil, no }, nil, false},
		"in time":         {s.serve, func(Launch) error { return no }, true},
	} {
		s.ended, s.given = false, Sockets{}
		r.command.Serve, r.command.Started = c.serve, c.started
		exit, out, err := r.run("touch", "ran")
		if err == nil || exit.Reason != NotStarted || c.serve != nil && !errors.Is(err, no) || s.ended != c.ended {
			t.Errorf("%s: %+v, %v %s", name, exit, err, out)
		}
		if _, err := os.Lstat(ran); err == nil {
			t.Errorf("%s: it ran all the same", name)
		}
		for _, f := range s.given.TCP {
			if f.Close() == nil {
				t.Errorf("%s: a socket was left open", name)
			}
		}
	}
}

// A visitor has the worker's network.
func TestNetworkOfAVisitor(t *testing.T) {
	r, _ := netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true})
	place := t.TempDir()
	var said bytes.Buffer
	came := make(chan error, 1)
	r.command.Started = func(l Launch) error {
		if err := l.Door.Open(place, func([]string) error { return nil }); err != nil {
			return err
		}
		go func() {
			_, err := Visit(place, Command{Argv: []string{"./probe", "net", "tcp=1.2.3.4:443 packet listen=[::]:443"}, Stdout: &said, Stderr: &said})
			came <- errors.Join(err, os.WriteFile(filepath.Join(r.tree, "gone"), nil, 0o644))
		}()
		return nil
	}
	r.sh(`i=0; while ! test -e gone && test $i -lt 30000; do sleep 0.01; i=$((i+1)); done`)
	if err := <-came; err != nil || said.String() != "tcp=1.2.3.4:443 at 1.2.3.4:443\npacket EAFNOSUPPORT\nlisten=[::]:443 EACCES\n" {
		t.Errorf("%v %q", err, said.String())
	}
}

// A worker that waits for nothing is served until it has ended, and no longer.
func TestNetworkOfManyConnections(t *testing.T) {
	r, _ := netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true})
	var acts []string
	want := map[string]string{}
	for i := range 500 {
		act := fmt.Sprintf("tcp=10.0.%d.%d:443", i/250, i%250)
		acts, want[act] = append(acts, act), "at "+act[4:]
	}
	began := time.Now()
	for act, said := range r.acts(acts...) {
		if said != want[act] {
			t.Errorf("%s: %s", act, said)
		}
	}
	if took := time.Since(began); took > time.Minute { // one that is not served costs its patience
		t.Errorf("it took %v", took)
	}
}

// openDescriptors is how many this process has.
func openDescriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
