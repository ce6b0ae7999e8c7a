package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cordon/internal/audit"
	"cordon/internal/inspect"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) auditCommand() *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use:   "audit ID",
		Short: "Show what a worker really changed, verdict first",
		Long: `Show the audit of a worker: the verdict, the lease, each path with its fate and the
rule that decided it, and the evidence from its commits and from the host repository.
By default this is the recorded audit, if there is one; --now audits the current tree
and records nothing.`,
		Example:           "  cordon audit brisk-otter\n  cordon audit --json brisk-otter | jq .summary",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			r, err := a.report(cmd.Context(), s, w, now)
			if err != nil {
				return err
			}
			return a.page().Report(w, r)
		},
	}
	c.Flags().BoolVar(&now, "now", false, "audit the tree as it is now")
	return c
}

func (a *app) report(ctx context.Context, s *session.Session, w *ledger.Worker, now bool) (*audit.Report, error) {
	if w.Audit != nil && !now {
		return s.Report(w)
	}
	if w.Tree == nil || w.Removal != nil {
		return nil, fmt.Errorf("%s has no tree to audit", w.ID)
	}
	return inspect.Look(ctx, s.Site, w)
}

func (a *app) diffCommand() *cobra.Command {
	var stat bool
	c := &cobra.Command{
		Use:   "diff ID",
		Short: "Show what a worker changed, as a patch against its base",
		Long: `Show everything that a worker changed in its tree, committed or not, as a patch
against its base commit, whether it may land or violates the lease. This works at any
time. The worker's attributes and filters do not affect the output.`,
		Example:           "  cordon diff brisk-otter\n  cordon diff --stat brisk",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.diff(cmd.Context(), s, w, stat)
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "only print how much changed in each file")
	return c
}

func (a *app) diff(ctx context.Context, s *session.Session, w *ledger.Worker, stat bool) error {
	var args []string
	if stat {
		args = []string{"--stat"}
	}
	if !a.json && terminal.Is(a.out) {
		p := terminal.NewPatch(a.out)
		return errors.Join(inspect.Diff(ctx, s.Site, w, p, false, args...), p.End())
	}
	if !a.json {
		return inspect.Diff(ctx, s.Site, w, a.out, false, args...)
	}
	var buf bytes.Buffer
	if err := inspect.Diff(ctx, s.Site, w, &buf, false, args...); err != nil {
		return err
	}
	return a.object(&view.Diff{Worker: string(w.ID), Patch: view.Text(buf.String())})
}
