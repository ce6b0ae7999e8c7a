package plans

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/conduct"
	"cordon/internal/plan"
	"cordon/internal/post"
)

// Review is cordon review, which a reviewer types in its cell.
func Review(a *Console) *cobra.Command {
	return &cobra.Command{
		Use:   "review approve|feedback|escalate TEXT",
		Short: "Inside a reviewer: say what you think of the result",
		Long: `Say what you think of the result that the briefing of a reviewer shows. Reviewers of a plan
call this in their cell. approve: it may go to the gate, which tests it all the same. feedback:
its author is told TEXT and changes it. escalate: a person has to decide. The answer is an
agent's evidence; feedback and escalate are final. The answer of an agent client counts only
in a tool call that runs this command and nothing else. No worker can review a result of its
own.`,
		Example: `  cordon review approve "It refuses tabs, and t/tabs.sh shows it"
  cordon review feedback "src/parser.c:12 reads one byte too many"
  cordon review escalate "The task contradicts itself"`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.vote(cmd.Context(), append([]string{post.Review}, args...), "cordon plan review PLAN STAGE approve|feedback is the answer of a person")
		},
	}
}

// review is the opinion of a person.
func (a *Console) review() *cobra.Command {
	return &cobra.Command{
		Use: "review PLAN STAGE approve|feedback [TEXT]", Short: "Approve the result of a stage, or send it back",
		Long: `Say what you think of a result that waits for its review. approve: cordon plan run takes it to
the gate, which tests it on the merged tree as always. feedback: its author goes on, and is
told TEXT. Your word counts more than that of a reviewing agent. cordon diff shows the result.`,
		Example: "  cordon plan review tabs parser approve\n  cordon plan review tabs parser feedback \"Keep the old name of the option\"",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			verdict := plan.Verdict(args[2])
			if verdict != plan.Approve && verdict != plan.Feedback {
				return a.Usage(fmt.Errorf("answer approve or feedback, not %q", args[2]))
			}
			s, err := a.Open(cmd.Context())
			if err == nil {
				o := conduct.Opinion{Plan: args[0], Stage: args[1], Verdict: verdict, Text: strings.Join(args[3:], " "), Who: a.Who()}
				err = conduct.GiveReview(cmd.Context(), s.Site, o)
			}
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), args[0])
		},
	}
}
