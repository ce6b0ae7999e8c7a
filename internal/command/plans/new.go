package plans

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/conduct"
	"cordon/internal/draft"
	"cordon/internal/fault"
	"cordon/internal/plan"
	"cordon/internal/session"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

func (a *Console) newPlan() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a commented plan that fits this repository",
		Long: `Write a plan to begin with: a survey, a change and a verification, with the tests and the
directories of this repository. Its comments say what else a stage can have. FILE is
plan.yaml if you name none. An existing file is never overwritten.`,
		Example: "  cordon plan new tabs.yaml\n  cordon plan new --dry-run",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.writeNew(cmd.Context(), append(args, "plan.yaml")[0], dry)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "print it and write nothing")
	return c
}

func (a *Console) writeNew(ctx context.Context, file string, dry bool) error {
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	found, err := draft.Survey(ctx, s.Host, worksite.PolicyName)
	if err != nil {
		return err
	}
	in, _, err := s.PolicyHere(ctx)
	if err != nil {
		return err
	}
	text := draft.Plan(found, in, nameFor(file))
	if _, err := plan.Parse(file, text); err != nil {
		return fmt.Errorf("cordon made a plan that it would refuse itself; this is a bug: %w", err)
	}
	if !dry {
		if err := create(file, text); err != nil {
			return err
		}
	}
	p := a.Page()
	switch {
	case p.JSON:
		return p.Object(&view.PlanNew{Path: file, Written: !dry, Plan: string(text)})
	case dry:
		_, err := p.Out.Write(text)
		return err
	}
	p.Print("%s  written", file)
	p.Say("  describe the stages, then cordon plan check %s", file)
	return nil
}

// nameFor makes the name of a plan from the name of its file.
func nameFor(file string) string {
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, base)
	if name = strings.Trim(name[:min(len(name), 60)], "-"); name == "" {
		name = "plan"
	}
	return `"` + name + `"`
}

func create(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fault.Refuse("%s exists, and is not overwritten", file)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (a *Console) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a plan",
		Long: `Print the JSON Schema (2020-12) of a plan in its own form, for editors and other tools. A
schema cannot express every rule; "cordon plan check" decides.`,
		Example: "  cordon plan schema > plan.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Page().Out.Write(plan.Schema())
			return err
		},
	}
}

// committed reads a plan from the commit at the tip of the branch that the operator is on.
func committed(ctx context.Context, s *session.Session, file string) (conduct.Document, error) {
	commit, err := s.Host.HeadCommit(ctx)
	if err != nil {
		return conduct.Document{}, err
	}
	text, ok, err := s.Host.FileAt(ctx, commit, filepath.ToSlash(filepath.Clean(file)))
	if err == nil && !ok {
		err = fault.Refuse("%s has no file %s; paths begin at the top of the tree", commit.Short(), file)
	}
	return conduct.Document{Name: file, Source: fmt.Sprintf("%s at %s", file, commit.Short()), Text: text}, err
}
