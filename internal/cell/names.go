package cell

import (
	"context"
	"os"

	"cordon/internal/cell/host"
	"cordon/internal/cell/limit"
	"cordon/internal/cell/plan"
	"cordon/internal/cell/terminal"
)

// Callers of this package import none of those below it. These are the names of the
// parts that they need.
type (
	// Order is what a caller wants of a cell.
	Order = plan.Order
	// Trial is a command that runs in a cell before the worker.
	Trial = plan.Trial
	// Bind shows a directory or a file of the host at another place, or at its own.
	Bind = plan.Bind
	// Over is a directory that is put together and copied on write.
	Over = plan.Over
	// Net is a network for a cell.
	Net = plan.Net
	// Limits bound what a cell may use.
	Limits = plan.Limits
	// Counting is how a limit on memory is held.
	Counting = plan.Counting
	// Spec is a cell as a value.
	Spec = plan.Spec
	// PrivateLayer is one directory that a worker writes privately.
	PrivateLayer = plan.PrivateLayer
	// Purpose is what a private layer is for.
	Purpose = plan.Purpose

	// Layer is one layer of confinement.
	Layer = plan.Layer
	// Missing is a layer that could not be put up, why, and what would help.
	Missing = plan.Missing
	// MissingError is a layer that a strict cell cannot do without.
	MissingError = plan.MissingError
	// Restriction is something around this program that keeps it from building a cell.
	Restriction = host.Restriction

	// Screen is the terminal of a worker, for others to join.
	Screen = terminal.Screen
	// Parting is how a terminal came to be no longer joined.
	Parting = terminal.Parting
	// NotAdmittedError is why a cell did not let a visitor in.
	NotAdmittedError = terminal.NotAdmittedError
)

// The layers.
const (
	Namespaces = plan.Namespaces
	CopyView   = plan.CopyView
	Landlock   = plan.Landlock
	Seccomp    = plan.Seccomp
	Network    = plan.Network
)

// The purposes of private layers.
const (
	HomeLayer    = plan.HomeLayer
	OutsideLayer = plan.OutsideLayer
)

// How a limit on memory is held.
const (
	NotCounted = plan.NotCounted
	ByGroup    = plan.ByGroup
)

// How a terminal came to be no longer joined.
const (
	Behind   = terminal.Behind
	Detached = terminal.Detached
	Finished = terminal.Finished
)

// ErrNoScreen says that no worker shows its terminal at a place.
var ErrNoScreen = terminal.ErrNoScreen

// Every is what a strict cell without a network is made of.
func Every() []Layer { return plan.Every() }

// PurposeOf tells from the name of a private layer what it is for; "" is scratch, or no layer.
func PurposeOf(name string) Purpose { return plan.PurposeOf(name) }

// HomePart is the private layer of a directory of the home, by its name in that.
func HomePart(name string) string { return plan.HomePart(name) }

// MachineMemory is how much memory this process and its children can have at most.
func MachineMemory() (int64, error) { return limit.MachineMemory() }

// SpareMemory is how much memory new processes can have now.
func SpareMemory() int64 { return limit.SpareMemory() }

// Container names the container runtime around this program; "": none was seen.
func Container() string { return host.Container() }

// VolumeLine says how a container is given a volume for a directory.
func VolumeLine(dir string) string { return host.VolumeLine(dir) }

// Restrictions lists what keeps a cell from being built here.
func Restrictions() []Restriction { return host.Restrictions() }

// NewScreen makes a screen that others can join, around a terminal or without one.
func NewScreen(tty *os.File) (*Screen, error) { return terminal.NewScreen(tty) }

// Join shows a worker's screen on a terminal, and calls begun when it is joined.
func Join(ctx context.Context, dir string, tty *os.File, begun func()) (Parting, error) {
	return terminal.Join(ctx, dir, tty, begun)
}
