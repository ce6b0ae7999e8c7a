package doctor

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	"cordon/internal/companion"
	"cordon/internal/state"
)

// probeProgram makes the attempts to escape.
const probeProgram = "cordon-probe"

// runProbe runs cordon-probe and returns its exit code. It is the one that lies beside
// this program, or failing that on PATH.
func RunProbe(ctx context.Context, self string, args []string, in *os.File, out, errs io.Writer) (int, error) {
	program, err := companion.Find(self, probeProgram, state.Written())
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
