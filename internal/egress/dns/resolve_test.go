package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cordon/internal/egress/target"
	"cordon/internal/policy"
	"cordon/internal/reach"
)

// zone is an outside that resolves names from a function, and counts.
type zone struct {
	find func(ctx context.Context, name string) ([]netip.Addr, error)
	own  netip.Addr

	asked atomic.Int64
	now   atomic.Int64
	most  atomic.Int64
}

func (z *zone) Lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	z.asked.Add(1)
	if now := z.now.Add(1); now > z.most.Load() {
		z.most.Store(now)
	}
	defer z.now.Add(-1)
	return z.find(ctx, name)
}

func (z *zone) Dial(context.Context, netip.AddrPort) (net.Conn, error) {
	return nil, errors.New("not dialled here")
}

func (z *zone) Own(a netip.Addr) bool { return a == z.own }

// always resolves every name to the same.
func always(addrs ...string) *zone {
	return &zone{find: func(context.Context, string) ([]netip.Addr, error) { return parseAll(addrs), nil }}
}

func parseAll(texts []string) []netip.Addr {
	var list []netip.Addr
	for _, s := range texts {
		list = append(list, netip.MustParseAddr(s))
	}
	return list
}

func reachOf(t testing.TB, domains ...string) reach.Reach {
	t.Helper()
	r, err := policy.Network{AllowedDomains: domains}.Reach()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func noSuchHost(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

const publicAddr = "93.184.216.34"

func TestResolverChecks(t *testing.T) {
	for _, c := range []struct {
		name     string
		resolved []string
		want     []string
		why      string
	}{
		{"public", []string{publicAddr, "2606:2800:220:1::1"}, []string{publicAddr, "2606:2800:220:1::1"}, ""},
		{"twice, and mapped", []string{publicAddr, "::ffff:" + publicAddr, publicAddr}, []string{publicAddr}, ""},
		{"some good", []string{"10.0.0.5", publicAddr, "127.0.0.1"}, []string{publicAddr}, ""},
		{"private", []string{"10.0.0.5"}, nil, "a.example resolves to 10.0.0.5, which is not public."},
		{"private, mapped", []string{"::ffff:10.0.0.5"}, nil, "which is not public."},
		{"named", []string{"10.9.1.2"}, []string{"10.9.1.2"}, ""},
		{"named, and own", []string{"10.9.0.1"}, []string{"10.9.0.1"}, ""},
		{"own", []string{"93.184.216.99"}, nil, "network.host_ports"},
		{"loopback", []string{"127.0.0.1", "::1"}, nil, "network.host_ports"},
		{"loopback, mapped", []string{"::ffff:127.0.0.1"}, nil, "network.host_ports"},
		{"unspecified", []string{"0.0.0.0", "::"}, nil, "network.host_ports"},
		{"this network", []string{"0.1.2.3"}, nil, "not public"},
		{"metadata", []string{"169.254.169.254"}, nil, "a.example resolves to 169.254.169.254, which is not public."},
		{"metadata of IPv6", []string{"fd00:ec2::254"}, nil, "which is not public."},
		{"metadata, translated", []string{"64:ff9b::169.254.169.254"}, nil, "which is not public."},
		{"metadata, by 6to4", []string{"2002:a9fe:a9fe::1"}, nil, "which is not public."},
		{"translated", []string{"64:ff9b::a00:5"}, nil, "not public"},
		{"multicast", []string{"224.0.0.251", "ff02::1"}, nil, "not the address of a single machine"},
		{"zone", []string{"fe80::1%eth0", "2606:2800:220:1::1%eth0"}, nil, "not the address of a single machine"},
		{"of the book", []string{"198.18.0.7"}, nil, "cordon gives names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := always(c.resolved...)
			out.own = netip.MustParseAddr("93.184.216.99")
			r := NewResolver(reachOf(t, "a.example", "10.9.0.0/16", "0.0.0.0/0", "::/0"), out)
			got, err := r.Addresses(t.Context(), "a.example", 443)
			if !slices.Equal(got, parseAll(c.want)) {
				t.Errorf("got %v, %v", got, err)
			}
			var refused *target.RefusedError
			if c.why != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Why+".", c.why)) || c.why == "" && err != nil {
				t.Errorf("the reason is %v", err)
			}
			// A private network is suggested, what is never meant is not.
			if private := strings.HasPrefix(c.name, "private") || c.name == "translated"; refused != nil && (refused.Allow != "") != private {
				t.Errorf("suggested is %q", refused.Allow)
			}
			if ok, err := r.exists(t.Context(), "a.example"); !ok || err != nil {
				t.Errorf("it does not exist: %v", err)
			}
		})
	}
}

func TestResolverFailures(t *testing.T) {
	broken := errors.New("server misbehaving")
	out := &zone{find: func(_ context.Context, name string) ([]netip.Addr, error) {
		switch name {
		case "missing.example":
			return nil, noSuchHost(name)
		case "empty.example":
			return nil, nil
		case "invalid.example":
			return []netip.Addr{{}}, nil
		}
		return parseAll([]string{publicAddr}), broken
	}}
	r := NewResolver(reachOf(t, "missing.example", "empty.example", "invalid.example", "broken.example"), out)
	for _, name := range []string{"missing.example", "empty.example"} {
		var missing *missingError
		if a, err := r.Addresses(t.Context(), name, 443); !errors.As(err, &missing) || a != nil {
			t.Errorf("%s: %v, %v", name, a, err)
		}
		if ok, err := r.exists(t.Context(), name); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	for _, name := range []string{"broken.example", "invalid.example"} {
		if ok, err := r.exists(t.Context(), name); ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if a, err := r.Addresses(t.Context(), name, 443); a != nil || err == nil || name == "broken.example" && !errors.Is(err, broken) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

// A name that the lease does not have is not asked for, by whatever way.
func TestResolverAsksForNoOther(t *testing.T) {
	out := always(publicAddr)
	r := NewResolver(reachOf(t, "*.a.example"), out)
	for _, name := range []string{"a.example", "b.example", "xa.example", "x.a.example.", "", "."} {
		var refused *target.RefusedError
		if _, err := r.Addresses(t.Context(), name, 443); !errors.As(err, &refused) {
			t.Errorf("%q: %v", name, err)
		}
		if ok, err := r.exists(t.Context(), name); ok || !errors.As(err, &refused) {
			t.Errorf("%q: %v, %v", name, ok, err)
		}
	}
	if n := out.asked.Load(); n != 0 {
		t.Errorf("%d names were asked for", n)
	}
	if _, err := r.Addresses(t.Context(), "x.a.example", 443); err != nil || out.asked.Load() != 1 {
		t.Errorf("one of the lease: %v", err)
	}
}

// A name that was public and turns to a private address is refused from then on.
func TestResolverRebinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &zone{}
		out.find = func(context.Context, string) ([]netip.Addr, error) {
			if out.asked.Load() == 1 {
				return parseAll([]string{publicAddr}), nil
			}
			return parseAll([]string{"169.254.169.254"}), nil
		}
		r := NewResolver(reachOf(t, "a.example"), out)
		for range 3 { // and what was found is kept for a moment
			if got, err := r.Addresses(t.Context(), "a.example", 443); err != nil || len(got) != 1 || got[0].String() != publicAddr {
				t.Fatalf("first: %v, %v", got, err)
			}
		}
		if n := out.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(foundFor)
		var refused *target.RefusedError
		if got, err := r.Addresses(t.Context(), "a.example", 443); !errors.As(err, &refused) || got != nil {
			t.Fatalf("then: %v, %v", got, err)
		}
	})
}

func TestResolverAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &zone{find: func(context.Context, string) ([]netip.Addr, error) {
			time.Sleep(time.Second)
			return parseAll([]string{publicAddr}), nil
		}}
		r := NewResolver(reachOf(t, "a.example"), out)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if _, err := r.Addresses(t.Context(), "a.example", 443); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := out.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// Names that never resolve end in time, also where the outside does not heed it, and
// those that wait behind them get their turn.
func TestResolverFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		out := &zone{find: func(ctx context.Context, name string) ([]netip.Addr, error) {
			if strings.HasPrefix(name, "deaf") {
				<-stuck
			}
			if !strings.HasPrefix(name, "good") {
				<-ctx.Done()
			}
			return parseAll([]string{publicAddr}), ctx.Err()
		}}
		r := NewResolver(reachOf(t, "*.a.example"), out)
		begin := time.Now()
		var wg sync.WaitGroup
		var busy, late atomic.Int64
		ask := func(name string) {
			wg.Go(func() {
				switch _, err := r.Addresses(t.Context(), name, 443); {
				case errors.Is(err, errBusy):
					busy.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					late.Add(1)
				default:
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		for i := range 8 {
			ask(fmt.Sprintf("deaf%d.a.example", i))
		}
		for i := range 1000 {
			ask(fmt.Sprintf("slow%d.a.example", i))
		}
		wg.Wait()
		if d := time.Since(begin); d > lookupTime+time.Second {
			t.Errorf("it took %s", d)
		}
		if busy.Load() != 1008-lookupsAtOnce-lookupsWaiting || out.most.Load() > lookupsAtOnce {
			t.Errorf("%d busy, %d late, %d at once", busy.Load(), late.Load(), out.most.Load())
		}
		if _, err := r.Addresses(t.Context(), "good.a.example", 443); err != nil {
			t.Errorf("after the flood: %v", err)
		}
		close(stuck)
		synctest.Wait()
		if len(r.lookups.running) != 0 || len(r.lookups.turns) != 0 {
			t.Errorf("%d are left", len(r.lookups.running))
		}
	})
}

// The last who waits takes the lookup along.
func TestResolverGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &zone{find: func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := NewResolver(reachOf(t, "a.example"), out)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := r.exists(ctx, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
			synctest.Wait()
			if n := out.now.Load(); n != 0 {
				t.Errorf("%d go on", n)
			}
		}
		if n := out.asked.Load(); n != 3 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestResolverForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewResolver(reachOf(t, "*.a.example"), always(publicAddr))
		for i := range 3 * foundRoom {
			if ok, err := r.exists(t.Context(), fmt.Sprintf("n%d.a.example", i)); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if len(r.lookups.found) > foundRoom {
				t.Fatalf("%d are kept", len(r.lookups.found))
			}
		}
	})
}

func TestResolverManyAddresses(t *testing.T) {
	out := &zone{find: func(context.Context, string) ([]netip.Addr, error) {
		var list []netip.Addr
		for i := range 4000 {
			list = append(list, netip.AddrFrom4([4]byte{93, 184, byte(i >> 8), byte(i)}))
		}
		return list, nil
	}}
	got, err := NewResolver(reachOf(t, "a.example"), out).Addresses(t.Context(), "a.example", 443)
	if err != nil || len(got) != addressRoom {
		t.Errorf("%d, %v", len(got), err)
	}
}

// What a failed lookup says is the same each time, and nothing of this machine.
func TestResolverWords(t *testing.T) {
	timeout := &net.DNSError{Err: "read udp 127.0.0.1:45678->127.0.0.53:53: i/o timeout", Name: "a.example.", Server: "127.0.0.53:53", IsTimeout: true}
	for want, err := range map[string]error{
		"resolving a.example: no answer in time":               timeout,
		"resolving a.example: the name servers have no answer": &net.DNSError{Err: "server misbehaving", Name: "a.example.", Server: "127.0.0.53:53"},
	} {
		out := &zone{find: func(context.Context, string) ([]netip.Addr, error) { return nil, err }}
		_, got := NewResolver(reachOf(t, "a.example"), out).Addresses(t.Context(), "a.example", 443)
		if got == nil || got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
