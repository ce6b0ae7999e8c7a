package launch

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// recordStream records what the client's own stream says, held against what its hooks said.
func recordStream(s *worksite.Site, w *ledger.Worker, o *clientSetup, out *stream.Writer, limited bool) error {
	return recordSummary(s, w, o.adapter.Name, out, o.life.heard(), limited)
}

// recordSummary does, for a client of which this was decided. Without a stream it was an
// interactive one.
func recordSummary(s *worksite.Site, w *ledger.Worker, name client.Name, out *stream.Writer, decided []stream.Decision, limited bool) error {
	var d ledger.Stream
	if out == nil {
		d.Interactive, d.Why = true, "an interactive client prints no stream, so only the decisions of its hooks are known"
		d.Calls = len(decided)
		return s.Append(w.ID, ledger.Summed, d)
	}
	said := out.Summary()
	d = streamRecord(said)
	d.Limited = limited
	gap, why := stream.Gap(name, clients.Stream(name), said, decided)
	d.Gap, d.Why = worksite.Capped(gap), why
	if len(gap) > 0 {
		s.Voice.Step(w.ID, "guard", fmt.Sprintf("%s ran without a hook decision: %s", worksite.Count(len(gap), "tool call"), strings.Join(d.Gap, ", ")))
	}
	return s.Append(w.ID, ledger.Summed, d)
}

// GuardDoubts are the reasons not to believe that an agent was under its guard. Release is
// the operator's word over them.
func GuardDoubts(s *worksite.Site, w *ledger.Worker) []string {
	if w.Agent == nil || w.Wiring == nil {
		return nil
	}
	return append(w.AllDoubts(), changedWiring(s, w)...)
}

// changedWiring compares what registered the guard with what it was at the launch.
func changedWiring(s *worksite.Site, w *ledger.Worker) []string {
	dir := s.State.Post(string(w.ID))
	names := []string{binaryFile}
	sums := map[string]string{binaryFile: w.Wiring.Guard}
	for name, sum := range w.Wiring.Files {
		names, sums[name] = append(names, name), sum
	}
	sort.Strings(names)
	var list []string
	for _, name := range names {
		sumOf := state.SumOf
		if name == binaryFile {
			sumOf = func(at string) (string, error) { return guardSum(s, at) }
		}
		if now, err := sumOf(filepath.Join(dir, filepath.FromSlash(name))); err != nil || now != sums[name] {
			list = append(list, fmt.Sprintf("guard file %s changed after the client started", name))
		}
	}
	return list
}
