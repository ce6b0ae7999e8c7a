package cell

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// What comes out of a cell is kept when it is what it says, was ordered, and is not
// too much. Everything else is closed.
func TestSocketsThatAreTaken(t *testing.T) {
	open := map[string]func() (int, error){
		"listening": func() (int, error) { return listenTCP(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) },
		"bound": func() (int, error) {
			return openSocket(unix.SOCK_STREAM, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		},
		"datagrams": func() (int, error) { return hearQueries(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) },
		"unix":      func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0) },
		"no socket": func() (int, error) { return unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0) },
	}
	anywhere := plan.Spec{Layers: []plan.Layer{plan.Namespaces, plan.Network}, Net: &plan.Net{Anywhere: true, Host: []uint16{1}}} // room for three
	proxied := plan.Spec{Layers: []plan.Layer{plan.Namespaces}, Net: &plan.Net{}}
	for name, c := range map[string]struct {
		spec plan.Spec
		kind socket
		what string
		many int // of which this many are kept
		kept int
	}{
		"tcp": {anywhere, tcpSocket, "listening", 3, 3}, "too many": {anywhere, tcpSocket, "listening", 5, 3},
		"names": {anywhere, querySocket, "datagrams", 2, 1}, "a proxy": {proxied, proxySocket, "listening", 2, 1},
		"a proxy that was not ordered": {anywhere, proxySocket, "listening", 1, 0}, "names that were not": {proxied, querySocket, "datagrams", 1, 0},
		"tcp that was not": {proxied, tcpSocket, "listening", 1, 0}, "no network": {plan.Spec{Layers: plan.Every()}, tcpSocket, "listening", 1, 0},
		"no namespaces": {plan.Spec{Net: &plan.Net{}}, proxySocket, "listening", 1, 0}, "one that does not listen": {anywhere, tcpSocket, "bound", 1, 0},
		"datagrams for tcp": {anywhere, tcpSocket, "datagrams", 1, 0}, "of another family": {anywhere, querySocket, "unix", 1, 0},
		"a file": {anywhere, tcpSocket, "no socket", 1, 0}, "packets that are none": {anywhere, watchSocket, "datagrams", 1, 0},
		"of no kind": {anywhere, "else", "listening", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var n network
			var all []*os.File
			for range c.many {
				fd, err := open[c.what]()
				if err != nil {
					t.Fatal(err)
				}
				f := os.NewFile(uintptr(fd), c.what)
				all = append(all, f)
				n.take(c.spec, c.kind, []*os.File{f})
			}
			kept := 0
			for _, f := range all {
				if _, err := f.Stat(); err == nil {
					kept++
				}
			}
			if kept != c.kept {
				t.Errorf("%d are open, want %d: %+v", kept, c.kept, n)
			}
			n.close()
			for _, f := range all {
				if f.Close() == nil {
					t.Error("one was left open")
				}
			}
		})
	}
}

// A process that waited for its plan makes the network of it, and a dry run says
// which.
func TestNetworkOfASeat(t *testing.T) {
	r, s := netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true})
	c := r.command
	c.Cell = &r.order
	c.Argv = []string{"true"}
	spec, err := Dry(c)
	if err != nil || spec.Net == nil || !spec.Has(plan.Network) || !strings.Contains(spec.String(), `"anywhere": true`) || s.calls > 0 {
		t.Errorf("%v: %s", err, spec)
	}
	var out bytes.Buffer
	r.command.Stdout = &out
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	seat := Warm(r.command)
	r.command.Seat = seat
	r.acts("tcp=1.2.3.4:443")
	if seat == nil || seat.take() || out.String() != "tcp=1.2.3.4:443 at 1.2.3.4:443\n" {
		t.Errorf("%q", out.String())
	}
}
