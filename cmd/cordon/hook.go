package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/client"
	"cordon/internal/hook"
)

// The hook runs before every tool call of an agent, so it is started before
// anything else of this program: main hands over to it without building commands.
// Whatever happens ends as a denial: exit code 2 with a text on stderr and
// nothing on stdout is one to every client.

const (
	hookWord     = "hook"
	hookInput    = 1 << 20         // more than a client sends
	hookDeadline = 2 * time.Second // clients take a hook that does not answer for a yes
	hookMemory   = 128 << 20
)

// hookFirst answers and exits if this program was started as the hook.
func hookFirst(args []string) {
	if len(args) > 1 && args[0] == hookWord && !wantsHelp(args[1:]) {
		os.Exit(hookMain(args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// wantsHelp reports whether a person asks how the hook is called.
func wantsHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// hookOptions are the arguments of cordon hook.
type hookOptions struct {
	client, lease string
	interactive   bool
}

// hookMain is the whole of cordon hook. It returns the exit code.
func hookMain(args []string, in io.Reader, out, errs io.Writer) int {
	debug.SetGCPercent(-1) // it is over before there is garbage worth collecting
	debug.SetMemoryLimit(hookMemory)
	o, err := parseHook(args)
	answers := make(chan hook.Reply, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answers <- hook.Reply{Answer: client.Denial(o.client, hook.Unjudged(fmt.Errorf("the guard failed: %v", p)))}
			}
		}()
		if err != nil {
			answers <- hook.Reply{Answer: client.Denial(o.client, hook.Unjudged(err))}
			return
		}
		answers <- decideHook(o, in)
	}()
	select {
	case r := <-answers:
		return sayHook(r.Answer, out, errs)
	case <-time.After(hookDeadline):
		return sayHook(client.Denial(o.client, hook.Unjudged(errors.New("it took too long"))), out, errs)
	}
}

// decideHook reads what there is to read, decides and journals.
func decideHook(o hookOptions, in io.Reader) hook.Reply {
	q := hook.Question{Client: o.client, Now: time.Now(), Interactive: o.interactive}
	var err error
	if q.Warrant, err = os.ReadFile(o.lease); err != nil {
		return hook.Reply{Answer: client.Denial(o.client, hook.Unjudged(err))}
	}
	if q.Input, err = io.ReadAll(io.LimitReader(in, hookInput+1)); err != nil {
		return hook.Reply{Answer: client.Denial(o.client, hook.Unjudged(err))}
	}
	r := hook.Decide(q)
	if r.Journal == "" {
		return r
	}
	if err := r.Record.Append(r.Journal); err != nil && r.Answer.Exit == 0 {
		r.Answer = client.Denial(o.client, hook.Unjudged(fmt.Errorf("the decision cannot be recorded: %w", err)))
	}
	return r
}

// sayHook gives the answer. One that cannot be said is a denial: its exit code is
// all that is left.
func sayHook(a client.Answer, out, errs io.Writer) int {
	if len(a.Stderr) > 0 {
		if _, err := errs.Write(a.Stderr); err != nil {
			return exitUsage
		}
	}
	if len(a.Stdout) > 0 {
		if _, err := out.Write(a.Stdout); err != nil {
			return exitUsage
		}
	}
	return a.Exit
}

// parseHook reads the arguments by hand: the flag library costs more than the
// decision.
func parseHook(args []string) (hookOptions, error) {
	var o hookOptions
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		args = args[1:]
		if name == "--interactive" && !given {
			o.interactive = true
			continue
		}
		if !given {
			if len(args) == 0 {
				return o, fmt.Errorf("cordon hook: %s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "--client":
			o.client = value
		case "--lease":
			o.lease = value
		default:
			return o, fmt.Errorf("cordon hook: unknown argument %q", name)
		}
	}
	if o.client == "" || o.lease == "" {
		return o, errors.New("cordon hook needs --client and --lease")
	}
	return o, nil
}

// hookCommand is for the help only; main never comes here with arguments.
func (a *app) hookCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hook --client NAME --lease FILE",
		Short: "Answer an agent client's question whether a tool call may run",
		Long: `Read a client's hook input on stdin, judge the tool call against a lease, and
answer in the client's dialect. Clients call it before each tool call; nobody
types it. FILE is a warrant, which cordon lease warrant writes: it must lie where
the worker cannot write.

Every failure is a denial: bad input, an unknown client, a missing or expired
lease, a deadline, a crash, a closed stdout. With a journal in the warrant each
decision is appended to it, and one that cannot be recorded is a denial too.

--interactive lets clients that can ask their user do so where the guard would
ask; without it, and with other clients, asking is refusing.`,
		Example: `  cordon lease warrant brave-otter > warrant.json
  cordon hook --client claude --lease warrant.json < call.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return usage("cordon hook needs --client and --lease") },
	}
	ownCodes(c, `
Exit codes:
  0  the call may run
  2  it may not; stderr says why, in words for the agent`)
	var o hookOptions
	c.Flags().StringVar(&o.client, "client", "", "the client that asks: claude, codex, gemini, copilot or opencode")
	c.Flags().StringVar(&o.lease, "lease", "", "the warrant of the worker's lease, a `FILE`")
	c.Flags().BoolVar(&o.interactive, "interactive", false, "a person is there to be asked")
	return c
}
