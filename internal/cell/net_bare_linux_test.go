package cell

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/plan"
)

// bareWord tells this program that it runs where no user namespace can be made; its
// value is the namespace of whoever started it.
const bareWord = "CORDON_TEST_BARE"

// bare runs a test once more in a user namespace that has none below it. It reports
// whether this is that run.
func bare(t *testing.T) bool {
	own, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		t.Fatal(err)
	}
	if outer := os.Getenv(bareWord); outer != "" {
		if outer == own { // the setting below would be the host's
			t.Fatal("not in a namespace of its own")
		}
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), bareWord+"="+own)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// Without namespaces there is a proxy on the host's loopback, and Landlock keeps the
// worker from every other port.
func TestNetworkWithoutNamespaces(t *testing.T) {
	if !bare(t) {
		return
	}
	open := func() (string, uint16) {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go (&served{}).accept(l)
		return "tcp=" + l.Addr().String(), uint16(l.Addr().(*net.TCPAddr).Port)
	}
	leased, port := open()
	other, _ := open()
	r, s := netRoom(t, plan.Net{Ports: []uint16{443}, Host: []uint16{port}, Anywhere: true})
	if exit, _, err := r.run("true"); err == nil || !strings.Contains(err.Error(), "no namespaces here") || exit.Reason != NotStarted || s.calls > 0 {
		t.Fatalf("%+v, %v: this shows nothing where there are namespaces", exit, err)
	}
	var told Launch
	r.command.Weaker = true
	r.command.Started = func(l Launch) error { told = l; return nil }
	got := r.acts(leased, other, "proxy")
	r.command.Started = nil
	if host.LandlockVersion() < 4 {
		t.Skip("Landlock knows nothing of TCP here")
	}
	if got[leased] != "at "+leased[4:] || got[other] != "EACCES" || !strings.HasPrefix(got["proxy"], "at 127.0.0.1:") {
		t.Errorf("%v", got)
	}
	if _, out, err := r.free("./probe", "net", other); err != nil || results(out)[other] != "at "+other[4:] {
		t.Errorf("the control does not reach it: %v %s", err, out)
	}
	if s.given.Token == "" || s.given.Proxy == nil || s.given.TCP != nil || s.given.Pid == 0 || !s.ended {
		t.Errorf("%+v", s)
	}
	var names []plan.Layer
	for _, m := range told.Missing {
		names = append(names, m.Layer)
	}
	if !slices.Equal(names, []plan.Layer{plan.Namespaces, plan.Network}) || slices.Contains(told.Layers, plan.Network) {
		t.Errorf("%v, without %v", told.Layers, told.Missing)
	}
	env := strings.Fields(r.sh("env | grep -i _proxy="))
	if at := s.given.Token + "@127.0.0.1:"; len(env) != 8 || !slices.ContainsFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv,
			"http_proxy=http://cordon:"+at)
	}) ||
		!slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "ALL_PROXY=socks5h://cordon:"+at) }) {
		t.Errorf("%v", env)
	}
	// A network that only shows what is tried is left out, and nothing is told of a proxy.
	r, s = netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true, Spare: true})
	r.command.Weaker = true
	r.command.Started = func(l Launch) error { told = l; return nil }
	if env := r.sh("env | grep -i _proxy= || true"); env != "" || s.calls > 0 || len(told.Missing) != 1 || told.Missing[0].Layer != plan.Namespaces {
		t.Errorf("%q, %+v, without %v", env, s, told.Missing)
	}
}

// A command that may reach nothing starts where a network that shows what it tries cannot be
// made. No other layer is given up for that.
func TestSpareNetwork(t *testing.T) {
	spare, needed := &plan.Net{Spare: true, Anywhere: true}, &plan.Net{Anywhere: true}
	for _, c := range []struct {
		net          *plan.Net
		missing      plan.Layer
		weaker, want bool
	}{
		{spare, plan.Network, false, true}, {spare, plan.Network, true, true}, {spare, plan.Namespaces, true, true},
		{spare, plan.Namespaces, false, false}, {spare, plan.Landlock, true, false}, {spare, plan.Seccomp, false, false}, {spare, plan.CopyView, true, false},
		{needed, plan.Network, false, false}, {needed, plan.Network, true, false}, {nil, plan.Network, true, false},
	} {
		if got := spared(c.net, c.missing, c.weaker); got != c.want {
			t.Errorf("%+v without %s, weaker %t: %t", c.net, c.missing, c.weaker, got)
		}
	}
}

func TestWhatIsMissingOfANetwork(t *testing.T) {
	for version, want := range map[int]string{0: "TCP is not restricted", 3: "TCP is not restricted", 4: "open at every address"} {
		if m := networkBare(version); !strings.Contains(m.Means, want) || m.Layer != plan.Network {
			t.Errorf("%d: %v", version, m)
		}
	}
}

// Where the layer turns out to be missing, programs are told of a proxy.
func TestNetworkWithoutItsLayer(t *testing.T) {
	r, s := netRoom(t, plan.Net{Ports: []uint16{443}, Anywhere: true})
	exit, out, err := r.without(plan.Network, "./probe", "net", "tcp=127.0.0.1:3128 tcp=1.2.3.4:443")
	if err != nil || !exit.OK() || out != "tcp=127.0.0.1:3128 at 127.0.0.1:3128\ntcp=1.2.3.4:443 ENETUNREACH\n" || s.given.Proxy == nil {
		t.Errorf("%+v, %v %s", exit, err, out)
	}
}

// The file that says who answers for names lies at many places, and not always
// there.
func TestFilesPlacedAnywhere(t *testing.T) {
	places := []string{
		"/run/systemd/resolve/stub-resolv.conf", "/run/resolv.conf", "/var/tmp/a/b", "/mnt/cordon-absent/resolv.conf",
		"/etc/hosts", "/etc/cordon-absent.conf", "/etc/cordon-absent/a/resolv.conf",
	}
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		places = append(places, real)
	}
	for name, c := range map[string]struct {
		read    []string
		without plan.Layer
	}{
		"overlay": {[]string{"/"}, ""}, "bind": {[]string{"/"}, plan.CopyView}, "narrow": {[]string{"/usr"}, ""}, "narrow bind": {[]string{"/usr", "/etc"}, plan.CopyView},
		"narrow with files": {[]string{"/usr", "/etc/passwd"}, ""}, "narrow with etc": {[]string{"/usr", "/etc"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			r.probe()
			from := r.put(filepath.Join(r.outside, "ours"), "ours")
			r.order.Read = c.read
			want, line := "", []string{}
			for _, at := range places {
				r.order.Bind = append(r.order.Bind, plan.Bind{From: from, At: at})
				line = append(line, "read="+at)
				want += fmt.Sprintf("read=%s ours\n", at)
			}
			exit, out, err := r.without(c.without, "./probe", "net", strings.Join(line, " "))
			if err != nil || !exit.OK() || out != want {
				t.Errorf("%+v, %v\n%s", exit, err, out)
			}
			if c.read[0] == "/" || slices.Contains(c.read, "/etc") {
				if exit, out, err := r.without(c.without, "./probe", "net", "read=/etc/group"); err != nil || !exit.OK() || !strings.Contains(out, "root:") {
					t.Errorf("what lies beside it is gone: %+v, %v\n%s", exit, err, out)
				}
			}
		})
	}
}
