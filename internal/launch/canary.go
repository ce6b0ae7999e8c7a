package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cordon/internal/cell"
	"cordon/internal/client"
	"cordon/internal/fault"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// prepareCanary makes the cell of a client try its guard before the client's first
// instruction, as the client would, with a call that must be denied. It shows that the
// guard, its warrant and the way to here are in that cell, and that a denial is one.
// Without a cell the guard is tried at once.
func prepareCanary(ctx context.Context, w *ledger.Worker, r *equipment, c *cell.Command) error {
	o := r.agent
	input, err := json.Marshal(o.adapter.Dialect.Canary(canaryCall, w.Lease.Lease().Worktree))
	if err != nil {
		return err
	}
	trial := cell.Trial{
		Argv:  []string{filepath.Join(r.dir, binaryFile), "hook", "--client", string(o.adapter.Name), "--lease", filepath.Join(r.dir, warrantFile)},
		Input: string(input),
	}
	o.life.beginTrial()
	if c.Cell != nil {
		c.Cell.Trial = &trial
		return nil
	}
	tried, err := tryAlone(ctx, *c, trial)
	if err != nil {
		return err
	}
	return judgeCanary(w.Lease.Lease().Policy.Guard.Mode, o, tried)
}

// tryAlone tries the guard of a client that no cell confines.
func tryAlone(ctx context.Context, like cell.Command, trial cell.Trial) (*cell.Tried, error) {
	const room = 64 << 10
	var said, out bytes.Buffer
	exit, err := cell.Run(ctx, cell.Command{
		Argv: trial.Argv, Dir: like.Dir, Env: like.Env, Limit: time.Minute, Stdin: bytes.NewReader([]byte(trial.Input)),
		Stdout: &worksite.Bounded{To: &out, Room: room}, Stderr: &worksite.Bounded{To: &said, Room: room},
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("the guard could not be tried: %w", err)
	}
	return &cell.Tried{Code: exit.Code, Stdout: out.Bytes(), Stderr: said.Bytes()}, nil
}

// judgeCanary refuses a client whose guard did not deny the canary. The guard has to say so
// twice: to the client, and to here.
func judgeCanary(mode policy.GuardMode, o *clientSetup, tried *cell.Tried) error {
	verdict := o.life.endTrial()
	if tried == nil {
		return errors.New("the guard was not tried in the cell")
	}
	if tried.Error != "" {
		return fmt.Errorf("the guard could not be tried in the cell: %s", tried.Error)
	}
	if mode.Warns() {
		if tried.Code == 0 && verdict == warnedOf {
			return nil
		}
	} else if o.adapter.Dialect.Refuses(client.Answer{Stdout: tried.Stdout, Stderr: tried.Stderr, Exit: tried.Code}) && verdict == string(guard.Deny) {
		return nil
	}
	return fault.Refuse("the guard was tried in the cell with a call that it must deny, but did not: it ended with %d, was heard to say %q and printed "+
		"%.200q", tried.Code, verdict, string(tried.Stderr)+string(tried.Stdout))
}
