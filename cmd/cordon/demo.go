package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/demo"
	"cordon/internal/git"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
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
	return a.curtain(dir, repo, cast)
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
	w, err := s.Lease(ctx, session.Dispatch{Command: []string{"sh", "-c", who.Script, "agent", s.Host.Top}})
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

// curtain shows what became of everybody, and whether it is what the demo says.
func (a *app) curtain(dir, repo string, cast []demo.Played) error {
	escapes, err := demo.Traces(repo, cast)
	if err != nil {
		return err
	}
	surprise := len(escapes) > 0
	shown := view.Demo{Directory: dir}
	rows := [][]string{{"WORKER", "RESULT", "THE AGENT …", "WHY"}}
	for _, p := range cast {
		surprise = surprise || p.Status != p.Want
		v := view.Actor{Worker: string(p.Worker.ID), Status: string(p.Status), Agent: p.Does, AsExpected: p.Status == p.Want}
		v.Reason = present.Reason(p.Worker, worksite.Standing{Status: p.Status})
		shown.Workers = append(shown.Workers, v)
		rows = append(rows, []string{v.Worker, v.Status, v.Agent, strings.TrimLeft(present.Because(p.Worker, p.Status), ": ")})
	}
	if a.json {
		if err := a.object(&shown); err != nil {
			return err
		}
	} else {
		a.say("")
		terminal.Table(a.out, rows)
		a.say("%s", strings.Join(demo.LookAround(dir, repo, cast), "\n"))
	}
	for _, e := range escapes {
		a.say("ESCAPED: %s", e)
	}
	if len(escapes) == 0 {
		a.say("\nSearched the host for what the hostile agents tried to leave: no trace.")
	}
	if surprise {
		return fmt.Errorf("this is not what the demo is meant to show: please report it")
	}
	return nil
}
