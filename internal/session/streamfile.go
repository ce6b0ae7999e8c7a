package session

import (
	"os"

	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// streamFile is what an agent client printed about its own work, as it printed it.
const streamFile = "stream"

// StreamFile opens the stream of a worker's client. A worker that was no agent
// client, or an interactive one, has none.
func (s *Session) StreamFile(w *ledger.Worker) (*os.File, error) {
	return plainfile.Open(s.workerFile(w.ID, streamFile), os.O_RDONLY)
}
