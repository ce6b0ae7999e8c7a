// Package manual arranges the help of the commands: groups, exit codes, width, and what
// was probably meant by a name that does not exist. It refuses to know what a command does.
package manual

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordon/internal/present"
	"cordon/internal/strictyaml"
)

// groups are the headings of cordon --help, and the commands below each.
var groups = []struct{ title, commands string }{
	{"Start:", "demo init run plan exec shell attach open resume stop"},
	{"Watch:", "ls ui wait show logs diff audit checkout inbox queue"},
	{"Decide:", "answer merge retry comments quarantine discard"},
	{"Policy:", "policy config check lease briefing"},
	{"Machine:", "doctor journal gc fleet serve token mcp version completion help"},
	{"Inside a worker:", "ask done status truth review hook"},
}

const exitsHeading = "\nExit codes:\n"

// pipelineCodes are the exit codes of the commands that take a worker through the
// pipeline.
const pipelineCodes = `  0    done: merged, or nothing to do
  1    failed
  2    wrong usage
  3    refused by policy, or a required sandbox layer is missing
  4    quarantined
  5    needs a person: review, conflict, checkout in the way, or question
  6    the worker itself failed
  130  interrupted`

// PlainCodes are those of the other commands.
const PlainCodes = `  0    done
  1    failed
  2    wrong usage
  3    refused
  130  interrupted`

// commandCodes are those of the commands that run another command.
const commandCodes = `  the command's own, and
  2      wrong usage, with a message
  3      refused, with a message
  125    no cell could be started
  126    the command cannot be executed
  127    the command is not found
  128+n  signal n ended the command`

// exitsOf are the exit codes of each command that has its own.
var exitsOf = map[string]string{
	"cordon":                    pipelineCodes,
	"cordon run":                pipelineCodes,
	"cordon resume":             pipelineCodes,
	"cordon merge":              pipelineCodes,
	"cordon retry":              pipelineCodes,
	"cordon quarantine release": pipelineCodes,
	"cordon wait":               pipelineCodes + "\n  124  --timeout is over",
	"cordon exec":               commandCodes,
	"cordon shell":              commandCodes + "; 137 also if the worker ended first",
	"cordon ask": `  0  answered, or asked with --no-wait
  1  the question could not be passed on
  2  wrong usage, or not inside a worker
  5  not answered yet`,
	"cordon check": `  0  allow (with --batch: every line was answered)
  1  failed
  2  wrong usage
  3  deny
  5  ask`,
	"cordon hook": `  0  the call may run
  2  the call may not run; stderr tells the agent why`,
	"cordon doctor": `  0    ready, or contained
  1    a check failed, or an attempt escaped or died
  2    wrong usage
  130  interrupted`,
	"cordon policy check": `  0    every file is a policy
  1    a file could not be read
  2    wrong usage
  3    a file is not a policy`,
	"cordon config check": `  0    every file is a configuration
  1    a file could not be read
  2    wrong usage
  3    a file is not a configuration, or others can write it`,
}

// Exits are the exit codes of a command.
func Exits(c *cobra.Command) string {
	if codes, ok := exitsOf[c.CommandPath()]; ok {
		return codes
	}
	return PlainCodes
}

// Arrange groups the commands, gives each its own exit codes, and calls finish for each.
func Arrange(root *cobra.Command, finish func(*cobra.Command)) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for name := range strings.FieldsSeq(g.commands) {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				c.GroupID = g.title
			}
		}
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages |", fmt.Sprintf("FlagUsagesWrapped %d |", Columns)))
	template := root.HelpTemplate() + exitsHeading
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		c.SetHelpTemplate(template + Exits(c) + "\n")
		c.Long = wrapParagraphs(c.Long)
		c.SuggestionsMinimumDistance = 2
		finish(c)
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(root)
}

// Columns is how wide help is.
const Columns = 80

// wrapParagraphs wraps each paragraph of a text, but for indented ones.
func wrapParagraphs(text string) string {
	list := strings.Split(text, "\n\n")
	for i, p := range list {
		if !strings.HasPrefix(p, " ") && !strings.Contains(p, "\n ") {
			list[i] = strings.Join(present.Wrapped(p, Columns), "\n")
		}
	}
	return strings.Join(list, "\n\n")
}

// UnknownCommand says which command was probably meant.
func UnknownCommand(c *cobra.Command, name string) error {
	text := fmt.Sprintf("%s has no command %q", c.CommandPath(), name)
	if near := c.SuggestionsFor(name); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// UnknownFlag says which flag was probably meant.
func UnknownFlag(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || len(missing.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := strictyaml.Nearest(missing.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w: did you mean --%s?", err, near)
	}
	return err
}
