package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/client"
	"cordon/internal/consent"
	"cordon/internal/doctor"
	"cordon/internal/draft"
	"cordon/internal/fault"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

type initOptions struct{ force, dry bool }

func (a *app) initCommand() *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a policy that fits this repository",
		Long: `Write cordon.yaml at the top of the checkout, adapted to the repository. The project's
tests become acceptance commands. Setup commands fetch its dependencies, with the network
that these need. Directories that its tools create become scratch, unless they contain
tracked files. Guesses are written as comments, among them ports of services that compose
files and .env.example name. Each result waits for you (gate.land: review); a comment
says how to change that. Keys that are left out have their defaults.

What the file opens, such as the package registry of the setup commands, is allowed for
this repository in your configuration (cordon config share lists it); others who clone
the repository are asked, or told what to type.

An existing cordon.yaml is never overwritten without --force. A run reads its policy
from its base commit, so commit the file.`,
		Example: `  cordon init --dry-run
  cordon init && git add cordon.yaml && git commit -m "Add a cordon policy"
  cordon init --force -C ../other`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.initPolicy(cmd.Context(), o) },
	}
	c.Flags().BoolVar(&o.force, "force", false, "replace an existing cordon.yaml")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "print it and write nothing")
	return c
}

func (a *app) initPolicy(ctx context.Context, o initOptions) error {
	s, err := session.Open(ctx, a.dir)
	if err != nil {
		return err
	}
	if s.Host.Bare {
		return &fault.RefusedError{Err: fmt.Errorf("%s is a bare repository: run cordon init in a checkout of it, and commit cordon.yaml there", s.Host.Dir)}
	}
	found, err := draft.Survey(ctx, s.Host, worksite.PolicyName)
	if err != nil {
		return err
	}
	text, err := draft.Propose(found).YAML()
	if err != nil {
		return fmt.Errorf("cordon made a policy that it would refuse itself; this is a bug: %w", err)
	}
	if !o.dry {
		if err := writePolicy(s.Host.Top, text, o.force); err != nil {
			return err
		}
	}
	if err := a.initSaid(s.Host.Top, found, text, o.dry); err != nil || o.dry {
		return err
	}
	return a.agreeToOwn(s, text)
}

// agreeToOwn records the operator's consent to what the policy opens that was just written for
// them. Where it cannot be recorded, it says what to type.
func (a *app) agreeToOwn(s *session.Session, text []byte) error {
	p, err := policy.Parse(worksite.PolicyName, text)
	words := consent.Needed(p)
	if err != nil || len(words) == 0 {
		return err
	}
	if err := s.Agree(words); err != nil {
		a.say("Your consent to what it opens could not be recorded (%v): %s", err, worksite.ShareLine(words))
		return nil
	}
	if a.json {
		return nil
	}
	a.say("Your configuration allows that for this repository: %s.", strings.Join(words, ", "))
	return nil
}

// initSaid tells what was written and what to do with it.
func (a *app) initSaid(top string, found draft.Project, text []byte, dry bool) error {
	path := filepath.Join(top, worksite.PolicyName)
	if a.json {
		return a.object(&view.Init{Path: path, Written: !dry, Found: found.Names(), Policy: string(text)})
	}
	if dry {
		_, err := a.out.Write(text)
		return err
	}
	a.print("%s", path)
	kind := "No known toolchain found; wrote the defaults."
	if names := found.Names(); len(names) > 0 {
		kind = "Detected: " + strings.Join(names, ", ") + "."
	}
	a.say("%s Review the file, then commit it:", kind)
	a.say("  %s", commitLine(top, found.Ignored[worksite.PolicyName]))
	a.say("Each result waits for you (gate.land: review in the file; careful or auto lets tested results land by themselves).")
	if open := found.Hosts().Set; len(open) > 0 {
		a.say("For its setup commands, workers may reach %s.", strings.Join(open, ", "))
	}
	for _, program := range found.Programs() {
		if !doctor.OnPath(program) {
			a.say("%s is not on your PATH: install it, or change the commands that use it.", program)
		}
	}
	return nil
}

// commitLine is what to type to make the policy hold.
func commitLine(top string, ignored bool) string {
	in, force := "", ""
	if here, err := os.Getwd(); err != nil || here != top {
		in = "-C " + client.Quote(top) + " "
	}
	if ignored { // by the repository's own rules
		force = "-f "
	}
	return fmt.Sprintf("git %sadd %s%s && git %scommit -m 'Add a cordon policy'", in, force, worksite.PolicyName, in)
}

// writePolicy creates the file, or with force puts another in its place.
func writePolicy(top string, text []byte, force bool) error {
	path := filepath.Join(top, worksite.PolicyName)
	target := path
	if force {
		target = fmt.Sprintf("%s.%d.new", path, os.Getpid())
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &fault.RefusedError{Err: fmt.Errorf("%s exists already: --force replaces it, --dry-run prints what would be written", target)}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil && force {
		err = os.Rename(target, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(target)) // half a policy is none
	}
	return nil
}
