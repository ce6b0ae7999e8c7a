package launch

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/post"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// recordLostStream holds the stream of a launch that nobody saw end against what its hooks
// decided, as both were kept until then.
func recordLostStream(s *worksite.Site, w *ledger.Worker) error {
	if w.Start == nil || !w.Start.Agent || w.Stream != nil || w.Wiring == nil {
		return nil
	}
	name := client.Name(w.Wiring.Client)
	out := stream.NewWriter(clients.Stream(name), io.Discard, io.Discard)
	f, err := s.StreamFile(w)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out = nil // an interactive one
	case err != nil:
		return err
	default:
		defer f.Close()
		if _, err := f.Seek(w.Wiring.Stream, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(out, f); err != nil {
			return err
		}
		out.Close()
	}
	var decided []stream.Decision
	_, err = s.DecisionsOf(w.ID, func(r guard.Record) {
		if r.Event == "" && !r.Time.Before(w.StartTime) {
			decided = append(decided, decisionOf(r))
		}
	})
	if err != nil {
		return err
	}
	return recordSummary(s, w, name, out, decided, false)
}

// decisionOf is what a hook said, as it is held against a stream.
func decisionOf(r guard.Record) stream.Decision {
	votes := strings.HasPrefix(r.Input, "cordon "+post.Review+" ") || strings.HasPrefix(r.Input, "cordon "+post.Truth+" ")
	return stream.Decision{Call: r.Call, Tool: r.Tool, Allowed: r.Verdict == guard.Allow || r.Warned, Votes: votes}
}
