package session

import (
	"cmp"
	"context"

	"cordon/internal/config"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// credit completes an order with the people that the commit names: the operator's
// configuration decides, and by default the agent is the author and the operator is the
// committer. The commit is signed where the operator's git would sign it.
func (s *Session) credit(ctx context.Context, w *ledger.Worker, o *gate.Order) error {
	loaded, err := s.Site.Operator()
	if err != nil {
		return &undecidedError{err}
	}
	own, err := s.Host.Operator(ctx, s.Trees())
	if err != nil {
		return err
	}
	if o.Hooks, err = s.guardingHooks(w.ID, own, loaded.Land.Hooks); err != nil {
		return err
	}
	me := policy.Identity{
		Name:  cmp.Or(loaded.Identity.Name, own.Value("committer.name"), own.Value("user.name")),
		Email: cmp.Or(loaded.Identity.Email, own.Value("committer.email"), own.Value("user.email")),
	}
	agent := config.Agent{Name: o.Author.Name, Email: o.Author.Email, Client: "command", Worker: string(w.ID)}
	if w.Agent != nil {
		agent.Client = w.Agent.Client
	}
	o.Slots = loaded.Land.Parallel
	o.CoAuthor = loaded.Land.CoAuthor.For(agent)
	if me.Name != "" && me.Email != "" {
		o.Committer = me
		if loaded.Land.Author == config.OperatorAuthor {
			o.Author = me
		}
	}
	switch {
	case !own.Signs():
	case loaded.Signing == config.SignOff:
		s.Voice.Step(w.ID, "unsigned", "your git signs commits, and signing is off in your configuration of cordon: this one is not signed")
	default:
		o.Signer = func() (*git.Signer, error) { return own.Signer() }
	}
	return nil
}

// landAs is the form in which a result lands: what the operator asked for now, at the start
// or in their configuration, which leaves it to the policy by default.
func (s *Session) landAs(w *ledger.Worker, how *progress) (config.Form, error) {
	loaded, err := s.Site.Operator()
	if err != nil {
		return "", &undecidedError{err}
	}
	started := config.Form(w.Options.LandAs)
	if w.Options.KeepHistory {
		started = config.History
	}
	own := loaded.Land.As
	if own == config.AsPolicy {
		own = config.Form(w.Lease.Lease().Policy.Gate.As)
	}
	return cmp.Or(how.As, started, own, config.Squash), nil
}
