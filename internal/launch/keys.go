package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cordon/internal/agent"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/gitfile"
	"cordon/internal/keyhelper"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// keysDir holds the answers of the operator's key helpers, in the directory that the worker
// sees and cannot write.
const keysDir = "keys"

// askForKeys runs the commands with which the operator's own client would get a key, before
// there is a cell. A key is a login: a policy that gives none gives no key.
func (o *clientSetup) askForKeys(ctx context.Context, s *worksite.Site, w *ledger.Worker, order *agent.Order, dir string) error {
	l := w.Lease.Lease()
	if o.adapter.KeyCommands == nil || !l.Policy.Agent.Login.Given() {
		return nil
	}
	commands, err := keyCommands(o.adapter, l, *order)
	if err != nil || len(commands) == 0 {
		return err
	}
	for _, c := range commands {
		s.Voice.Step(w.ID, "login", "asking "+c.Noun+" for a key")
	}
	at := func(file string) string { return enclosure.KeptAt(l.Home, file) }
	if o.keys, err = keyhelper.Ask(ctx, commands, writtenTrees(s, l), at); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fault.Refuse("%w, so %s would not be logged in: run the command in a terminal to see why, or %s", err, o.adapter.Name, o.adapter.SignIn)
	}
	order.Keys, order.KeyEvery = o.keys.Files(filepath.Join(dir, keysDir)), o.keys.Every()
	return nil
}

// keyCommands are those of the operator's own files, variables and machine.
func keyCommands(a *agent.Adapter, l lease.Lease, order agent.Order) ([]agent.KeyCommand, error) {
	files, err := ownFiles(a.KeyFiles, l)
	if err != nil {
		return nil, err
	}
	return a.KeyCommands(agent.KeySources{Files: files, Machine: order.Machine, Args: order.Args, Variable: os.Getenv})
}

// writtenTrees are the directories in which workers and landings write.
func writtenTrees(s *worksite.Site, l lease.Lease) []string {
	trees := append(state.Written(), l.Worktree)
	if s.Host.Top != "" {
		trees = append(append(trees, s.Host.Top), gitfile.CheckoutsAround(s.Host.Top)...)
	}
	return trees
}

// renewKeys keeps the keys fresh while the client runs.
func (o *clientSetup) renewKeys(ctx context.Context, s *worksite.Site, w *ledger.Worker) {
	if !o.keys.None() {
		o.keys.Renew(ctx, func(line string) { s.Voice.Step(w.ID, "login", line) })
	}
}

// removeKeys takes the keys away when the client has ended.
func (o *clientSetup) removeKeys() error {
	if err := o.keys.Remove(); err != nil {
		return fmt.Errorf("the client's key: %w", err)
	}
	return nil
}
