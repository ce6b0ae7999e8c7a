// Package foreground lets a command in a cell take this program's place on a terminal: it
// gets its descriptors or a terminal of its own in the place of ours, and the signals that
// are sent to us.
//
// It refuses to decide what the command may do: package confine and package visitor do that.
package foreground

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"cordon/internal/agent/clients"
	"cordon/internal/cell"
	"cordon/internal/confine"
	"cordon/internal/policy"
	"cordon/internal/terminal"
)

// ClientHint says what to type instead of starting an agent client by exec, where it has
// no login. A client that is only asked about itself needs none.
func ClientHint(argv []string) string {
	program := filepath.Base(argv[0])
	logins := policy.LoginsOf(program)
	about := func(arg string) bool {
		return slices.Contains([]string{"--version", "-v", "-V", "--help", "-h", "help", "version"}, arg)
	}
	if logins == nil || slices.ContainsFunc(argv[1:], about) {
		return ""
	}
	if clients.Known(program) {
		return fmt.Sprintf("%s is not signed in under cordon exec, and nobody judges what it does; to run it as a worker with its login, type: "+
			"cordon run %s -- \"what to do\"", program, program)
	}
	return fmt.Sprintf("%s is not signed in under cordon exec: its login is hidden like every secret; to show it, name it in read_roots of a file for "+
		"--policy (%s)", program, strings.Join(logins, ", "))
}

// Prepare makes the plan of a cell while the first process of the cell starts. That ends with
// the thread it is started by, which is kept.
func Prepare(ctx context.Context, x confine.Execution, here *cell.Command) (c cell.Command, notice func(cell.Exit) string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, notice, err = confine.Exec(ctx, x)
	}()
	if x.Policy.Isolation != policy.None {
		runtime.LockOSThread() // until this program ends
		here.Seat = cell.Warm(*here)
	}
	<-done
	return c, notice, err
}

// Run runs a command with the signals that are sent to us: they are meant
// for it, and it decides what to do with them.
func Run(ctx context.Context, c cell.Command) (cell.Exit, error) {
	signals, stop := Signals()
	defer stop()
	c.Signals = signals
	return cell.Run(context.WithoutCancel(ctx), c)
}

// Attach gives a command this program's own descriptors, or a terminal of its own
// in the place of ours.
func Attach(c *cell.Command) {
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if terminal.Is(f) {
			c.Terminal = f
		}
	}
	if c.Terminal == nil {
		return
	}
	if terminal.Is(os.Stdin) {
		c.Stdin, c.Terminal = nil, os.Stdin
	}
	if terminal.Is(os.Stdout) {
		c.Stdout = nil
	}
	if terminal.Is(os.Stderr) {
		c.Stderr = nil
	}
}

// Signals are those that are passed on to a command, until stop is called.
func Signals() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	return signals, func() { signal.Stop(signals) }
}
