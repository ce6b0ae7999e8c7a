// Package hookrun is one run of cordon hook: it reads the question of a client and the
// warrant of a worker, lets package hook answer within a time limit, and tells the
// supervisor. The hook runs before every tool call of an agent, so a program that has this
// package is the hook before its main function runs.
//
// It refuses to fail open. Whatever happens ends as a denial: exit code 2 with a text on
// stderr and nothing on stdout is one to every client. Package hook decides; package post
// has the socket to the supervisor.
package hookrun

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"cordon/internal/client"
	"cordon/internal/hook"
	"cordon/internal/plainfile"
)

const (
	hookWord    = "hook"
	hookDenied  = 2       // the code that is a denial to every client
	hookInput   = 1 << 20 // more than a client sends
	hookWarrant = 1 << 20 // more than a warrant has
	// After client.Patience seconds without an answer, clients run the call. The limits leave room for a busy
	// machine, which must not cause a refusal.
	hookDeadline = 6 * time.Second // for the decision
	hookAnswer   = 8 * time.Second // for the decision and the answer to a question
	hookSaying   = time.Second     // for saying it, to somebody who may not be reading
)

// init answers and exits if this program was started as the hook. The packages that the guard
// does not use, such as the desk's, are initialised after this one, and a call does not wait
// for them.
func init() {
	if len(os.Args) > 2 && os.Args[1] == hookWord && !WantsHelp(os.Args[2:]) {
		SurviveSilence()
		os.Exit(hookMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// surviveSilence keeps this program alive if nobody reads what it says: clients
// take a hook that dies of a signal for a yes.
func SurviveSilence() { signal.Ignore(syscall.SIGPIPE) }

// wantsHelp reports whether a person asks how the hook is called.
func WantsHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// hookOptions are the arguments of cordon hook.
type Options struct {
	Client, Lease string
	Interactive   bool
}

// hookMain is the whole of cordon hook. It returns the exit code.
//
// It leaves the garbage collector as it is. A usual decision ends long before the first
// collection, and a call that changes a setting of the collector stops all threads, which
// takes as long as the decision.
func hookMain(args []string, in io.Reader, out, errs io.Writer) int {
	o, wrong := parseHook(args)
	h, began := hookRun{Options: o, wrong: wrong}, time.Now()
	r, intime := within(hookDeadline, func() hook.Reply { return h.decide(in) })
	if !intime {
		r = h.late()
	}
	if len(r.Asked) > 0 {
		r = passOn(r, began.Add(hookAnswer))
	}
	code, said := within(hookSaying, func() int {
		code := Say(r.Answer, out, errs)
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
	Options
	wrong   error                  // with the arguments
	warrant atomic.Pointer[[]byte] // once it was read: a decision that is late is recorded too
	over    atomic.Bool            // nobody waits for the decision any more
}

func (h *hookRun) question() hook.Question {
	q := hook.Question{Client: h.Client, Now: time.Now(), Interactive: h.Interactive}
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
	b, err := plainfile.ReadLinked(h.Lease, hookWarrant) // something else of that name could take all time and memory
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
func Say(a client.Answer, out, errs io.Writer) int {
	if len(a.Stderr) > 0 {
		if _, err := errs.Write(a.Stderr); err != nil {
			return hookDenied
		}
	}
	if len(a.Stdout) == 0 {
		return a.Exit
	}
	if _, err := out.Write(a.Stdout); err != nil || intoNowhere(out) {
		unsaid := hook.Refuse(hook.Question{}, errors.New("nobody reads the guard's answer on stdout"))
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
func parseHook(args []string) (Options, error) {
	var o Options
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		args = args[1:]
		if name == "--interactive" && !given {
			o.Interactive = true
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
			o.Client = value
		case "--lease":
			o.Lease = value
		default:
			return o, fmt.Errorf("cordon hook: unknown argument %q", name)
		}
	}
	if o.Client == "" || o.Lease == "" {
		return o, errors.New("cordon hook needs --client and --lease")
	}
	return o, nil
}
