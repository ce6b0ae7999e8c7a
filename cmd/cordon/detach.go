package main

import (
	"context"

	"cordon/internal/background"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// detach starts this command in the background.
func (a *app) detach(ctx context.Context, interactive bool) error {
	id, pid, code, err := background.Start(ctx, interactive)
	if err != nil {
		return err
	}
	if id == "" {
		return codeError(max(code, exitFailed))
	}
	return a.sayDetached(id, pid, interactive)
}

// sayDetached prints the name of a worker in the background. Nothing else has to be
// remembered.
func (a *app) sayDetached(id string, pid int, interactive bool) error {
	if a.json {
		return a.object(&view.Detached{Worker: id, Process: pid, Interactive: interactive})
	}
	a.print("%s", id)
	join := "cordon logs -f " + id + " follows it"
	if interactive {
		join = "cordon attach " + id + " joins its terminal"
	}
	a.say("  %s; cordon stop %s ends it", join, id)
	return nil
}

// inBackground notices that this cordon was started by detach.
func (a *app) inBackground() (err error) {
	a.background, err = background.Enter()
	if a.background != nil && a.background.Inner != nil {
		a.in = a.background.Inner
	}
	return asUsage(err)
}

// leased says that the lease is sealed: from here on a cordon in the background says
// what it has to say to a file, and nobody waits for it.
func (a *app) leased(s *session.Session, w *ledger.Worker) error {
	if a.background == nil {
		return nil
	}
	err := a.background.Leased(string(w.ID), s.State.Worker(string(w.ID)))
	s.Voice = terminal.NewVoice(a.err) // it is another file now
	return err
}
