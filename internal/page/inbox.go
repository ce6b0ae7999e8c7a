package page

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/mailbox"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// InquiryView is an open question as an object.
func InquiryView(e mailbox.Entry) view.Inquiry {
	return view.Inquiry{
		Worker: string(e.Worker.ID), Status: string(e.Status), Waits: string(e.Waits), Question: present.QuestionViews([]ledger.Inquiry{e.Inquiry})[0],
	}
}

// Inquiry prints one question; only says that the worker has no other open one.
func (p Page) Inquiry(q view.Inquiry, only bool) {
	p.Print("%s %s  %s ago, %s", q.Worker, q.ID, terminal.Age(time.Since(q.Asked)), waitsWord(q))
	p.below("    ", q.Text)
	for i, option := range q.Options {
		p.below(fmt.Sprintf("      %2d  ", i+1), legible.Line(option))
	}
	p.Say("  cordon answer %s \"…\"%s", present.Answering(q.Worker, q.ID, only), optionAdvice(q))
}

// Attention prints a stage that needs a person.
func (p Page) Attention(a view.Attention) {
	blocks := ""
	if a.Blocks > 0 {
		blocks = ", blocks " + terminal.Plural(a.Blocks, "stage")
	}
	p.Print("%s %s  %s%s", a.Plan, a.Stage, a.Need, blocks)
	if a.Why != "" {
		p.below("    ", legible.Line(a.Why))
	}
	p.Say("  %s", a.Next)
}

// below prints a text that is not cordon's, all of it: each of its lines is set in, so
// that none passes for one of cordon's, and is broken before the terminal would do so.
func (p Page) below(first, text string) {
	for _, line := range legible.Wrap(text, terminal.Width(p.Out)-len(first)) {
		p.Print("%s", strings.TrimRight(first+line, " "))
		first = strings.Repeat(" ", len(first))
	}
}

func waitsWord(q view.Inquiry) string {
	switch mailbox.Waits(q.Waits) {
	case mailbox.WaitsNow:
		return "waits for the answer"
	case mailbox.AtWork:
		return "keeps working meanwhile"
	}
	return "has ended (" + q.Status + ")"
}

func optionAdvice(q view.Inquiry) string {
	if len(q.Options) == 0 {
		return ""
	}
	return fmt.Sprintf("     or --option 1 to --option %d", len(q.Options))
}
