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

// unpackPatience is how long a client may take to unpack itself on a busy machine.
const unpackPatience = 5 * time.Minute

// unpack returns the directory with the files that the client unpacks from its program, which the
// workers of the repository share; "" if this worker unpacks its own. Without a mount namespace nothing
// would keep a worker from writing what the next one runs.
func (o *clientSetup) unpack(ctx context.Context, s *worksite.Site, w *ledger.Worker, program string, version agent.Version) (string, error) {
	how := o.adapter.Unpacks
	if how == nil || w.Lease.Lease().Policy.Isolation != policy.Strict {
		return "", nil
	}
	name, err := unpackedName(o.adapter, program, version)
	if err != nil {
		return "", err
	}
	dir, release, err := unpacked.Store{State: s.State}.Use(ctx, name, func(dir string) error {
		began := time.Now()
		if _, err := runAlone(ctx, append([]string{program}, how.Args...), unpackPatience, how.Env(dir)...); err != nil {
			return err
		}
		if found, err := filepath.Glob(filepath.Join(dir, how.Has)); err != nil || len(found) == 0 {
			return fmt.Errorf("%s did not unpack itself", o.adapter.Name)
		}
		if how.Compile != nil { // that takes a worker longer than to read it; if it fails, each compiles for itself
			_, _ = runAlone(ctx, append([]string{program}, how.Compile...), unpackPatience, how.CompileEnv(dir)...)
		}
		s.Voice.Step(w.ID, "client", fmt.Sprintf("unpacked %s %s, %.1f s; the next worker shares it", o.adapter.Name, version, time.Since(began).Seconds()))
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
	o.show = append(o.show, cell.Bind{From: dir, At: dir})
	return dir, nil
}

// unpackedName is the name for what one program unpacks. Another program has another name, whatever its version.
func unpackedName(a *agent.Adapter, program string, version agent.Version) (string, error) {
	fi, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s %d %d %q", worksite.RealPath(program), fi.Size(), fi.ModTime().UnixNano(), a.Unpacks.Compile)))
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
