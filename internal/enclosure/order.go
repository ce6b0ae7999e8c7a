package enclosure

import (
	"context"
	"os"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// WritableBind is where a shadow is seen in the cell.
func WritableBind(binds []cell.Bind) string {
	for _, b := range binds {
		if b.Write {
			return b.At
		}
	}
	return ""
}

// OrderFor completes an enclosure for a lease by rules that need not be its own. It is nil
// when the policy wants no cell.
func OrderFor(ctx context.Context, host git.Host, place state.Dir, l lease.Lease, rules policy.Rules, e Enclosure) (*cell.Order, error) {
	if l.Policy.Isolation == policy.None {
		return nil, nil
	}
	e.Policy, e.Rules, e.Home = l.Policy, rules, l.Home
	all, err := host.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	e.Host = HostPlaces(host, all)
	return CompleteOrder(e, host, place)
}

// CompleteOrder adds what every cell at a repository hides and shows: cordon's state, the
// files with which hiding is proven, and the host's objects. It makes the directory for
// private layers.
func CompleteOrder(e Enclosure, host git.Host, place state.Dir) (*cell.Order, error) {
	root, err := state.RealRoot()
	if err != nil {
		return nil, err
	}
	e.State = []string{root}
	e.Secret = []string{filepath.Join(place.Path(), journal.File), filepath.Join(host.Dir, "HEAD")}
	objects, err := ObjectBinds(host, place.Objects())
	if err != nil {
		return nil, err
	}
	e.Bind = append(e.Bind, objects...)
	if e.Layers != "" {
		if err := os.MkdirAll(e.Layers, 0o700); err != nil {
			return nil, err
		}
	}
	o, err := e.Order()
	return &o, err
}

// HostPlaces are the git directory and every checkout of the host.
func HostPlaces(host git.Host, all []git.Checkout) []string {
	list := []string{host.Dir, host.Top}
	for _, c := range all {
		list = append(list, c.Top, c.GitDir)
	}
	var real []string
	for _, p := range list {
		if r, err := filepath.EvalSymlinks(p); err == nil && p != "" {
			real = append(real, r)
		}
	}
	return real
}
