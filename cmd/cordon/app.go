package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/background"
	"cordon/internal/cell"
	"cordon/internal/command/desks"
	"cordon/internal/command/plans"
	"cordon/internal/confine"
	"cordon/internal/decide"
	"cordon/internal/fault"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/manual"
	"cordon/internal/page"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// app is what every command shares.
type app struct {
	out, err io.Writer
	in       *os.File
	over     <-chan struct{} // closed when a signal ends this
	json     bool
	dir      string
	active   bool // the operator says that changes of the host were theirs
	watch    func(journal.Moment, journal.Event)

	background *background.Background // nil: it was started by a person
}

const about = `cordon runs AI coding agents in private git worktrees, checks everything they
changed against a policy, and merges only the changes that pass.

  policy → lease → private worktree → the command runs → audit → gate
                                                     → merged or quarantined

cordon records every decision in a hash-chained journal. It deletes only what is
provably merged or discarded.`

// root is the tree of the commands that arguments need: the one that they begin with, or all.
func (a *app) root(args ...string) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "cordon",
		Short: "Run AI coding agents in worktrees they cannot leave",
		Long:  about,
		Example: `  cordon demo                          see it work, no key and no network needed
  cordon init                          write a policy for this repository
  cordon run ` + exampleClient + ` -- "fix the build" start an agent
  cordon run -- ./agent.sh             start any command as a worker
  cordon exec -- make test             only run a command in a cell
  cordon check 'cd .. && git status'   ask the guard about a tool call
  cordon                               who needs you, who runs, what landed
  cordon inbox                         list questions; cordon answer ID "…"
  cordon quarantine ls                 list the results that did not pass`,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return a.version(thisBuild())
			}
			s, err := a.open(cmd.Context())
			switch desk := a.desksConsole(); {
			case is[usageError](err):
				return err
			case err != nil || !hasWorkers(s):
				return cmd.Help()
			case !a.json && desk.Fits():
				return desk.Terminal(cmd.Context())
			}
			return a.ls(cmd.Context(), lsOptions{})
		},
		PersistentPreRun: func(*cobra.Command, []string) {
			if os.Getenv(cell.Mark) == "" { // inside a worker nothing of the host's is there
				a.sayNotice(confine.Unplaced())
			}
		},
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{callError{manual.UnknownFlag(c, err), c.CommandPath()}}
	})
	root.PersistentFlags().BoolVar(&a.json, "json", a.json, "print one JSON object on stdout, on errors too")
	root.PersistentFlags().StringVarP(&a.dir, "directory", "C", ".", "act on the repository around `DIR`")
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.AddCommand(a.commands(args)...)
	manual.Arrange(root, completeFlags)
	wrapArgs(root)
	return root
}

// wrapArgs makes a wrong number of arguments a usage error in every command.
func wrapArgs(c *cobra.Command) {
	check := c.Args
	if check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && cmd.HasSubCommands() && !strings.Contains(cmd.Use, " ") {
				err = manual.UnknownCommand(cmd, args[0])
			} else if err != nil && strings.HasPrefix(err.Error(), "unknown command") { // what cobra.NoArgs says
				err = fmt.Errorf("%s takes no arguments, and was given %q", cmd.CommandPath(), args[0])
			} else if err != nil {
				err = fmt.Errorf("%s: %w", cmd.CommandPath(), err)
			}
			if err != nil {
				return usageError{callError{err, cmd.CommandPath()}}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// refuseInside refuses what only the operator may do to a cordon that a worker started.
func refuseInside() error {
	if worker := os.Getenv(cell.Mark); worker != "" {
		return &fault.RefusedError{Err: fmt.Errorf("this runs inside worker %s, and only the operator decides about workers (%s is set)", worker, cell.Mark)}
	}
	return nil
}

// open finds the repository.
func (a *app) open(ctx context.Context) (*session.Session, error) {
	if err := refuseInside(); err != nil {
		return nil, err
	}
	if fi, err := os.Stat(a.dir); err != nil || !fi.IsDir() {
		return nil, usage("-C %s: there is no such directory", a.dir)
	}
	s, err := session.Open(ctx, a.dir)
	if err != nil {
		return nil, err
	}
	s.Watch, s.OperatorActive = decide.Reporting(a.watch), a.active
	s.Voice = terminal.NewVoice(a.err)
	return s, nil
}

// worker opens the repository and finds a worker.
func (a *app) worker(ctx context.Context, prefix string) (*session.Session, *ledger.Worker, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := findNamed(s, prefix)
	return s, w, err
}

// findNamed finds the worker whose name begins like this.
func findNamed(s *session.Session, prefix string) (*ledger.Worker, error) {
	w, err := s.Find(prefix)
	if _, mistaken := errors.AsType[ledger.NameError](err); mistaken {
		return nil, usage("%v (cordon ls shows them)", err)
	}
	return w, err
}

// operator is who decides here, for the journal.
func operator() string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name + decide.Via()
}

// plansConsole is what the commands of cordon plan share with the others.
func (a *app) plansConsole() *plans.Console {
	return &plans.Console{Open: a.open, Page: a.page, Read: readNamed, Code: func(n int) error { return codeError(n) }, Who: operator,
		Usage: func(err error) error { return usageError{err} }, Post: postOf, Client: exampleClient,
		Consent: a.withConsent}
}

// desksConsole is what the desk shares with the other commands.
func (a *app) desksConsole() *desks.Console {
	return &desks.Console{Open: a.open, Page: a.page, Code: func(n int) error { return codeError(n) }, Who: operator, In: a.in, Out: a.out}
}

// showDesk shows the desk of the repository at a directory.
func (a *app) showDesk(ctx context.Context, dir string) error {
	a.dir = dir
	return a.desksConsole().Show(ctx)
}

// typed is what is typed or piped in, until a signal.
func (a *app) typed() io.Reader { return terminal.Typed{In: a.in, Over: a.over} }

// page is where this command prints.
func (a *app) page() page.Page { return page.Page{Out: a.out, Err: a.err, JSON: a.json} }

// say tells a person something; data goes elsewhere.
func (a *app) say(format string, args ...any) { a.page().Say(format, args...) }

// print writes data as lines for a person.
func (a *app) print(format string, args ...any) { a.page().Print(format, args...) }

// object prints the one object of a --json call.
func (a *app) object(o view.Object) error { return a.page().Object(o) }
