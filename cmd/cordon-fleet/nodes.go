package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/fleet/home"
	"cordon/internal/fleet/trial"
	"cordon/internal/journal"
	"cordon/internal/legible"
	"cordon/internal/policy"
	"cordon/internal/view"
)

func lsCommand() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use: "ls", Short: "List the nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := fleetView(cmd)
			if err != nil {
				return err
			}
			if !all {
				f.Nodes = slices.DeleteFunc(f.Nodes, func(n view.FleetNode) bool { return n.State == string(home.Gone) })
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), f)
			}
			return printNodes(cmd, f)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those that were removed")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON (cordon.fleet/1)")
	return c
}

func showCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show NODE", Short: "Show one node", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := fleetView(cmd)
			if err != nil {
				return err
			}
			f.Nodes = slices.DeleteFunc(f.Nodes, func(n view.FleetNode) bool { return n.Name != args[0] })
			if len(f.Nodes) == 0 {
				return home.ErrNoNode
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), f)
			}
			for _, n := range f.Nodes {
				printNode(cmd.OutOrStdout(), n)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON (cordon.fleet/1)")
	return c
}

// fleetView is what the journal says about the nodes, and when the home heard them.
func fleetView(cmd *cobra.Command) (*view.Fleet, error) {
	p, _, err := findHome(cmd.Context())
	if err != nil {
		return nil, err
	}
	var nodes []home.Node
	if p.log != nil {
		if nodes, err = home.Nodes(p.log); err != nil {
			return nil, err
		}
	}
	heard := map[string]home.Heard{}
	_ = p.files.Heard(&heard) // without it, nobody was heard
	reach, _ := p.files.Reach()
	f := &view.Fleet{Running: p.Held(p.lock()), URL: reach.URL, Nodes: []view.FleetNode{}, Waiting: []view.FleetWaiting{}}
	if f.Running {
		why, _ := p.files.Waiting() // for people
		for _, stage := range slices.Sorted(maps.Keys(why)) {
			worker, tests := trial.Worker(stage)
			say := why[stage]
			if tests {
				say = "to be tested: " + say
			}
			f.Waiting = append(f.Waiting, view.FleetWaiting{Worker: worker, Why: say})
		}
	}
	for _, n := range nodes {
		shown := view.FleetNode{
			Name: n.Name, Key: n.Key, State: string(n.Standing), Joined: n.Joined, Program: heard[n.Key].Program,
			Holds: append([]string{}, n.Holds...), Returned: n.Returned, Refused: n.Refused, Next: nextFor(n),
		}
		if last, ok := heard[n.Key]; ok {
			shown.Heard = &last.At
			if can := last.Can; can != nil {
				shown.Slots, shown.Clients, shown.Models, shown.Memory = can.Slots, can.Clients, can.Models, can.Memory
			}
		}
		f.Nodes = append(f.Nodes, shown)
	}
	return f, nil
}

// nextFor is what an operator would type about a node.
func nextFor(n home.Node) string {
	switch n.Standing {
	case home.Ready:
		return "cordon fleet drain " + n.Name
	case home.Draining:
		return "cordon fleet resume " + n.Name
	}
	return ""
}

func printJSON(to io.Writer, f *view.Fleet) error {
	text, err := view.Encode(f)
	if err != nil {
		return err
	}
	_, err = to.Write(legible.JSON(text))
	return err
}

func printNodes(cmd *cobra.Command, f *view.Fleet) error {
	if !f.Running {
		fmt.Fprintln(cmd.ErrOrStderr(), "the home does not run: start it with cordon fleet home")
	}
	if len(f.Nodes) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "there are no nodes: cordon fleet join prints the line to paste on one")
		return printWaiting(cmd.OutOrStdout(), f)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tSTATE\tHEARD\tSTAGES\tCLIENTS")
	for _, n := range f.Nodes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", n.Name, n.State, ago(n.Heard), stagesOf(n), said(n.Clients))
	}
	return errors.Join(w.Flush(), printWaiting(cmd.OutOrStdout(), f))
}

// stagesOf is how many stages a node has, of how many.
func stagesOf(n view.FleetNode) string {
	if n.Slots == 0 {
		return fmt.Sprint(len(n.Holds))
	}
	return fmt.Sprintf("%d of %d", len(n.Holds), n.Slots)
}

// said are words of a node.
func said(words []string) string { return legible.PlainLine(list(words)) }

// printWaiting says why stages wait.
func printWaiting(to io.Writer, f *view.Fleet) error {
	if len(f.Waiting) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nWAITING\tWHY")
	for _, s := range f.Waiting {
		fmt.Fprintf(w, "%s\t%s\n", s.Worker, legible.PlainLine(s.Why))
	}
	return w.Flush()
}

func printNode(to io.Writer, n view.FleetNode) {
	fmt.Fprintf(to, "%s is %s\n  key       %s\n  joined    %s\n  heard     %s\n", n.Name, n.State, n.Key, n.Joined.Local().Format(time.DateTime), ago(n.Heard))
	if n.Program != "" {
		fmt.Fprintf(to, "  program   cordon-fleet %s (it says so)\n", legible.PlainLine(n.Program))
	}
	if n.Slots > 0 {
		fmt.Fprintf(to, "  slots     %d\n  clients   %s\n  models    %s\n  memory    %s\n",
			n.Slots, said(n.Clients), cmp.Or(legible.PlainLine(strings.Join(n.Models, " ")), "all"), policy.Bytes(n.Memory))
	}
	fmt.Fprintf(to, "  stages    %s\n  results   %d taken, %d refused\n", list(n.Holds), n.Returned, n.Refused)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

func ago(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return time.Since(*at).Round(time.Second).String() + " ago"
}

// changeCommand is a command that decides about one node.
func changeCommand(use, short, done string, act func(*journal.Journal, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " NODE", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := findHome(cmd.Context())
			if err != nil {
				return err
			}
			if p.log == nil {
				return home.ErrNoNode
			}
			if err := act(p.log, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", args[0], done)
			return nil
		},
	}
}
