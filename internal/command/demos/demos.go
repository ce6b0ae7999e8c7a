// Package demos holds cordon demo: the real pipeline, or a plan, on a toy repository with
// scripted agents. It refuses to know what the agents do: package demo does.
package demos

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordon/internal/demo"
	"cordon/internal/dispatch"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/page"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/terminal"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Page     func() page.Page
	Announce func(context.Context, *session.Session, *ledger.Worker) error // says what a worker was given
	Who      func() string
	Draws    func() error                                 // whether there is a terminal for the desk
	Desk     func(ctx context.Context, repo string) error // shows it until the operator closes it
}

// New is cordon demo.
func New(a *Console) *cobra.Command {
	var dir string
	var plan, ui bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole pipeline on a toy repository with scripted agents",
		Long: `Build a toy repository, run five scripted agents through the real pipeline, and show
the result of each: one does its job, one writes outside its write_roots, one hides a
change behind a rename, one tries to commit to main in your repository, and one steals
and plants what it can. Then search the host for traces.

With --plan, run a plan of six stages instead: three run side by side, one of them asks
you something, one changes files that belong to another stage, and the stages after
these wait. The demo answers the question in your place, and the plan goes on.

With --ui, open the desk on the five workers afterwards (or on the plan): find out why each is
quarantined, and release one. The search for traces comes when you close the desk.

The demo needs no key and no network, and it touches nothing of yours. The repository
and cordon's state are in a new directory, which is kept for you to explore.`,
		Example: "  cordon demo\n  cordon demo --ui\n  cordon demo --plan\n  cordon demo --dir ./toy",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ui {
				if err := a.Draws(); err != nil {
					return err
				}
			}
			if plan {
				return a.plan(cmd.Context(), dir, ui)
			}
			return a.agents(cmd.Context(), dir, ui)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "build it in `DIR`, which must not exist yet")
	c.Flags().BoolVar(&ui, "ui", false, "open the desk on the workers")
	c.Flags().BoolVar(&plan, "plan", false, "show a plan: stages that wait for each other, side by side where they can")
	return c
}

// agents takes the scripted agents through the pipeline, one after the other.
func (a *Console) agents(ctx context.Context, dir string, ui bool) error {
	dir, err := a.stage(ctx, dir, demo.Toy)
	if err != nil {
		return err
	}
	repo := filepath.Join(dir, "repo")
	a.Page().Say("a toy repository in %s, in which agents may write src and nothing else", repo)
	var cast []demo.Played
	for i, who := range demo.Actors {
		a.Page().Say("\nagent %d of %d %s", i+1, len(demo.Actors), who.Does)
		p, err := a.play(ctx, repo, who)
		if err != nil {
			return err
		}
		cast = append(cast, p)
	}
	if ui {
		if err := a.Desk(ctx, repo); err != nil {
			return err
		}
	}
	escapes, err := demo.Traces(repo)
	if err != nil {
		return err
	}
	return a.Page().Demo(dir, repo, cast, escapes)
}

// stage builds the toy repository. cordon's state goes beside it, so that
// nothing of the operator's is touched.
func (a *Console) stage(ctx context.Context, dir string, files map[string]string) (string, error) {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "cordon-demo-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")); err != nil {
		return "", err
	}
	bin, err := git.Find(ctx, state.Written()...)
	if err != nil {
		return "", err
	}
	return dir, demo.BuildToy(ctx, bin, filepath.Join(dir, "repo"), files)
}

func (a *Console) play(ctx context.Context, repo string, who demo.Actor) (demo.Played, error) {
	s, err := session.Open(ctx, repo)
	if err != nil {
		return demo.Played{}, err
	}
	s.Voice = terminal.NewVoice(a.Page().Err)
	w, err := dispatch.Lease(ctx, s.Site, dispatch.Request{Command: []string{"sh", "-c", who.Script, "agent", s.Host.Top}})
	if err != nil {
		return demo.Played{}, err
	}
	if err := a.Announce(ctx, s, w); err != nil {
		return demo.Played{}, err
	}
	if w, err = s.Continue(ctx, w.ID, session.Drive{Output: terminal.ForScreen(a.Page().Err)}); err != nil {
		return demo.Played{}, err
	}
	status, err := s.Status(ctx, w)
	return demo.Played{Actor: who, Worker: w, Status: status}, err
}
