package worksite

import (
	"errors"
	"io/fs"
	"os"

	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// serversFile holds the MCP servers that the operator named for a worker. They may hold keys, so that
// the journal, which is shown and kept for long, does not have them.
const (
	serversFile = "mcp.json"
	maxServers  = 1 << 20
)

// KeepServers keeps the MCP servers of a worker for its launches. Without any it does nothing.
func (s *Site) KeepServers(id lease.ID, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.State.Worker(string(id)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.WorkerFile(id, serversFile), text, 0o600)
}

// Servers are the MCP servers that the operator named for a worker.
func (s *Site) Servers(w *ledger.Worker) ([]byte, error) {
	if !w.Agent.Kept {
		return w.Agent.Servers, nil
	}
	text, err := plainfile.Read(s.WorkerFile(w.ID, serversFile), maxServers)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Refuse("the MCP servers that were given to %s with --mcp are no longer there: start a new worker", w.ID)
	}
	return text, err
}
