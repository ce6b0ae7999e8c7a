// Package companion finds the programs that come with cordon and are not part of it:
// cordon-probe and cordon-fleet. It looks as git looks for its subcommands: beside the program
// that runs, then on PATH.
//
// It refuses a program that lies where a worker could have written it. It runs nothing.
package companion

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"cordon/internal/paths"
)

// Fleet is the program that has the engine of a fleet.
const Fleet = "cordon-fleet"

// Find returns where a program lies. Self is the program that runs, and written are the
// directories in which workers write.
func Find(self, name string, written []string) (string, error) {
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if at, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
		return at, nil
	}
	at, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside %s nor on PATH: it comes with every release, and go build -o DIR/ ./cmd/... builds it", name, self)
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", err
	}
	if paths.WithinAny(at, written) || paths.WithinAny(real, written) {
		return "", fmt.Errorf("%s is refused: workers can write there", at)
	}
	return at, nil
}
