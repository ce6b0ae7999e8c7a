package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordon/internal/demo"
	"cordon/internal/dispatch"
	"cordon/internal/git"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/terminal"
)

func (a *app) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole pipeline on a toy repository with scripted agents",
		Long: `Build a toy repository, run five scripted agents through the real pipeline, and show
the result of each: one does its job, one writes outside its write_roots, one hides a
change behind a rename, one tries to commit to main in your repository, and one steals
and plants what it can. Then search the host for traces.

The demo needs no key and no network, and it touches nothing of yours. The repository
and cordon's state are in a new directory, which is kept for you to explore.`,
		Example: "  cordon demo\n  cordon demo --dir ./toy",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir) },
	}
	c.Flags().StringVar(&dir, "dir", "", "build it in `DIR`, which must not exist yet")
	return c
}

func (a *app) demo(ctx context.Context, dir string) error {
	dir, err := a.stage(ctx, dir)
	if err != nil {
		return err
	}
	repo := filepath.Join(dir, "repo")
	var cast []demo.Played
	for i, who := range demo.Actors {
		a.say("\nagent %d of %d %s", i+1, len(demo.Actors), who.Does)
		p, err := a.play(ctx, repo, who)
		if err != nil {
			return err
		}
		cast = append(cast, p)
	}
	escapes, err := demo.Traces(repo, cast)
	if err != nil {
		return err
	}
	return a.page().Demo(dir, repo, cast, escapes)
}

// stage builds the toy repository. cordon's state goes beside it, so that
// nothing of the operator's is touched.
func (a *app) stage(ctx context.Context, dir string) (string, error) {
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
	a.say("a toy repository in %s, in which agents may write src and nothing else", filepath.Join(dir, "repo"))
	bin, err := git.Find(ctx, state.Written()...)
	if err != nil {
		return "", err
	}
	return dir, demo.BuildToy(ctx, bin, filepath.Join(dir, "repo"))
}

func (a *app) play(ctx context.Context, repo string, who demo.Actor) (demo.Played, error) {
	s, err := session.Open(ctx, repo)
	if err != nil {
		return demo.Played{}, err
	}
	s.Voice = terminal.NewVoice(a.err)
	w, err := dispatch.Lease(ctx, s.Site, dispatch.Request{Command: []string{"sh", "-c", who.Script, "agent", s.Host.Top}})
	if err != nil {
		return demo.Played{}, err
	}
	if err := a.announce(ctx, s, w); err != nil {
		return demo.Played{}, err
	}
	if w, err = s.Continue(ctx, w.ID, session.Drive{Output: terminal.ForScreen(a.err)}); err != nil {
		return demo.Played{}, err
	}
	status, err := s.Status(ctx, w)
	return demo.Played{Actor: who, Worker: w, Status: status}, err
}
