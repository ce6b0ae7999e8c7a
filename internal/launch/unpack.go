package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/agent"
	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/unpacked"
	"cordon/internal/worksite"
)

// unpackPatience is how long a client may take to unpack itself on a busy machine, and seedPatience how long it
// may take to make its first files: a worker can do without them.
const (
	unpackPatience = 5 * time.Minute
	seedPatience   = 20 * time.Second
)

// unpack returns the directory with the files that the client unpacks from its program, which the
// workers of the repository share or begin with; "" if this worker makes its own. Without a mount namespace
// nothing would keep a worker from writing what the next one runs.
func (o *clientSetup) unpack(ctx context.Context, s *worksite.Site, w *ledger.Worker, order agent.Order) (string, error) {
	how, program, version := o.adapter.Unpacks, order.Program, order.Version
	if how == nil || w.Lease.Lease().Policy.Isolation != policy.Strict {
		return "", nil
	}
	if how.Seeds != nil && order.Again { // its databases would not know of the conversation that goes on
		return "", nil
	}
	name, err := unpackedName(o.adapter, program, version)
	if err != nil {
		return "", err
	}
	patience := unpackPatience
	if how.Seeds != nil {
		patience = seedPatience
	}
	dir, release, err := unpacked.Store{State: s.State}.Use(ctx, name, func(dir string) error {
		began := time.Now()
		if _, err := runAlone(ctx, append([]string{program}, how.Args...), patience, how.Env(dir)...); err != nil {
			return err
		}
		if found, err := filepath.Glob(filepath.Join(dir, how.Has)); err != nil || len(found) == 0 {
			return fmt.Errorf("%s did not unpack itself", o.adapter.Name)
		}
		if how.Settle != nil { // if it fails, each worker does that for itself
			_, _ = runAlone(ctx, append([]string{program}, how.Settle...), patience, how.SettleEnv(dir)...)
		}
		then := "the next worker shares it"
		if how.Seeds != nil {
			then = "the next worker begins with a copy"
		}
		s.Voice.Step(w.ID, "client", fmt.Sprintf("unpacked %s %s, %.1f s; %s", o.adapter.Name, version, time.Since(began).Seconds(), then))
		return nil
	})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil { // it can work all the same
		s.Voice.Step(w.ID, "client", "cordon could not unpack it for all workers, so this one unpacks its own: "+fault.OneLine(err))
		return "", nil
	}
	o.release = release
	o.unpacked = dir
	for _, name := range how.Shown {
		if from := filepath.Join(dir, name); worksite.Exists(from) { // another version may not have it
			o.show = append(o.show, cell.Bind{From: from, At: filepath.Join(o.state, name)})
		}
	}
	if how.Seeds == nil {
		o.show = append(o.show, cell.Bind{From: dir, At: dir})
	}
	return dir, nil
}

// unpackedName is the name for what one program unpacks. Another program has another name, whatever its version.
func unpackedName(a *agent.Adapter, program string, version agent.Version) (string, error) {
	fi, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	args := [][]string{a.Unpacks.Args, a.Unpacks.Settle}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s %d %d %q", worksite.RealPath(program), fi.Size(), fi.ModTime().UnixNano(), args)))
	return fmt.Sprintf("%s-%s-%s", a.Name, version, hex.EncodeToString(sum[:6])), nil
}

// close lets go of what the client shares with others.
func (o *clientSetup) close() {
	if o == nil {
		return
	}
	_ = o.removeKeys() // said where the client ends
	if o.release != nil {
		o.release()
	}
}
