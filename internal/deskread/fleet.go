package deskread

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/companion"
	"cordon/internal/errand"
	"cordon/internal/gitfile"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/view"
)

// HasFleet reports whether the repository is the home of a fleet.
func HasFleet(s *session.Session) bool {
	_, err := os.Lstat(filepath.Join(s.State.Path(), "fleet", "key"))
	return err == nil
}

// patience is how long cordon-fleet may take.
const patience = 10 * time.Second

// FleetOf asks the program that has the engine of a fleet for its nodes, as cordon fleet ls does.
func FleetOf(ctx context.Context, s *session.Session) (*view.Fleet, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	written := append(state.Written(), gitfile.CheckoutsAround(s.Host.Top)...)
	program, err := companion.Find(self, companion.Fleet, written)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	ask := errand.Errand{Argv: []string{companion.Fleet, "ls", "--json"}, File: program, Dir: s.Host.Top, Written: written, Limit: patience, Answer: &text}
	if r := ask.Run(ctx); !r.OK() {
		return nil, fmt.Errorf("cordon fleet ls %s: %s", r.How(), strings.TrimSpace(r.Tail))
	}
	var f view.Fleet
	if err := json.Unmarshal(text.Bytes(), &f); err != nil {
		return nil, fmt.Errorf("cordon fleet ls: %w", err)
	}
	return &f, nil
}
