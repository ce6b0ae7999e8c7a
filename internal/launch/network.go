package launch

import (
	"errors"
	"slices"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/egress/record"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/publish"
	"cordon/internal/worksite"
)

// connect gives a command of a worker's lease its network: its own, and those of
// setup and acceptance. All of it is recorded as the worker's.
func connect(s *worksite.Site, c *cell.Command, l lease.Lease) error {
	n, err := cellnet.For(l.Policy)
	if err != nil || c.Cell == nil {
		return err
	}
	if n == nil {
		_, err := cellnet.JoinNothing(c, l.Policy, s.WorkerFile(l.ID, "etc"), func() {})
		return err
	}
	return n.Join(c, s.WorkerFile(l.ID, "etc"), func() (*record.Keeper, func(), error) {
		f, err := s.OpenNet(l.ID)
		if err != nil {
			return nil, nil, err
		}
		k := record.NewKeeper(f)
		return k, func() {
			if err := errors.Join(k.Close(), f.Close()); err != nil {
				s.Voice.Step(l.ID, "network", "not every attempt could be recorded: "+fault.OneLine(err))
			}
		}, nil
	})
}

// sayNetwork tells what a worker can reach.
func sayNetwork(s *worksite.Site, l lease.Lease, c ledger.Cell) {
	for _, line := range cellnet.Reachable(l.Policy, c.Layers) {
		s.Voice.Step(l.ID, "network", line)
	}
	if ports := cellnet.Published(l.Policy); ports != "" && !slices.Contains(c.Layers, cell.Namespaces) {
		s.Voice.Step(l.ID, "published", "nothing of "+ports+": without namespaces they are ports of this machine")
	}
}

// publishPorts lets the operator's browser reach servers of a worker while its command runs.
func publishPorts(s *worksite.Site, l lease.Lease, c *cell.Command) {
	cellnet.JoinPublished(c, l.Policy, string(l.ID), s.State.Worker(string(l.ID)), func(*publish.Site) {
		s.Voice.Step(l.ID, "published", cellnet.Published(l.Policy)+": cordon open "+string(l.ID)+" prints the address")
	})
}

// TriedSince is what a worker has tried to reach since it was looked at, or nil: what
// the journal says of all its launches, if that has changed.
func TriedSince(s *worksite.Site, before *ledger.Worker) *record.Tally {
	if n, err := cellnet.For(before.Lease.Lease().Policy); err != nil || n == nil {
		return nil
	}
	now, err := s.Find(string(before.ID))
	if err != nil || now.Net == nil || before.Net != nil && worksite.SameTally(*before.Net, *now.Net) {
		return nil
	}
	return now.Net
}
