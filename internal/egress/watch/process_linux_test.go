package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cordon/internal/testwait"
)

func TestTableAddr(t *testing.T) {
	// As machines with the usual order of bytes write them.
	for field, want := range map[string]string{
		"0100007F:0050":                         "127.0.0.1:80",
		"01001 2C6:01BB":                        "",
		"010012C6:01BB":                         "198.18.0.1:443",
		"00000000000000000000000001000000:0016": "[::1]:22",
		"0000000000000000FFFF0000010012C6:01BB": "198.18.0.1:443",
		"0100007F":                              "",
		"0100007F:10000":                        "",
		"0100007:0050":                          "",
		"":                                      "",
		":":                                     "",
	} {
		got := ""
		if a, ok := tableAddr([]byte(field)); ok {
			got = a.String()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", field, got, want)
		}
	}
}

func TestFindSocket(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 010012C6:01BB 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 111 1 0000000000000000 20 4 30 10 -1
   1: 0100007F:C350 010012C6:01BB 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0000000000000000
   2: 0100007F:C350 010012C6:01BB 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:C351 010012C6:01BB 01 00000000:00000000 00:00000000 00000000     0        0 x/y 1 0000000000000000 20 4 30 10 -1
`
	far := time.Now().Add(time.Hour)
	for _, c := range []struct{ from, to, want string }{
		{"127.0.0.1:50000", "198.18.0.1:443", "222"},
		{"[::ffff:127.0.0.1]:50000", "198.18.0.1:443", "222"},
		{"198.18.0.1:443", "127.0.0.1:50000", "111"},
		{"127.0.0.1:50001", "198.18.0.1:443", ""},
		{"127.0.0.1:50002", "198.18.0.1:443", ""},
	} {
		if got := findSocket(strings.NewReader(table), netip.MustParseAddrPort(c.from), netip.MustParseAddrPort(c.to), far); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	from, to := netip.MustParseAddrPort("127.0.0.1:50000"), netip.MustParseAddrPort("198.18.0.1:443")
	if got := findSocket(strings.NewReader(strings.Repeat("x", 1<<20)+table), from, to, far); got != "" {
		t.Error("a line without an end was read")
	}
	long := strings.Repeat("header\n", 100) + table
	if got := findSocket(strings.NewReader(long), from, to, time.Now().Add(-time.Second)); got != "" {
		t.Error("it goes on after its time")
	}
}

func TestOwnersAreBounded(t *testing.T) {
	o := &owners{cell: os.Getpid()}
	now := time.Now()
	asked := 0
	for range 200 {
		if o.affords(now) {
			asked++
		}
	}
	if asked != maxOwners {
		t.Errorf("%d lookups in a second", asked)
	}
	if !o.affords(now.Add(time.Second)) {
		t.Error("none in the next")
	}
	o.spent = ownersBudget
	if o.affords(now.Add(time.Second)) {
		t.Error("one more when the time is spent")
	}
	for i := range 100 {
		o.remember(i % 12)
	}
	if len(o.recent) != 8 || o.recent[0] != 3 {
		t.Error(o.recent)
	}
}

// Whoever shares the machine's network is not looked for: that would be among all
// of its processes.
func TestOwnerOfTheMachine(t *testing.T) {
	a, b := netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2")
	for _, pid := range []int{0, -1, os.Getpid(), 1 << 30} {
		if got := Owner(pid)(a, b); got != "" {
			t.Errorf("%d: %q", pid, got)
		}
	}
}

// In a namespace of its own, a process that connects is found by what the one that
// accepts knows.
func TestOwner(t *testing.T) {
	switch os.Getenv(insideVariable) {
	case "first":
		acceptInside(t)
		return
	case "client":
		connectInside(t)
		return
	}
	cmd := inside(t, "first")
	in, out := pipes(t, cmd)
	err := cmd.Start()
	if why := refusedNamespace(err); why != "" {
		t.Skip(why)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	owner := Owner(cmd.Process.Pid)
	lines := bufio.NewScanner(out)
	found := 0
	for lines.Scan() {
		var from, to string
		var pid int
		if n, _ := fmt.Sscanf(lines.Text(), "accepted %s %s %d", &from, &to, &pid); n != 3 {
			continue
		}
		found++
		got := ""
		testwait.Until(t, "the owner is found", func() bool { // on a busy machine there is no time for it at once
			got = owner(netip.MustParseAddrPort(from), netip.MustParseAddrPort(to))
			return got != ""
		})
		if want := fmt.Sprintf("[%d]", pid); !strings.HasSuffix(got, want) || len(got) == len(want) {
			t.Errorf("%s to %s is %q, want %q", from, to, got, want)
		}
		if got := owner(netip.MustParseAddrPort(to), netip.MustParseAddrPort("127.9.9.9:9")); got != "" {
			t.Errorf("nobody is %q", got)
		}
		fmt.Fprintln(in, "next")
	}
	if found != 3 {
		t.Errorf("%d connections were seen", found)
	}
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	return in, out
}

// acceptInside lets another process connect in three ways, and says what it sees.
func acceptInside(t *testing.T) {
	loopbackUp(t)
	l, err := net.Listen("tcp", "[::]:4000")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answers := bufio.NewReader(os.Stdin)
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
	defer cancel()
	for _, to := range []string{"127.0.0.1:4000", "[::1]:4000", "127.0.0.2:4000"} {
		cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^TestOwner$")
		cmd.Env = append(os.Environ(), insideVariable+"=client", "CORDON_TEST_TO="+to)
		held, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("accepted %s %s %d\n", plain(c.RemoteAddr()), plain(c.LocalAddr()), cmd.Process.Pid)
		_, _ = answers.ReadString('\n')
		held.Close()
		c.Close()
		_ = cmd.Wait()
	}
}

func connectInside(t *testing.T) {
	c, err := net.Dial("tcp", os.Getenv("CORDON_TEST_TO"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func plain(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}
