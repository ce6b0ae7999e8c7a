package visitor

import (
	"errors"
	"slices"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/publish"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Published are the published ports of a running worker with new addresses for the browser:
// that of one port, or of all if it is 0.
func Published(s *worksite.Site, w *ledger.Worker, port int) ([]publish.Port, error) {
	ports := cellnet.Published(w.Lease.Lease().Policy)
	switch {
	case ports == "":
		return nil, fault.Refuse("%s publishes no port: network.publish in the policy of a new run does that", w.ID)
	case port > 0 && !slices.Contains(w.Lease.Lease().Policy.Network.Publish, port):
		return nil, fault.Refuse("%s does not publish port %d: its lease names %s (network.publish)", w.ID, port, ports)
	}
	list, err := publish.Ask(s.State.Worker(string(w.ID)), port)
	if errors.Is(err, publish.ErrNone) {
		return nil, fault.Refuse("%s %s", w.ID, unpublished(s, w))
	}
	return list, err
}

// unpublished says why the ports of a worker cannot be reached.
func unpublished(s *worksite.Site, w *ledger.Worker) string {
	held := s.State.Held(state.WorkerLock(string(w.ID)))
	switch {
	case held && (w.Start == nil || w.Exit != nil):
		return "is not running now: another cordon command is working on it"
	case held && !slices.Contains(w.Start.Layers, cell.Namespaces):
		return "runs without a network of its own: its ports are those of this machine, and everybody on it can reach them"
	case held:
		return "publishes nothing now"
	case w.Start != nil && w.Exit == nil:
		return "is not running: its supervisor exited (cordon resume " + string(w.ID) + " continues it)"
	}
	return "is not running: its ports were published while it ran"
}
