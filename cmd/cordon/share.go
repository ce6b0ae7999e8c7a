package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/config"
	"cordon/internal/fault"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

func (a *app) shareCommand() *cobra.Command {
	stop := false
	c := &cobra.Command{
		Use:   "share [WHAT...]",
		Short: "Share something of your own with the workers of this repository",
		Long: `Let workers of the repository you stand in have something of your own, if the policy asks
for it: instructions (your client's memory file), skills, agents, commands, mcp:NAME (an
MCP server that your client has) and secret:NAME (a variable that the policy lists under
secrets). Without WHAT, print what is shared.

A repository's cordon.yaml can ask for these things, and can name the servers that a
worker reaches. So cordon hands none of them out without your consent for that
repository. Your configuration keeps it, under share, by the path of the repository.`,
		Example: "  cordon config share\n  cordon config share instructions skills mcp:github\n  cordon config share secret:NPM_TOKEN\n" +
			"  cordon config share --stop secret:NPM_TOKEN",
		RunE: func(cmd *cobra.Command, words []string) error { return a.share(cmd.Context(), words, stop) },
	}
	c.Flags().BoolVar(&stop, "stop", false, "stop sharing WHAT")
	return c
}

func (a *app) share(ctx context.Context, words []string, stop bool) error {
	for _, word := range words {
		if _, err := config.CheckShared(word); err != nil {
			return &fault.MistakeError{Err: err}
		}
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	loaded, err := s.Operator()
	if err != nil {
		return err
	}
	repository := config.ShareKey(worksite.RealPath(s.Host.Dir))
	file, now := loaded.File, []string(worksite.SharedWith(loaded, s.Host.Dir))
	if len(words) > 0 {
		if file, now, err = worksite.ChangeShared(loaded, s.Host.Dir, words, stop); err != nil {
			return err
		}
	}
	if a.json {
		return a.object(&view.Share{File: file, Repository: repository, Shared: append([]string{}, now...)})
	}
	if len(now) == 0 {
		a.print("nothing of yours is shared with %s", repository)
		return nil
	}
	a.print("shared with %s: %s", repository, strings.Join(now, ", "))
	return nil
}
