package configs

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/config"
	"cordon/internal/fault"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

func (a *Console) shareCommand() *cobra.Command {
	stop := false
	c := &cobra.Command{
		Use:   "share [WHAT...]",
		Short: "Share something of your own with the workers of this repository",
		Long: `Let workers of the repository you stand in have something of your own, if the policy asks
for it: instructions (your client's memory file), skills, agents, commands, mcp:NAME (an
MCP server that your client has) and secret:NAME (a variable that the policy lists under
secrets). Without WHAT, print what is shared.

Let the policy open what it asks for, too: isolation:degraded or isolation:none, domain:ENTRY
(of network.allowed_domains), port:NUMBER (network.host_ports), read:ROOT (a read root that
shows something hidden; read:@default where deny_read leaves out @default) and web (agent.web).

Whoever can push to a branch can change its cordon.yaml. So cordon hands out and opens none
of this without your consent for that repository, and a changed value needs it again. Your
configuration keeps it, under share, by the path of the repository. cordon init records it
for the policy that it writes.`,
		Example: "  cordon config share\n  cordon config share instructions skills mcp:github\n  cordon config share secret:NPM_TOKEN\n" +
			"  cordon config share domain:@npm\n  cordon config share isolation:none\n" +
			"  cordon config share --stop secret:NPM_TOKEN",
		RunE: func(cmd *cobra.Command, words []string) error { return a.share(cmd.Context(), words, stop) },
	}
	c.Flags().BoolVar(&stop, "stop", false, "stop sharing WHAT")
	return c
}

func (a *Console) share(ctx context.Context, words []string, stop bool) error {
	for _, word := range words {
		if _, err := config.CheckShared(word); err != nil {
			return &fault.MistakeError{Err: err}
		}
	}
	s, err := a.Open(ctx)
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
	if a.Page().JSON {
		return a.Page().Object(&view.Share{File: file, Repository: repository, Shared: append([]string{}, now...)})
	}
	if len(now) == 0 {
		a.Page().Print("nothing of yours is shared with %s", repository)
		return nil
	}
	a.Page().Print("shared with %s: %s", repository, strings.Join(now, ", "))
	return nil
}
