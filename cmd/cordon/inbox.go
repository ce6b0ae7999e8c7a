package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/conduct"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/seen"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) inboxCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inbox",
		Short: "List what waits for you: stages of plans and questions of workers",
		Long: `List the stages of open plans that need you, each with the command that helps: those first
that most other stages wait for, then the oldest. Then list the open questions of all workers,
oldest first, with their options and whether the worker is waiting for the answer now.`,
		Example: "  cordon inbox\n  cordon inbox --json | jq -r '.questions[].text'",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.inbox(cmd.Context()) },
	}
}

func (a *app) inbox(ctx context.Context) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	list, err := mailbox.Inbox(ctx, s.Site)
	if err != nil {
		return err
	}
	stages, err := conduct.Attention(ctx, s.Site)
	if err != nil {
		return err
	}
	shown := view.Inbox{Questions: present.Each(list, page.InquiryView), Stages: present.Each(stages, present.AttentionView)}
	if a.json {
		return a.object(&shown)
	}
	if len(shown.Questions)+len(shown.Stages) == 0 {
		a.say("no worker asks anything")
	}
	for _, one := range shown.Stages {
		a.page().Attention(one)
	}
	for i, q := range shown.Questions {
		a.page().Inquiry(q, len(list[i].Worker.Open()) == 1)
	}
	return nil
}

func (a *app) answerCommand() *cobra.Command {
	var option int
	var saw string
	c := &cobra.Command{
		Use:   "answer ID [QUESTION] TEXT",
		Short: "Answer a worker's question",
		Long: `Answer a worker's question. A worker that waits in its cell gets the answer at once.
For a worker that has ended, cordon resume starts it again with the answer. QUESTION
is the name that cordon inbox shows; you can omit it while only one question is open.
An answer is text for the agent: it allows nothing that the lease does not allow.`,
		Example: `  cordon answer brisk-otter "sqlite; keep the interface as it is"
  cordon answer brisk-otter q2 --option 1`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answer(cmd.Context(), args[0], saw, args[1:], option)
		},
	}
	seenFlag(c, &saw)
	c.Flags().IntVar(&option, "option", 0, "answer with the `N`th of the question's options")
	return c
}

func (a *app) answer(ctx context.Context, prefix, saw string, words []string, option int) error {
	s, w, err := a.worker(ctx, prefix)
	if err != nil {
		return err
	}
	q, words, err := mailbox.Named(w, words)
	if err != nil {
		return usageError{err}
	}
	if err := a.saw(ctx, s, w, saw, seen.ForAnswer, q.ID()); err != nil {
		return err
	}
	text, err := answerText(q, words, option)
	if err != nil {
		return err
	}
	waits := mailbox.WaitsFor(s.Site, w, q.Number)
	if err := mailbox.Answer(ctx, s.Site, w, q.Number, text, operator()); err != nil {
		return err
	}
	if a.json {
		return a.object(&view.Answer{Worker: string(w.ID), Question: q.ID(), Answer: text, Waits: string(waits)})
	}
	a.print("%s %s  answered", w.ID, q.ID())
	switch waits {
	case mailbox.WaitsNow:
		a.say("  it was waiting for that, and goes on")
	case mailbox.AtWork:
		a.say("  it runs, and is told when it asks for the answer; if it ends before: cordon resume %s", w.ID)
	default:
		next := "cordon resume " + string(w.ID)
		if w.Stage != nil {
			next = "cordon plan run " + w.Stage.Plan
		}
		a.say("  %s   to continue with the answer", next)
	}
	return nil
}

func answerText(q ledger.Inquiry, words []string, option int) (string, error) {
	switch {
	case option == 0 && len(words) == 0:
		return "", usage("cordon answer: an answer needs a text")
	case option == 0:
		return strings.Join(words, " "), nil
	case len(words) > 0:
		return "", usage("cordon answer: a text, or --option, and not both")
	case option < 1 || option > len(q.Options):
		return "", usage("cordon answer: question %s has %s", q.ID(), terminal.Plural(len(q.Options), "option"))
	}
	return q.Options[option-1], nil
}
