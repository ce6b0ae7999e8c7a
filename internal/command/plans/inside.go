package plans

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/hookrun"
	"cordon/internal/post"
	"cordon/internal/view"
)

// What the worker of a stage types in its cell. These commands talk to the socket that its
// supervisor gave it and to nothing else.

// Truth is cordon truth.
func Truth(a *Console) *cobra.Command {
	return &cobra.Command{
		Use:   "truth NUMBER yes|no WHY",
		Short: "Inside a verifier: answer a claim of the briefing",
		Long: `Answer a claim that the briefing of a verifier lists by number, with a sentence that says
why. Verifiers of a plan call this in their cell. The answer is kept as an agent's evidence.
It decides nothing that a person has decided, and no is final. The answer of an agent client
counts only in a tool call that runs this command and nothing else.`,
		Example: `  cordon truth 1 yes "src/config.rs:12 denies ../.. by default"`,
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.vote(cmd.Context(), append([]string{post.Truth}, args...), "cordon plan truth PLAN STAGE NUMBER yes|no is the answer of a person")
		},
	}
}

// vote takes the answer of a verifier or a reviewer to its supervisor. instead is what a person types.
func (a *Console) vote(ctx context.Context, words []string, instead string) error {
	dir, err := a.Post(words[0], instead)
	if err != nil {
		return err
	}
	r, err := post.Vote(words)
	if err != nil {
		return a.Usage(err)
	}
	if _, err := hookrun.TellPost(ctx, dir, r); err != nil {
		return err
	}
	p := a.Page()
	if p.JSON {
		return p.Object(&view.Done{Done: true})
	}
	p.Say("noted")
	return nil
}
