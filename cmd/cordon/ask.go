package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/cell"
	"cordon/internal/hookrun"
	"cordon/internal/mailbox"
	"cordon/internal/post"
	"cordon/internal/view"
)

// What a worker types. These commands talk to the socket that the supervisor gave
// the worker and to nothing else: they open no repository and no state.

// askOptions are the flags of cordon ask.
type askOptions struct {
	options []string
	wait    time.Duration
	noWait  bool
	again   string
}

// askPatience is less than clients let a command take.
const askPatience = 90 * time.Second

func (a *app) askCommand() *cobra.Command {
	var o askOptions
	c := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Inside a worker: ask the operator, and wait for the answer",
		Long: `Pass a question to the operator, wait for the answer and print it on stdout. Workers
call this in their cell.

Agent clients end commands that take long. Therefore this command waits 90 seconds and
then says how to continue: the question stays open, --again waits for its answer once
more, and a worker that ends with an open question is resumed with the answer.`,
		Example: `  cordon ask "may I change the public interface of package store?"
  cordon ask "which database?" --option postgres --option sqlite
  cordon ask --again q1`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ask(cmd.Context(), o, strings.Join(args, " "))
		},
	}
	c.Flags().StringArrayVar(&o.options, "option", nil, "an `ANSWER` to choose from (repeatable)")
	c.Flags().DurationVar(&o.wait, "wait", askPatience, "how long to wait for the answer, a `DURATION`")
	c.Flags().BoolVar(&o.noWait, "no-wait", false, "do not wait; print the name of the question")
	c.Flags().StringVar(&o.again, "again", "", "wait again for the answer to the question `NAME`")
	return c
}

func (o askOptions) check(text string) error {
	switch {
	case o.again == "" && strings.TrimSpace(text) == "":
		return usage("cordon ask: there is no question")
	case o.again != "" && (text != "" || len(o.options) > 0):
		return usage("cordon ask --again waits for a question that was asked before: it takes no other")
	case o.wait < 0 || o.wait > 24*time.Hour:
		return usage("cordon ask --wait: between 0s and 24h")
	}
	if _, ok := mailbox.ParseQuestion(o.again); o.again != "" && !ok {
		return usage("cordon ask --again: %q is not the name of a question: they are q1, q2, …", o.again)
	}
	return nil
}

func (a *app) ask(ctx context.Context, o askOptions, text string) error {
	dir, err := postOf("ask", `cordon inbox lists what workers ask, and cordon answer ID "…" answers`)
	if err != nil {
		return err
	}
	if err := o.check(text); err != nil {
		return err
	}
	if o.noWait {
		o.wait = 0
	}
	r := post.Request{Verb: post.Ask, Text: text, Options: o.options, Wait: int((o.wait + time.Second - 1) / time.Second)}
	if o.again != "" {
		r = post.Request{Verb: post.Await, Question: o.again, Wait: r.Wait}
	}
	reply, err := hookrun.TellPost(ctx, dir, r)
	if err != nil {
		return err
	}
	return a.asked(o, reply)
}

// asked says what came of a question.
func (a *app) asked(o askOptions, r post.Reply) error {
	var code error = codeError(exitPerson)
	if r.Answered || o.noWait && o.again == "" {
		code = nil
	}
	if a.json {
		return errors.Join(a.object(&view.Ask{Question: r.Question, Answered: r.Answered, Answer: r.Answer}), code)
	}
	switch {
	case r.Answered:
		a.print("%s", r.Answer)
		return nil
	case code == nil:
		a.print("%s", r.Question)
	}
	a.say("your question %s was passed on to the operator; it is not answered yet", r.Question)
	a.say("  continue with work that does not depend on it; cordon ask --again %s waits for the answer once more", r.Question)
	a.say("  or end your turn: you will be resumed with the answer")
	return code
}

// postOf is the directory of the socket, for those who have one.
func postOf(verb, instead string) (string, error) {
	if dir := os.Getenv(post.Variable); dir != "" {
		return dir, nil
	}
	if worker := os.Getenv(cell.Mark); worker != "" {
		return "", usage("cordon %s: worker %s has no way to its operator (%s is not set): end your turn with what you have to say", verb, worker, post.Variable)
	}
	return "", usage("cordon %s is for workers, inside their cell: %s", verb, instead)
}

func (a *app) doneCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "done [TEXT]",
		Short: "Inside a worker: say that the work is done",
		Long: `Report that the work is done, with one sentence about it. Workers call this in their
cell. It decides nothing: the audit and the gate look at what the worker really left.`,
		Example: `  cordon done "the parser accepts comments; tests are in parse_test.go"`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.done(cmd.Context(), strings.Join(args, " "))
		},
	}
}

func (a *app) done(ctx context.Context, text string) error {
	dir, err := postOf("done", "cordon ls shows what became of workers, and cordon merge ID takes one to the gate")
	if err != nil {
		return err
	}
	if _, err := hookrun.TellPost(ctx, dir, post.Request{Verb: post.Done, Text: text}); err != nil {
		return err
	}
	if a.json {
		return a.object(&view.Done{Done: true})
	}
	a.say("noted; end your turn now: what you left is audited and goes to the gate")
	return nil
}

func (a *app) statusCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Inside a worker: show the lease and the answers; elsewhere: ls",
		Long: `Inside a worker's cell: show what its lease allows, how long it lasts, and the answers
to its questions.

Everywhere else: List the workers of this repository, as cordon ls does.`,
		Example: "  cordon status\n  cordon status --json | jq '.questions[] | select(.answered)'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir := os.Getenv(post.Variable); dir != "" {
				return a.leaseStatus(cmd.Context(), dir)
			}
			return a.ls(cmd.Context(), lsOptions{earlier: all})
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "include workers that landed before today, were discarded, or were removed by gc")
	return c
}

// leaseStatus shows a worker what it may know of itself.
func (a *app) leaseStatus(ctx context.Context, dir string) error {
	reply, err := hookrun.TellPost(ctx, dir, post.Request{Verb: post.Look})
	if err != nil {
		return err
	}
	if reply.Status == nil {
		return errors.New("cordon answers without a status")
	}
	return a.page().Status(reply.Status)
}
