package doctor

import (
	"context"

	"cordon/internal/config"
	"cordon/internal/fault"
	"cordon/internal/githook"
	"cordon/internal/session"
)

// checkHooks says what becomes of the operator's hooks that guard a branch. A repository
// without one has no line.
func checkHooks(ctx context.Context, s *session.Session) []check {
	loaded, err := s.Operator()
	if err != nil {
		return []check{failed("configuration", err, "cordon config check")}
	}
	own, err := s.Host.Operator(ctx, s.Trees())
	if err != nil {
		return []check{failed("hooks", err, "")}
	}
	hooks := githook.Find(own, s.Host, s.Trees())
	switch {
	case hooks.None():
		return nil
	case loaded.Land.Hooks != config.RunHooks:
		return []check{{"hooks", statusInfo, hooks.Names() + ": a landing skips them", "land.hooks: run in your configuration runs them"}}
	}
	if err := hooks.Check(); err != nil {
		return []check{{"hooks", statusWarn, fault.OneLine(err), "nothing lands with land.hooks: run"}}
	}
	return []check{{"hooks", statusOK, hooks.Names() + ": they run for each landing", ""}}
}
