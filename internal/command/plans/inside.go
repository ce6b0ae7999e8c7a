package plans

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
It decides nothing that a person has decided.`,
		Example: `  cordon truth 1 yes "src/config.rs:12 denies ../.. by default"`,
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.sayTruth(cmd.Context(), args)
		},
	}
}

func (a *Console) sayTruth(ctx context.Context, args []string) error {
	dir, err := a.Post("truth", "cordon plan truth PLAN STAGE NUMBER yes|no is the answer of a person")
	if err != nil {
		return err
	}
	number, yes, err := readAnswer(args[0], args[1])
	if err != nil {
		return a.Usage(err)
	}
	r := post.Request{Verb: post.Truth, Number: number, Yes: yes, Text: strings.Join(args[2:], " ")}
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

// readAnswer reads the number of a claim, and yes or no.
func readAnswer(number, word string) (n int, yes bool, err error) {
	n, err = strconv.Atoi(number)
	if err != nil || n < 1 {
		return 0, false, fmt.Errorf("%q is not the number of a claim", number)
	}
	switch word {
	case "yes":
		return n, true, nil
	case "no":
		return n, false, nil
	}
	return 0, false, fmt.Errorf("answer yes or no, not %q", word)
}
