package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// editor is the command of the operator's editor, in git's own order.
func (o Operator) editor() string {
	visual := os.Getenv("VISUAL")
	if term := os.Getenv("TERM"); term == "" || term == "dumb" {
		visual = ""
	}
	return cmp.Or(os.Getenv("GIT_EDITOR"), o.Program("core.editor"), visual, os.Getenv("EDITOR"), "vi")
}

// Edit has the operator edit a file in their own editor, on a terminal. It waits for the
// editor's end.
func (o Operator) Edit(ctx context.Context, file string, terminal *os.File) error {
	editor := o.editor()
	if err := o.Outside("the editor", editor); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$@"`, editor, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the editor %q failed: %w", editor, err)
	}
	return nil
}
