package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"cordon/internal/egress/target"
	"cordon/internal/reach"
)

// missingError is that of a name that does not exist, or has no address.
type missingError struct{ name string }

func (e *missingError) Error() string { return e.name + ": no such name" }

// lookupError is that of a name that could not be looked up. Its words leave out
// whom this machine asked, and from which port: a worker reads them, and what is the
// same is to be counted as the same.
type lookupError struct {
	name string
	err  error
}

func (e *lookupError) Unwrap() error { return e.err }

func (e *lookupError) Error() string {
	var dns *net.DNSError
	known := errors.As(e.err, &dns)
	switch {
	case IsTimeout(e.err), known && dns.IsTimeout:
		return "resolving " + e.name + ": no answer in time"
	case known:
		return "resolving " + e.name + ": the name servers have no answer"
	}
	return "resolving " + e.name + ": " + e.err.Error()
}

// Resolver finds the real addresses of the names of a lease, and those among them
// that may be dialled. It asks for no other name: what is asked for leaves this
// machine.
type Resolver struct {
	reach   reach.Reach
	out     Outside
	lookups lookups
	Asking  func(name string) // is told of each name that is asked for outside; nil: nobody is
}

// Outside is the world beyond the cell, as far as names go.
type Outside interface {
	// Lookup is the addresses of a name, as this machine resolves it now.
	Lookup(ctx context.Context, name string) ([]netip.Addr, error)
	// Own reports whether an address is one of this machine's.
	Own(a netip.Addr) bool
}

// NewResolver makes a resolver for the names that reach knows.
func NewResolver(reach reach.Reach, out Outside) *Resolver {
	r := &Resolver{reach: reach, out: out}
	r.lookups.find = r.find
	return r
}

// exists reports whether a name has addresses, be they such as may be dialled or
// not: who dials is told why not.
func (r *Resolver) exists(ctx context.Context, name string) (bool, error) {
	addrs, err := r.lookup(ctx, name)
	return len(addrs) > 0, err
}

// Addresses are those of a name that may be dialled. A *target.RefusedError says that there
// are others only, a *missingError that there are none.
func (r *Resolver) Addresses(ctx context.Context, name string, port uint16) ([]netip.Addr, error) {
	addrs, err := r.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, &missingError{name}
	}
	var good []netip.Addr
	var first error
	for _, a := range addrs {
		err := r.check(name, a, port)
		if err == nil {
			good = append(good, a)
		} else if first == nil {
			first = err
		}
	}
	if len(good) == 0 {
		return nil, first
	}
	return good, nil
}

// check says why an address behind a name must not be dialled. It is asked each
// time, since what is this machine's own changes.
func (r *Resolver) check(name string, a netip.Addr, port uint16) error {
	refused := func(format string, args ...any) error {
		return &target.RefusedError{Why: fmt.Sprintf("%s resolves to %s, which is ", name, a) + fmt.Sprintf(format, args...)}
	}
	switch {
	case a.IsLoopback(), a.IsUnspecified():
		return refused("this machine itself; a service of this machine is reached by network.host_ports")
	case a.IsMulticast(), a.Zone() != "":
		return refused("not the address of a single machine")
	case r.out.Own(a) && !r.reach.PinsAddr(a, port):
		return refused("this machine's own; a service of this machine is reached by network.host_ports")
	case r.reach.NamesAddr(a, port):
		return nil
	case target.MeansName(a):
		return refused("in the network from which cordon gives names their addresses")
	case !reach.Public(a):
		return &target.RefusedError{Why: fmt.Sprintf("%s resolves to %s, which is not public", name, a), Allow: target.EntryForAddress(a, port)}
	}
	return nil
}

// Forget drops what was found, so that each name is looked up again.
func (r *Resolver) Forget() { r.lookups.clear() }

func (r *Resolver) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if !r.reach.KnowsName(name) {
		return nil, &target.RefusedError{Why: name + " is not in network.allowed_domains"}
	}
	return r.lookups.get(ctx, name)
}

// addressRoom is how many addresses of a name are looked at.
const addressRoom = 64

// find asks the outside. A name without addresses is no error here.
func (r *Resolver) find(ctx context.Context, name string) ([]netip.Addr, error) {
	if r.Asking != nil {
		r.Asking(name)
	}
	found, err := r.out.Lookup(ctx, name)
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, &lookupError{name, err}
	}
	var addrs []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); a.IsValid() && !slices.Contains(addrs, a) && len(addrs) < addressRoom {
			addrs = append(addrs, a)
		}
	}
	if len(found) > 0 && len(addrs) == 0 {
		return nil, fmt.Errorf("resolving %s: no valid address", name)
	}
	return addrs, nil
}

// lookupTime is how long a name may take, with the wait for its turn.
const lookupTime = 10 * time.Second

// IsTimeout reports whether the other side was too slow.
func IsTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// IsLookup reports whether a name could not be resolved.
func IsLookup(err error) bool {
	var missing *missingError
	var dns *net.DNSError
	return errors.As(err, &missing) || errors.As(err, &dns)
}
