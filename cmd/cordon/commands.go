package main

import (
	"github.com/spf13/cobra"

	"cordon/internal/command/configs"
	"cordon/internal/command/demos"
	"cordon/internal/command/desks"
	"cordon/internal/command/fleets"
	"cordon/internal/command/mcps"
	"cordon/internal/command/plans"
	"cordon/internal/command/ports"
	"cordon/internal/command/queues"
	"cordon/internal/command/remarks"
	"cordon/internal/command/serves"
)

// entry is a command that is made when it is needed.
type entry struct {
	name string
	make func() *cobra.Command
}

// entries are all commands.
func (a *app) entries() []entry {
	return []entry{
		{"run", a.runCommand}, {"exec", a.execCommand}, {"shell", a.shellCommand}, {"attach", a.attachCommand}, {"resume", a.resumeCommand},
		{"merge", a.mergeCommand}, {"retry", a.retryCommand},
		{"open", func() *cobra.Command {
			return ports.Open(&ports.Console{Worker: a.worker, Page: a.page, Names: a.liveNames})
		}},
		{"ui", func() *cobra.Command {
			return desks.New(a.desksConsole())
		}},
		{"inbox", a.inboxCommand}, {"answer", a.answerCommand}, {"ask", a.askCommand},
		{"done", a.doneCommand}, {"status", a.statusCommand}, {"ls", a.lsCommand}, {"stop", a.stopCommand}, {"wait", a.waitCommand},
		{"show", a.showCommand}, {"logs", a.logsCommand}, {"diff", a.diffCommand}, {"checkout", a.checkoutCommand}, {"audit", a.auditCommand},
		{"comments", func() *cobra.Command {
			return remarks.New(&remarks.Console{Worker: a.worker, Page: a.page, Who: operator, Names: a.workerNames})
		}},
		{"queue", func() *cobra.Command { return queues.New(&queues.Console{Open: a.open, Page: a.page}) }},
		{"quarantine", a.quarantineCommand}, {"discard", a.discardCommand}, {"gc", a.gcCommand}, {"journal", a.journalCommand},
		{"plan", func() *cobra.Command { return plans.New(a.plansConsole()) }},
		{"truth", func() *cobra.Command { return plans.Truth(a.plansConsole()) }},
		{"review", func() *cobra.Command { return plans.Review(a.plansConsole()) }},
		{"config", func() *cobra.Command {
			return configs.New(&configs.Console{Open: a.open, Page: a.page, Check: a.configCheck})
		}},
		{"policy", a.policyCommand}, {"lease", a.leaseCommand}, {"briefing", a.briefingCommand},
		{"check", a.checkCommand}, {"hook", a.hookCommand}, {"init", a.initCommand}, {"doctor", a.doctorCommand},
		{"demo", func() *cobra.Command {
			return demos.New(&demos.Console{Page: a.page, Announce: a.announce, Who: operator, Draws: a.desksConsole().Draws, Desk: a.showDesk})
		}},
		{"serve", func() *cobra.Command { return serves.New(a.servesConsole()) }},
		{"token", func() *cobra.Command { return serves.Token(a.servesConsole()) }},
		{"fleet", func() *cobra.Command { return fleets.New(&fleets.Console{Refuse: refuseInside}) }},
		{"mcp", func() *cobra.Command {
			return mcps.New(&mcps.Console{Open: a.open, Who: operator, Dir: func() string { return a.dir }})
		}},
		{"version", a.versionCommand},
	}
}

// commands makes the command that the first argument names, or all. To make all of them takes
// as long as the start of a small program.
func (a *app) commands(args []string) []*cobra.Command {
	var list []*cobra.Command
	for _, e := range a.entries() {
		if len(args) > 0 && args[0] == e.name {
			return []*cobra.Command{e.make()}
		}
	}
	for _, e := range a.entries() {
		list = append(list, e.make())
	}
	return list
}

// servesConsole is what the servers share with the other commands.
func (a *app) servesConsole() *serves.Console {
	return &serves.Console{Open: a.open, Page: a.page, Who: operator, Dir: func() string { return a.dir }, Code: func(n int) error { return codeError(n) }}
}
