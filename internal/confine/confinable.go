package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// A machine that cannot run a cell is found out before a lease is written: a worker
// that never started helps nobody.

// ProveConfinable starts a cell with nothing in it, of the isolation that a policy asks
// for. It is tried once after each start of the machine, and again after a cell that
// did not start.
func ProveConfinable(ctx context.Context, s *worksite.Site, p policy.Policy) error {
	if p.Isolation == policy.None {
		return nil
	}
	known, mark := cellMark(s, p)
	if have, err := os.ReadFile(known); err == nil && mark != "" && string(have) == mark {
		return nil
	}
	dir, err := os.MkdirTemp("", "cordon-try-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // made just now, and nothing is written to it
	plain := policy.Default()
	plain.Isolation = p.Isolation
	c, ended, err := Exec(ctx, Execution{Dir: dir, Policy: plain, Trial: true, Argv: cell.Shell("exit 0")})
	if err != nil {
		return fmt.Errorf("no cell can be tried: %w", err)
	}
	defer ended(cell.Exit{})
	c.Stdout, c.Stderr = io.Discard, io.Discard
	exit, err := cell.Run(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && !exit.OK() {
		err = fmt.Errorf("the trial ended with %d, %s", exit.Code, exit.Reason)
	}
	if err != nil {
		var weak *cell.MissingError
		if !errors.As(err, &weak) {
			err = fmt.Errorf("no cell can be started on this machine, so nothing was leased: %w (cordon doctor says more)", err)
		}
		return &fault.RefusedError{Err: err}
	}
	_ = os.WriteFile(known, []byte(mark), 0o600) // it is tried again where this is refused
	return nil
}

// cellMark is the file that says that a cell was started, and what it says for a
// policy on this machine as it runs now.
func cellMark(s *worksite.Site, p policy.Policy) (file, mark string) {
	file = filepath.Join(s.State.Path(), "cells-start")
	boot := state.Boot()
	if boot == "" {
		return file, ""
	}
	return file, boot + string(p.Isolation)
}

// ForgetConfinable forgets that cells can be started: one was not.
func ForgetConfinable(s *worksite.Site, p policy.Policy) {
	file, _ := cellMark(s, p)
	_ = os.Remove(file) // if that fails, the next run skips its trial of a cell
}
