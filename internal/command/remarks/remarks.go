// Package remarks holds the command cordon comments. It refuses to send anything to a worker:
// cordon resume --comments does.
package remarks

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/page"
	"cordon/internal/remark"
	"cordon/internal/session"
	"cordon/internal/view"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Worker func(context.Context, string) (*session.Session, *ledger.Worker, error)
	Page   func() page.Page
	Who    func() string
	Names  func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)
}

// New is cordon comments.
func New(a *Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "comments",
		Short: "Comment on lines of a result, and collect the comments",
		Long: `Comment on lines of a worker's result. Comments are collected until cordon resume
--comments sends them to the worker, each with its path, its lines and the code. A comment
is bound to the content that it was made on: if the file changes, the comment is shown
as outdated, and never moves to other lines.`,
		Example: "  cordon comments add brisk-otter src/parse.go:10-12 \"handle tabs too\"\n  cordon comments ls brisk-otter\n" +
			"  cordon resume brisk-otter --comments",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.add(), a.list(), a.remove())
	return c
}

func (a *Console) add() *cobra.Command {
	var old bool
	c := &cobra.Command{
		Use: "add ID PATH:LINE[-LINE] TEXT", Short: "Comment on lines of a result",
		Long: "Comment on a line or a range of lines of a file, as cordon diff shows its new side. --old means the file as it was before.",
		Example: "  cordon comments add brisk-otter src/parse.go:10-12 \"handle tabs too\"\n" +
			"  cordon comments add brisk --old README.md:3 \"this line should stay\"",
		Args: cobra.MinimumNArgs(3), ValidArgsFunction: a.Names,
		RunE: func(cmd *cobra.Command, args []string) error {
			on, err := place(args[1])
			if err != nil {
				return err
			}
			if old {
				on.Side = view.SideOld
			}
			s, w, err := a.Worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if _, err := remark.Add(cmd.Context(), s.Site, w, on, strings.Join(args[2:], " "), a.Who()); err != nil {
				return err
			}
			return a.show(cmd.Context(), s, w)
		},
	}
	c.Flags().BoolVar(&old, "old", false, "the lines are those of the file before the change")
	return c
}

// place reads PATH:LINE or PATH:LINE-LINE.
func place(text string) (remark.On, error) {
	at := strings.LastIndexByte(text, ':')
	if at > 0 {
		first, last, ranged := strings.Cut(text[at+1:], "-")
		if !ranged {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, also := strconv.Atoi(last)
		if err == nil && also == nil {
			return remark.On{Path: text[:at], Side: view.SideNew, From: from, To: to}, nil
		}
	}
	return remark.On{}, &fault.MistakeError{Err: fmt.Errorf("%q does not name lines: write PATH:LINE or PATH:LINE-LINE, as in src/parse.go:10-12", text)}
}

func (a *Console) list() *cobra.Command {
	return &cobra.Command{
		Use: "ls ID", Short: "List the comments on a result", Long: "List the comments on a result, with the lines that they are about.",
		Example: "  cordon comments ls brisk-otter", Args: cobra.ExactArgs(1), ValidArgsFunction: a.Names,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.Worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), s, w)
		},
	}
}

func (a *Console) remove() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID COMMENT", Short: "Take a comment back", Long: "Take a comment back. It has no effect on a worker that was sent it.",
		Example: "  cordon comments rm brisk-otter c2", Args: cobra.ExactArgs(2), ValidArgsFunction: a.Names,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.Worker(cmd.Context(), args[0])
			if err == nil {
				err = remark.Remove(s.Site, w, args[1])
			}
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), s, w)
		},
	}
}

// show lists the comments.
func (a *Console) show(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	v, err := remark.List(ctx, s.Site, w)
	if err != nil {
		return err
	}
	p := a.Page()
	if p.JSON {
		return p.Object(v)
	}
	if len(v.Comments) == 0 {
		p.Say("no comments on %s", w.ID)
	}
	for _, c := range v.Comments {
		sent := ""
		if c.Sent != nil {
			sent = "  sent " + c.Sent.Local().Format("2006-01-02 15:04")
		}
		p.Print("%s  %s%s", c.ID, remark.Place(c), sent)
		for _, line := range c.Quote {
			p.Print("    | %s", line)
		}
		p.Print("    %s", legible.Text(c.Text))
	}
	return nil
}
