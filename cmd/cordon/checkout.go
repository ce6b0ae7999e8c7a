package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/keep"
	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) checkoutCommand() *cobra.Command {
	var branch string
	c := &cobra.Command{
		Use:   "checkout ID [DIR]",
		Short: "Write a worker's present tree into a directory or a branch",
		Long: `Write every file of a worker's current tree into DIR, a new plain directory (next to
your checkout by default). This works at any time and does not disturb a running
worker. Nobody has judged these files. Devices, pipes and sockets are omitted, and so
is the .git of repositories that the worker made, because your git would run what
their configuration says.

With --branch, the worker's changes become a new branch of your repository instead:
files and links that stay inside the tree, including those outside its write_roots.
The target branch does not change.`,
		Example:           "  cordon checkout brisk-otter\n  cordon checkout brisk /tmp/look\n  cordon checkout brisk --branch review/brisk",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if branch != "" && len(args) == 2 {
				return usage("a directory or --branch, not both")
			}
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			out, err := a.checkout(cmd.Context(), s, w, branch, args[1:])
			if err != nil {
				return err
			}
			return a.sayCheckout(w, out)
		},
	}
	c.Flags().StringVar(&branch, "branch", "", "create the branch `NAME` instead of a directory")
	return c
}

func (a *app) checkout(ctx context.Context, s *session.Session, w *ledger.Worker, branch string, dir []string) (keep.CheckedOut, error) {
	if branch != "" {
		return keep.CheckoutBranch(ctx, s.Site, w, branch)
	}
	if len(dir) == 0 {
		beside, err := keep.CheckoutDir(s.Site, w)
		if err != nil {
			return keep.CheckedOut{}, err
		}
		dir = []string{beside}
	}
	return keep.Checkout(ctx, s.Site, w, dir[0])
}

func (a *app) sayCheckout(w *ledger.Worker, out keep.CheckedOut) error {
	if a.json {
		return a.object(&view.Checkout{Worker: string(w.ID), Checkout: view.CheckedOut{
			Dir: out.Dir, Branch: out.Branch, Commit: string(out.Commit), Files: out.Files, Left: present.Texts[view.Text](out.Left),
		}})
	}
	if out.Branch != "" {
		a.print("%s  branch %s at %s", w.ID, out.Branch, out.Commit.Short())
		a.say("  git diff %s...%s", present.Branch(w.Lease.Lease().Target), out.Branch)
		return nil
	}
	a.print("%s  %s in %s", w.ID, terminal.Plural(out.Files, "file"), out.Dir)
	if len(out.Left) > 0 {
		a.say("  left out, because your git or shell might run or wait for them: %s", present.Paths(out.Left, 5))
	}
	a.say("  a worker wrote this: look at it, do not run it")
	return nil
}
