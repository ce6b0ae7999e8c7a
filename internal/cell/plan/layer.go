package plan

import (
	"fmt"
	"slices"
)

// Layer is one layer of confinement. A layer counts only when it was proven for
// this launch.
type Layer string

// The layers, from the outside in. The strict cell has all of them.
const (
	Namespaces Layer = "namespaces" // user, mount, pid, ipc, uts, cgroup, net; own /proc, /dev, /tmp, /run
	CopyView   Layer = "overlay"    // the host's files through overlayfs, home copied on write
	Landlock   Layer = "landlock"
	Seccomp    Layer = "seccomp"

	// Network is in a cell that has one which every program finds by itself.
	Network Layer = "network"
)

// Every is what a strict cell without a network is made of, in the order in which
// it is put up.
func Every() []Layer { return []Layer{Namespaces, CopyView, Landlock, Seccomp} }

// layers are those of an order, but for some.
func layers(o Order, without []Layer) []Layer {
	var list []Layer
	bare := slices.Contains(without, Namespaces)
	for _, l := range Every() {
		if !slices.Contains(without, l) && !(l == CopyView && bare) {
			list = append(list, l)
		}
		if l == Namespaces && !bare && o.Net != nil && o.Net.Anywhere && !slices.Contains(without, Network) {
			list = append(list, Network)
		}
	}
	return list
}

// Missing is a layer that could not be put up, why, and what would help.
type Missing struct {
	Layer Layer  `json:"layer"`
	Why   string `json:"why"`
	Means string `json:"means"` // what is not held without it
	Fix   string `json:"fix,omitempty"`
}

func (m Missing) String() string {
	text := fmt.Sprintf("without %s (%s): %s", m.Layer, m.Why, m.Means)
	if m.Fix != "" {
		text += "; to fix it: " + m.Fix
	}
	return text
}

// NotHeldWithout says what a cell does not hold without a layer.
var NotHeldWithout = map[Layer]string{
	Namespaces: "the worker sees the host's processes, sockets and devices, can change modes and times of your files, and UDP is not stopped",
	CopyView:   "the home directory is empty, sockets made after the launch can be reached, and writes elsewhere cannot be captured",
	Landlock:   "there is no second wall behind the mounts",
	Seccomp:    "the kernel's whole system call surface can be reached",
	Network:    "programs that ignore proxy variables reach nothing",
}

// MissingError is a layer that a strict cell cannot do without.
type MissingError struct{ Missing }

func (e *MissingError) Error() string {
	text := fmt.Sprintf("the cell is weaker than isolation: strict promises: no %s here (%s)", e.Layer, e.Why)
	if e.Means == "" { // nothing would be left
		text = fmt.Sprintf("no cell can be made here: no %s (%s)", e.Layer, e.Why)
	}
	if e.Fix != "" {
		text += "\nto fix it: " + e.Fix
	}
	if e.Means == "" {
		return text
	}
	return text + "\nto run without it: set isolation: degraded in the policy; cordon then reports what is missing"
}

// LayerError says which layer a failure in building the cell belongs to.
type LayerError struct {
	Layer Layer
	Err   error
}

func (e *LayerError) Error() string { return fmt.Sprintf("%s: %v", e.Layer, e.Err) }
func (e *LayerError) Unwrap() error { return e.Err }
