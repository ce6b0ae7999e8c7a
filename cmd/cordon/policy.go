package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/config"
	"cordon/internal/dispatch"
	"cordon/internal/git"
	"cordon/internal/legible"
	"cordon/internal/policy"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

func (a *app) policyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Show the policy in force, its schema and presets, or check a file",
		Long: `A policy says what one worker may do: where it may write, what it may read and reach,
how long it may take, how strictly its tool calls are judged, and which commands must
pass before its result lands. It is a YAML file, cordon.yaml at the top of the
repository. cordon reads it from the base commit of a run and never from a worker's
tree.

A missing key has its default. An explicit empty list allows nothing. Anything that
cordon does not understand is an error, never a default.`,
		Example: `  cordon policy show                     what holds for a run from here
  cordon policy check cordon.yaml        before committing it
  cordon policy presets                  what @npm and others stand for
  cordon policy suggest                  changes that past runs suggest
  cordon policy schema > cordon.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.policyShowCommand(), a.policySchemaCommand(), a.policyPresetsCommand(), a.policyCheckCommand(), a.policySuggestCommand())
	return c
}

type policyOptions struct{ file, base string }

func (a *app) policyShowCommand() *cobra.Command {
	var o policyOptions
	c := &cobra.Command{
		Use:   "show",
		Short: "Print the policy in force, with every default",
		Long: `Print the policy that a run from here would use: cordon.yaml at the tip of your branch,
or at the commit that --base names, or the file that --policy names. Without one, and
outside a repository, it is the default. Rights in your own configuration narrow it.

The output is itself a policy file: every key with its value, and comments that say
where the policy came from, what the presets of allowed_domains and the @default of
deny_read stand for, and which names do not land unless write_roots names them.`,
		Example: `  cordon policy show
  cordon policy show --base v1.2
  cordon policy show --policy strict.yaml --json | jq .policy.filesystem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.policyShow(cmd.Context(), o) },
	}
	c.Flags().StringVar(&o.file, "policy", "", "show the policy in `FILE`")
	c.Flags().StringVar(&o.base, "base", "", "show the policy at `REV` instead of the tip of your branch")
	return c
}

func (a *app) policyShow(ctx context.Context, o policyOptions) error {
	p, source, err := a.effective(ctx, o)
	if err != nil {
		return err
	}
	own, err := config.Load()
	if err != nil {
		return err
	}
	p, lost := p.Within(own.Bound)
	if len(lost) > 0 {
		source += dispatch.NarrowedByRights
	}
	if a.json {
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		return a.object(&view.Policy{Source: source, Policy: text, Protected: present.ProtectedRows(), Unread: present.UnreadRows()})
	}
	_, err = fmt.Fprintf(a.out, "# Source: %s\n\n%s%s", oneLine(source), present.WithSizes(p),
		present.PresetComment(p)+present.ProtectedComment()+present.UnreadComment(p))
	return err
}

// effective is the policy that holds, and where it came from.
func (a *app) effective(ctx context.Context, o policyOptions) (policy.Policy, string, error) {
	if o.file != "" && o.base != "" {
		return policy.Policy{}, "", usage("use --policy or --base, not both: a policy has one source")
	}
	if o.file != "" {
		return new(worksite.Site).PolicyFile(o.file) // needs no repository
	}
	s, err := session.Open(ctx, a.dir)
	if errors.Is(err, git.ErrNotRepository) && o.base == "" {
		return policy.Default(), "default (not inside a repository)", nil
	}
	if err != nil {
		return policy.Policy{}, "", err
	}
	if o.base == "" {
		return s.PolicyHere(ctx)
	}
	commit, err := s.Host.Commit(ctx, o.base)
	if err != nil {
		return policy.Policy{}, "", err
	}
	return s.DescribedPolicyAt(ctx, commit)
}

// oneLine keeps a text that others chose inside the comment it is put in.
func oneLine(s string) string { return legible.Line(s) }

func (a *app) policySchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a policy file",
		Long: `Print the JSON Schema (2020-12) of a policy file, for editors and other tools.
It documents every key and its default. A schema cannot express every rule; "cordon
policy check" decides.`,
		Example: "  cordon policy schema > cordon.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(policy.Schema())
			return err
		},
	}
}

func (a *app) policyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check policy files without using them",
		Long: `Check whether each FILE, or by default cordon.yaml, is a valid policy. Mistakes are
reported with line, column and a correction. A policy with isolation: none is valid, and
check says that its commands run unconfined. Inside a repository, check also warns about
what the policy opens without your consent, and about a deny_read that names tracked
files, because git still shows them. All files are checked.`,
		Example: "  cordon policy check\n  cordon policy check --json policies/*.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{filepath.Join(a.dir, worksite.PolicyName)}
			}
			return a.policyCheck(cmd.Context(), args)
		},
	}
}

func (a *app) policyCheck(ctx context.Context, files []string) error {
	var shown view.PolicyCheck
	worst := error(nil)
	for _, file := range files {
		r, err := a.checkFile(ctx, file)
		shown.Results = append(shown.Results, r)
		worst = worse(worst, err)
	}
	return a.checkResults(&shown, shown.Results, worst)
}

// checkFile is the result for one file, and what is wrong with it.
func (a *app) checkFile(ctx context.Context, file string) (view.CheckedFile, error) {
	var p policy.Policy
	warning := ""
	text, err := readNamed(file)
	if err == nil {
		p, err = policy.Parse(file, text)
	}
	if err == nil {
		warning, err = a.policyWarnings(ctx, p)
	}
	r := present.CheckedFile(file, warning, err)
	r.Unconfined = err == nil && p.Isolation == policy.None
	return r, err
}

// policyWarnings warns of tracked files that a policy means to hide, and of what it opens
// without the operator's consent. A file can be checked anywhere: where there is no
// repository to look at, there is no consent either; before the first commit nothing is
// tracked.
func (a *app) policyWarnings(ctx context.Context, p policy.Policy) (string, error) {
	s, err := session.Open(ctx, a.dir)
	if err != nil {
		return "", nil
	}
	lacks, err := s.LacksConsent(p)
	if err != nil {
		return "", err
	}
	commit, err := s.Host.HeadCommit(ctx)
	if err != nil {
		return lacks, nil
	}
	revealed, err := workspace.Revealed(ctx, s.Site, p, commit)
	return strings.Join(slices.DeleteFunc([]string{lacks, revealed}, func(s string) bool { return s == "" }), "; "), err
}
