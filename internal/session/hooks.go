package session

import (
	"fmt"

	"cordon/internal/config"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/githook"
	"cordon/internal/lease"
)

// guardingHooks are the operator's own hooks that a landing runs: those that guard a branch,
// if the operator's configuration says so. Otherwise cordon names those that it passes by.
// A hook that may not run stops the landing before anything is tested.
func (s *Session) guardingHooks(id lease.ID, own git.Operator, wanted config.Hooks) (*githook.Hooks, error) {
	hooks := githook.Find(own, s.Host, s.Trees())
	switch {
	case hooks.None():
		return nil, nil
	case wanted != config.RunHooks:
		s.Voice.Step(id, "hooks", "not run for this landing: "+hooks.Names())
		return nil, nil
	}
	if err := hooks.Check(); err != nil {
		return nil, &undecidedError{&fault.PersonError{Err: fmt.Errorf("nothing landed: %w. When you have changed that: cordon merge %s. "+
			"With land.hooks: skip in your configuration, cordon merge %s lands it without your hooks", err, id, id)}}
	}
	return hooks, nil
}
