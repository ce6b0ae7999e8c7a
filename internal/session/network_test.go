package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/egress/record"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
)

func named40() []string {
	var list []string
	for i := range 40 {
		list = append(list, fmt.Sprintf("host-%d.example.com", i))
	}
	return list
}

// What a worker can reach fits into a line of a terminal, and says how much it
// leaves out.
func TestListed(t *testing.T) {
	for want, n := range map[string]policy.Network{
		"none; what it tries to reach is recorded":        {Observe: true},
		"api.example.com":                                 {AllowedDomains: []string{"api.example.com"}},
		"host port 5432":                                  {HostPorts: []int{5432}},
		"@npm, *.crates.io:443 and host ports 5432, 6379": {AllowedDomains: []string{"@npm", "*.crates.io:443"}, HostPorts: []int{5432, 6379}},
		"host-0.example.com, host-1.example.com, 38 more and host ports 1, 2, 3": {AllowedDomains: named40(), HostPorts: []int{1, 2, 3}},
		"host ports 10000, 10001, 4 more":                                        {HostPorts: []int{10000, 10001, 10002, 10003, 10004, 10005}},
		"a.example, b.example, c.example, d.example":                             {AllowedDomains: []string{"a.example", "b.example", "c.example", "d.example"}},
		strings.Repeat("x", 70) + ".example, 1 more":                             {AllowedDomains: []string{strings.Repeat("x", 70) + ".example", "b.example"}},
		"a.example and host ports 1, 2, 3, 4, 5, 6":                              {AllowedDomains: []string{"a.example"}, HostPorts: []int{1, 2, 3, 4, 5, 6}},
		"a.example and host ports 65530, 65531, 4 more":                          {AllowedDomains: []string{"a.example"}, HostPorts: []int{65530, 65531, 65532, 65533, 65534, 65535}},
		"host-0.example.com, 39 more and host ports 65530, 65531":                {AllowedDomains: named40(), HostPorts: []int{65530, 65531}},
	} {
		got := listed(n, reachRoom)
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if utf8.RuneCountInString(got) > reachRoom && len(n.AllowedDomains) != 2 {
			t.Errorf("%q is too long", got)
		}
	}
}

// Where there is room, nothing is left out.
func TestListedWhole(t *testing.T) {
	n := policy.Network{AllowedDomains: named40(), HostPorts: []int{65530, 65531, 65532, 65533, 65534, 65535}}
	want := strings.Join(named40(), ", ") + " and host ports 65530, 65531, 65532, 65533, 65534, 65535"
	if got := listed(n, 0); got != want {
		t.Errorf("%q", got)
	}
	p := policy.Default()
	p.Network.AllowedDomains = named40()
	if got := AllReachable(p, append(cell.Every(), cell.Network)); len(got) != 1 || got[0] != strings.Join(named40(), ", ") {
		t.Errorf("%q", got)
	}
}

// What a command may have missed is said of one that failed, and of no other.
func TestUnreached(t *testing.T) {
	named, none, older := policy.Default(), policy.Default(), policy.Default()
	named.Network.AllowedDomains = []string{"a.example"}
	none.Isolation = policy.None
	older.Network = policy.Network{AllowedDomains: []string{"a.example"}}
	whole := append(cell.Every(), cell.Network)
	failed := cell.Exit{Code: 1, Reason: cell.Exited}
	for name, row := range map[string]struct {
		policy policy.Policy
		layers []cell.Layer
		exit   cell.Exit
		want   string
	}{
		"failed":         {policy.Default(), cell.Every(), failed, "the cell had no network: "},
		"out of time":    {policy.Default(), cell.Every(), cell.Exit{Code: 143, Reason: cell.TimedOut}, "the cell had no network: "},
		"proxy":          {named, cell.Every(), failed, "programs that ignore the proxy variables reached nothing"},
		"proxy, well":    {named, cell.Every(), cell.Exit{Reason: cell.Exited}, ""},
		"well":           {policy.Default(), cell.Every(), cell.Exit{Reason: cell.Exited}, ""},
		"not there":      {policy.Default(), cell.Every(), cell.Exit{Code: 127, Reason: cell.Exited}, ""},
		"killed":         {policy.Default(), cell.Every(), cell.Exit{Code: 137, Reason: cell.Exited}, ""},
		"interrupted":    {policy.Default(), cell.Every(), cell.Exit{Code: 1, Reason: cell.Interrupted}, ""},
		"not started":    {policy.Default(), cell.Every(), cell.Exit{Code: 125, Reason: cell.NotStarted}, ""},
		"a network":      {named, whole, failed, ""},
		"no namespaces":  {policy.Default(), []cell.Layer{cell.Landlock}, failed, ""},
		"unconfined":     {none, nil, failed, ""},
		"an older lease": {older, cell.Every(), failed, ""},
	} {
		got := Unreached(row.policy, row.layers, row.exit)
		if (got == "") != (row.want == "") || !strings.HasPrefix(got, row.want) || utf8.RuneCountInString("cordon: "+got) > 100 {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// recordOf is a worker of a session whose state is a directory of the test's.
func recordOf(t *testing.T) (*Session, *ledger.Worker) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	place, err := state.For(git.Host{Repo: git.Repo{Dir: filepath.Join(t.TempDir(), ".git")}})
	if err != nil {
		t.Fatal(err)
	}
	return &Session{&Site{State: place, Voice: Silent{}, Now: time.Now}}, &ledger.Worker{ID: "able-fox"}
}

// A line that cordon did not finish, because it was killed, costs no other one.
func TestRecordAfterAKill(t *testing.T) {
	s, w := recordOf(t)
	keep := func(names ...string) {
		f, err := s.openNet(w.ID)
		if err != nil {
			t.Fatal(err)
		}
		k := record.NewKeeper(f)
		for _, name := range names {
			k.Record(record.Record{Time: time.Now(), Kind: record.Connect, Name: name, Port: 443, Verdict: record.Refused, Reason: "why"})
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	keep("a.example", "b.example")
	path := s.workerFile(w.ID, netFile)
	fi, err := os.Stat(path)
	if err != nil || fi.Mode() != 0o600 {
		t.Fatalf("%v %v", fi, err)
	}
	if err := os.Truncate(path, fi.Size()-10); err != nil {
		t.Fatal(err)
	}
	keep("c.example")
	var names []string
	tally, err := s.Reached(w, func(r record.Record) { names = append(names, r.Name) })
	if err != nil || strings.Join(names, " ") != "a.example c.example" || tally.Refused != 2 || tally.Damaged != 1 {
		t.Errorf("%q %+v %v", names, tally, err)
	}
	if word := Summed(tally); word != "0 allowed, 2 refused; 1 line of the record cannot be read" {
		t.Errorf("%q", word)
	}
}

// A worker without a cell can put something else where the record is.
func TestRecordThatIsNone(t *testing.T) {
	s, w := recordOf(t)
	if tally, err := s.Reached(w, nil); err != nil || tally.Refused != 0 {
		t.Errorf("none: %+v %v", tally, err)
	}
	if err := os.MkdirAll(s.State.Worker(string(w.ID)), 0o700); err != nil {
		t.Fatal(err)
	}
	path := s.workerFile(w.ID, netFile)
	for name, make := range map[string]func() error{
		"link":      func() error { return os.Symlink("/etc/hosts", path) },
		"directory": func() error { return os.Mkdir(path, 0o700) },
		"pipe":      func() error { return unix.Mkfifo(path, 0o600) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reached(w, nil); err == nil {
			t.Errorf("%s: was read", name)
		}
		if f, err := s.openNet(w.ID); err == nil {
			f.Close()
			t.Errorf("%s: was opened to be written", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing is paid where nothing can be reached.
func TestNoNetwork(t *testing.T) {
	t.Chdir(t.TempDir()) // a mistake would write here
	for name, p := range map[string]policy.Policy{
		"default": policy.Default(),
		"none":    {Isolation: policy.None, Network: policy.Network{HostPorts: []int{1}, Via: policy.Transparent}},
		"older":   {Isolation: policy.Strict, Network: policy.Network{AllowedDomains: []string{"api.anthropic.com", "@npm"}}},
		"no host": {Isolation: policy.Strict, Network: policy.Network{AllowedDomains: []string{"localhost"}}},
	} {
		if n, err := networkOf(p); n != nil || err != nil {
			t.Errorf("%s: %+v %v", name, n, err)
		}
		c := cell.Command{Cell: &cell.Order{}}
		s := &Session{&Site{}}
		if err := s.connect(&c, lease.Lease{Policy: p}); err != nil || c.Serve != nil || c.Cell.Net != nil || c.Cell.Bind != nil {
			t.Errorf("%s: %+v %v", name, c, err)
		}
	}
}

func TestNetworkOf(t *testing.T) {
	of := func(n policy.Network) policy.Policy {
		if n.Via == "" {
			n.Via = policy.Transparent
		}
		return policy.Policy{Isolation: policy.Strict, Network: n}
	}
	for name, row := range map[string]struct {
		policy policy.Policy
		want   *cell.Net
		says   string
	}{
		"nothing": {of(policy.Network{}), nil, "none but its own loopback"},
		"observe": {of(policy.Network{Observe: true}), &cell.Net{Ports: []uint16{80, 443}, Anywhere: true}, "none; what it tries to reach is recorded"},
		"port":    {of(policy.Network{HostPorts: []int{5432}}), &cell.Net{Ports: []uint16{80, 443}, Host: []uint16{5432}, Anywhere: true}, "host port 5432"},
		"name":    {of(policy.Network{AllowedDomains: []string{"a.example"}}), &cell.Net{Ports: []uint16{80, 443}, Anywhere: true}, "a.example"},
		"ports":   {of(policy.Network{AllowedDomains: []string{"a.example:22", "b.example:8443"}}), &cell.Net{Ports: []uint16{22, 80, 443, 8443}, Anywhere: true}, "a.example:22, b.example:8443"},
		"proxy":   {of(policy.Network{AllowedDomains: []string{"a.example"}, Via: policy.Proxy}), &cell.Net{Ports: []uint16{80, 443}}, "through a proxy (programs that ignore proxy variables reach nothing)|a.example"},
		"none":    {policy.Policy{Isolation: policy.None, Network: policy.Network{HostPorts: []int{1}, Via: policy.Transparent}}, nil, "not held: isolation is none, so it reaches what you reach"},
	} {
		n, err := networkOf(row.policy)
		if err != nil || (n == nil) != (row.want == nil) {
			t.Errorf("%s: %+v %v", name, n, err)
			continue
		}
		layers := cell.Every()
		if n != nil {
			if fmt.Sprint(n.cell) != fmt.Sprint(*row.want) {
				t.Errorf("%s: %+v, want %+v", name, n.cell, *row.want)
			}
			if n.cell.Anywhere {
				layers = append(layers, cell.Network)
			}
		}
		if says := strings.Join(Reachable(row.policy, layers), "|"); says != row.says {
			t.Errorf("%s: %q, want %q", name, says, row.says)
		}
	}
	if n, err := networkOf(of(policy.Network{AllowedDomains: []string{"https://a.example"}})); err == nil {
		t.Errorf("a lease that cannot be: %+v", n)
	}
}

// What is said of the weaker forms is what they are: without namespaces only some of
// what ignores the proxy is held.
func TestReachableWeaker(t *testing.T) {
	p := policy.Default()
	p.Network.AllowedDomains = []string{"a.example"}
	older := policy.Policy{Isolation: policy.Degraded, Network: policy.Network{AllowedDomains: []string{"localhost"}}}
	const opensNothing = "the lease is older than the network of cells and opens nothing"
	for name, row := range map[string]struct {
		policy policy.Policy
		layers []cell.Layer
		want   string
	}{
		"without the layer":   {p, cell.Every(), "through a proxy (programs that ignore proxy variables reach nothing)|a.example"},
		"without namespaces":  {p, []cell.Layer{cell.Landlock, cell.Seccomp}, "through a proxy; without namespaces not all that ignores it is held|a.example"},
		"without anything":    {p, nil, "through a proxy; without namespaces not all that ignores it is held|a.example"},
		"older":               {older, cell.Every(), opensNothing},
		"older, bare":         {older, []cell.Layer{cell.Landlock}, opensNothing},
		"older, names nobody": {policy.Policy{Isolation: policy.Strict}, cell.Every(), "none but its own loopback"},
	} {
		if got := strings.Join(Reachable(row.policy, row.layers), "|"); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestSummed(t *testing.T) {
	for want, tally := range map[string]record.Tally{
		"0 allowed, 0 refused":                                      {},
		"0 allowed, 0 refused, 2 names looked up":                   {Resolved: 2},
		"0 allowed, 3 refused, 1 name looked up":                    {Refused: 3, Resolved: 1},
		"1 allowed, 0 refused, 2 failed, 1 other name looked up":    {Allowed: 1, Failed: 2, Resolved: 1},
		"1 allowed, 2 refused; 1 line of the record cannot be read": {Allowed: 1, Refused: 2, Damaged: 1},
	} {
		if got := Summed(tally); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A journal from before there were digests says nothing of the file, and one that has
// the same says that it is that.
func TestAltered(t *testing.T) {
	s, w := recordOf(t)
	for name, net := range map[string]*record.Tally{"nothing": nil, "no digest": {Refused: 1}, "the same": {Digest: "d"}} {
		w.Net = net
		if altered, err := s.Altered(t.Context(), w, record.Tally{Digest: "d"}); altered || err != nil {
			t.Errorf("%s: %v %v", name, altered, err)
		}
	}
}
