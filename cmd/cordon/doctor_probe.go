package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// probeOptions are the flags of doctor --probe.
type probeOptions struct {
	all  bool   // list every attempt
	only string // a pattern of names; "": all
}

// probeProgram makes the attempts to escape.
const probeProgram = "cordon-probe"

// probe lets cordon-probe try to escape from this cordon's cells.
func (a *app) probe(ctx context.Context, o probeOptions) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := findProbe(self)
	if err != nil {
		return err
	}
	args := []string{"--cordon", self, "--only", o.only}
	if o.all {
		args = append(args, "--all")
	}
	if a.json {
		args = append(args, "--json")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes its fixtures
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.err
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 {
		return codeError(ended.ExitCode())
	}
	return err
}

// findProbe looks beside this program, then on PATH.
func findProbe(self string) (string, error) {
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if at, err := exec.LookPath(filepath.Join(filepath.Dir(self), probeProgram)); err == nil {
		return at, nil
	}
	if at, err := exec.LookPath(probeProgram); err == nil {
		return at, nil
	}
	return "", errors.New(probeProgram + " is neither beside " + self + " nor on PATH: it comes with every release, and go build -o DIR/ ./cmd/... builds both")
}
