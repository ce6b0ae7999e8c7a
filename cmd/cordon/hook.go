package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/client"
	"cordon/internal/hook"
	"cordon/internal/plainfile"
)

// The hook runs before every tool call of an agent, so it is started before
// anything else of this program: main hands over to it without building commands.
// Whatever happens ends as a denial: exit code 2 with a text on stderr and
// nothing on stdout is one to every client.

const (
	hookWord     = "hook"
	hookDenied   = 2               // the code that is a denial to every client
	hookInput    = 1 << 20         // more than a client sends
	hookWarrant  = 1 << 20         // more than a warrant has
	hookDeadline = 2 * time.Second // clients take a hook that does not answer for a yes
	hookPatience = 6 * time.Second // for the answer to a question, beyond that
	hookSaying   = time.Second     // for the answer, which nobody may be reading
	hookMemory   = 128 << 20
)

// hookFirst answers and exits if this program was started as the hook.
func hookFirst(args []string) {
	if len(args) > 1 && args[0] == hookWord && !wantsHelp(args[1:]) {
		surviveSilence()
		os.Exit(hookMain(args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// surviveSilence keeps this program alive if nobody reads what it says: clients
// take a hook that dies of a signal for a yes.
func surviveSilence() { signal.Ignore(syscall.SIGPIPE) }

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
	o, wrong := parseHook(args)
	h := hookRun{hookOptions: o, wrong: wrong}
	r, intime := within(hookDeadline, func() hook.Reply { return h.decide(in) })
	if !intime {
		r = h.late()
	}
	if len(r.Asked) > 0 {
		r = passOn(r)
	}
	code, said := within(hookSaying, func() int {
		code := sayHook(r.Answer, out, errs)
		if !intime {
			_ = deliver(r) // the call is refused already
		}
		return code
	})
	if !said {
		return hookDenied
	}
	return code
}

// within waits so long for what something returns.
func within[T any](limit time.Duration, do func() T) (result T, intime bool) {
	results := make(chan T, 1)
	go func() { results <- do() }()
	select {
	case result = <-results:
		return result, true
	case <-time.After(limit):
		return result, false
	}
}

// hookRun is one run of the hook.
type hookRun struct {
	hookOptions
	wrong   error                  // with the arguments
	warrant atomic.Pointer[[]byte] // once it was read: a decision that is late is recorded too
	over    atomic.Bool            // nobody waits for the decision any more
}

func (h *hookRun) question() hook.Question {
	q := hook.Question{Client: h.client, Now: time.Now(), Interactive: h.interactive}
	if b := h.warrant.Load(); b != nil {
		q.Warrant = *b
	}
	return q
}

// decide reads what there is to read, decides and journals.
func (h *hookRun) decide(in io.Reader) (r hook.Reply) {
	defer func() {
		if p := recover(); p != nil {
			r = hook.Refuse(h.question(), fmt.Errorf("the guard failed: %v", p))
		}
	}()
	b, err := plainfile.ReadLinked(h.lease, hookWarrant) // something else of that name could take all time and memory
	if err == nil {
		h.warrant.Store(&b)
	}
	if h.wrong != nil {
		err = h.wrong
	}
	q := h.question()
	if err == nil {
		q.Input, err = io.ReadAll(io.LimitReader(in, hookInput+1))
	}
	if err != nil {
		return h.record(hook.Refuse(q, err))
	}
	return h.record(hook.Decide(q))
}

// record journals a decision. One that lets a call run and cannot be recorded is
// a denial. What is only reported lets nothing run, and refusing it would keep a
// client from ending.
func (h *hookRun) record(r hook.Reply) hook.Reply {
	if h.over.Load() {
		return r
	}
	if err := deliver(r); err != nil && r.Record.Event == "" && r.Answer.Exit == 0 {
		return hook.Refuse(h.question(), fmt.Errorf("the decision cannot be recorded: %w", err))
	}
	return r
}

// late is the answer to a call whose judgement takes too long.
func (h *hookRun) late() hook.Reply {
	h.over.Store(true)
	return hook.Refuse(h.question(), errors.New("it took too long"))
}

// sayHook gives the answer. One that cannot be said is a denial.
func sayHook(a client.Answer, out, errs io.Writer) int {
	if len(a.Stderr) > 0 {
		if _, err := errs.Write(a.Stderr); err != nil {
			return hookDenied
		}
	}
	if len(a.Stdout) == 0 {
		return a.Exit
	}
	if _, err := out.Write(a.Stdout); err != nil || intoNowhere(out) {
		unsaid := hook.Refuse(hook.Question{}, errors.New("nobody reads what the guard says on stdout"))
		_, _ = errs.Write(unsaid.Answer.Stderr) // without it the code is all that is left
		return hookDenied
	}
	return a.Exit
}

// intoNowhere reports whether what is written is thrown away. A descriptor that
// was closed when this program began is /dev/null: Go opens that in its place.
func intoNowhere(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	var there, null syscall.Stat_t
	if syscall.Fstat(int(f.Fd()), &there) != nil || syscall.Stat(os.DevNull, &null) != nil {
		return true // who knows
	}
	return there.Mode&syscall.S_IFMT == syscall.S_IFCHR && there.Rdev == null.Rdev
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

// hookCommand is for the help. A client that comes here has called the hook in
// another way than it is called, with a flag before it or with nothing behind it;
// what it is told must be a denial too, so that no flag is read.
func (a *app) hookCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hook --client NAME --lease FILE",
		Short: "Answer an agent client's question whether a tool call may run",
		Long: `Read a client's hook input on stdin, judge the tool call against a lease, and answer in
the client's dialect. Clients call it before each tool call; people do not. FILE is a
warrant that cordon lease warrant wrote. Keep it where the worker cannot write.

Every failure is a denial: bad input, an unknown client, a missing or expired lease, a
deadline, a crash, a closed stdout. If the warrant names a journal, each decision is
appended to it; a decision that cannot be recorded is a denial too.

With --interactive, clients that can ask their user do so when the guard says "ask".
Otherwise "ask" is a refusal.`,
		Example: `  cordon lease warrant brave-otter > warrant.json
  cordon hook --client ` + exampleClient + ` --lease warrant.json < call.json`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantsHelp(args) {
				return cmd.Help()
			}
			return a.hookMiscalled()
		},
	}
	var o hookOptions
	c.Flags().StringVar(&o.client, "client", "", "the `NAME` of the client that asks: "+clientList())
	c.Flags().StringVar(&o.lease, "lease", "", "the `FILE` with the warrant of the worker's lease")
	c.Flags().BoolVar(&o.interactive, "interactive", false, "a person is present and can be asked")
	return c
}

// hookMiscalled denies.
func (a *app) hookMiscalled() error {
	surviveSilence()
	r := hook.Refuse(hook.Question{}, errors.New("the hook is called as cordon hook --client NAME --lease FILE, with nothing before it"))
	return codeError(sayHook(r.Answer, a.out, a.err))
}
