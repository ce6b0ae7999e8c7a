package doctor

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// probeProgram makes the attempts to escape.
const probeProgram = "cordon-probe"

// runProbe runs cordon-probe and returns its exit code. It is the one that lies beside
// this program, or failing that on PATH.
func RunProbe(ctx context.Context, self string, args []string, in *os.File, out, errs io.Writer) (int, error) {
	program, err := findProbe(self)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes its fixtures
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), err
	}
	return 0, err
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
