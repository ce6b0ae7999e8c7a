// Package mcps holds the command cordon mcp: its flags, and what the server is connected to. It
// refuses to connect more than reading, dispatches and answers.
package mcps

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordon/internal/ledger"
	"cordon/internal/mcp"
	"cordon/internal/order"
	"cordon/internal/query"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Open func(context.Context) (*session.Session, error)
	Who  func() string
	Dir  func() string // around which the repository is
}

// New is cordon mcp.
func New(a *Console) *cobra.Command {
	var answers bool
	var most []string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Let an agent of yours use cordon (an MCP server on stdio)",
		Long: `Be a server of the Model Context Protocol on standard input and output. An agent of yours
that runs outside a cell can start workers, wait for them, and read their states, reviews,
diffs and plans.

A dispatch takes the name of a client and a prompt, and never flags or a policy. The worker
gets the policy of the repository, and its result ends in review. --max-write narrows what
the workers may write. --may-answer also lets it answer questions of workers. There is
no tool that merges, releases, discards, stops or changes a policy: you decide.`,
		Example: `  cordon mcp
  cordon mcp --max-write docs --may-answer
  ` + exampleEntry,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context(), answers, most)
		},
	}
	c.Flags().BoolVar(&answers, "may-answer", false, "let it answer questions of workers")
	c.Flags().StringArrayVar(&most, "max-write", nil, "let the workers write at most `ROOT` (repeatable)")
	return c
}

// exampleEntry is how most clients name a server.
const exampleEntry = `{"mcpServers": {"cordon": {"command": "cordon",
    "args": ["-C", "/path/to/repo", "mcp"]}}}`

func (a *Console) serve(ctx context.Context, answers bool, most []string) error {
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if err := s.State.Make(s.Host); err != nil {
		return err
	}
	around, err := filepath.Abs(a.Dir())
	if err != nil {
		return err
	}
	d := desk{query.Desk{Open: a.Open}, order.Counter{Open: a.Open, Dir: around, Who: a.Who(), MaxWrite: most}}
	err = mcp.Serve(ctx, mcp.New(d, mcp.Options{Version: ledger.Version(), MayAnswer: answers}))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// desk is what the server may ask for.
type desk struct {
	query.Desk
	orders order.Counter
}

func (d desk) Diff(ctx context.Context, id string, from, most int) (*view.Lines, error) {
	return d.Desk.Diff(ctx, id, query.Part{From: from, Most: most})
}

func (d desk) Dispatch(ctx context.Context, r view.DispatchRequest) (*view.Detached, error) {
	return d.orders.Dispatch(ctx, r)
}

func (d desk) Answer(ctx context.Context, id string, r view.AnswerRequest) (*view.Answer, error) {
	return d.orders.Answer(ctx, id, r, "api:mcp")
}
