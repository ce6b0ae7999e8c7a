package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/testwait"
)

// insideVariable says which part a test plays in a network namespace of its own.
const insideVariable = "CORDON_TEST_INSIDE"

// inside is the command that runs this test again, in namespaces of its own.
func inside(t *testing.T, part string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"="+part)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	return cmd
}

// refusedNamespace is why there are none here, or "".
func refusedNamespace(err error) string {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) {
		return "this machine lets nobody make namespaces: " + err.Error()
	}
	return ""
}

// loopbackUp lets packets pass in a namespace of the test's own.
func loopbackUp(t *testing.T) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	r.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r); err != nil {
		t.Fatal(err)
	}
}

// A real socket sees what is really sent, once each, and ends with its context.
func TestWatch(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		out, err := inside(t, "all").CombinedOutput()
		if why := refusedNamespace(err); why != "" {
			t.Skip(why)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS") && !strings.Contains(string(out), "--- SKIP") {
			t.Fatalf("%v\n%s", err, out)
		}
		if _, why, skipped := strings.Cut(string(out), "skipped: "); skipped {
			t.Skip(why)
		}
		return
	}
	loopbackUp(t)
	for _, late := range []bool{false, true} {
		seesAll(t, late)
	}
}

// seesAll watches while something is sent, or late: when it was, and all is over.
func seesAll(t *testing.T, late bool) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(networkOrder(unix.ETH_P_ALL)))
	if err != nil {
		t.Skip("skipped: packets cannot be watched here: ", err)
	}
	watched := watchHere(t, os.NewFile(uintptr(fd), "packets"), late)
	for _, network := range []string{"udp4", "udp6", "tcp4", "tcp6"} {
		host := map[byte]string{'4': "127.0.0.1", '6': "::1"}[network[3]]
		if c, err := net.Dial(network, net.JoinHostPort(host, strconv.Itoa(4000+int(network[3])))); err == nil {
			fmt.Fprint(c, "x")
			c.Close()
		}
	}
	want := map[string]int{"127.0.0.1:4052 udp": 1, "[::1]:4054 udp": 1, "127.0.0.1:4052 tcp": 1, "[::1]:4054 tcp": 1,
		"127.0.0.1:4052 closed": 1, "[::1]:4054 closed": 1}
	if got := watched(want); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("late %v: seen %v, want %v", late, got, want)
	}
}

func networkOrder(n uint16) uint16 { return n<<8 | n>>8 }

// watchHere watches until what it returns is called with what it should see. That returns what was seen.
func watchHere(t *testing.T, f *os.File, late bool) func(want map[string]int) map[string]int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	got := map[string]int{}
	done, begin := make(chan struct{}), make(chan struct{})
	if !late {
		close(begin)
	}
	go func() {
		defer close(done)
		<-begin
		Packets(ctx, f, func(to netip.AddrPort, what Sighting) {
			mu.Lock()
			defer mu.Unlock()
			got[to.String()+map[Sighting]string{Datagram: " udp", Opening: " tcp", Closed: " closed"}[what]]++
		})
	}()
	return func(want map[string]int) map[string]int {
		complete := func() bool {
			mu.Lock()
			defer mu.Unlock()
			return maps.Equal(got, want)
		}
		show := func() string {
			mu.Lock()
			defer mu.Unlock()
			return fmt.Sprint(got)
		}
		if !late {
			testwait.Until(t, fmt.Sprintf("%v is seen", want), complete, show)
			testwait.Still(t, "nothing more is seen", 100*time.Millisecond, complete, show)
		}
		cancel()
		if late {
			close(begin)
		}
		select {
		case <-done:
		case <-time.After(testwait.Bound):
			t.Error("it does not end with its context")
		}
		if _, err := f.Stat(); err != nil {
			t.Error("the file is closed: ", err)
		}
		f.Close()
		return got
	}
}

// A file that is no such socket is the end of it, and no harm.
func TestWatchWithoutSocket(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.Close()
	Packets(t.Context(), r, func(netip.AddrPort, Sighting) { t.Error("seen") })
	r.Close()
	Packets(t.Context(), r, func(netip.AddrPort, Sighting) { t.Error("seen") })
}
