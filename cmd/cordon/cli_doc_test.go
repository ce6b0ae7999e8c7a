package main

import (
	"cordon/internal/manual"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/cli.md from the commands")

// commandPage documents every command. It is made of the texts that --help prints.
const commandPage = "../../docs/cli.md"

// TestCommandPage fails when the page of commands is not what --help says. With -update it
// writes the page.
func TestCommandPage(t *testing.T) {
	root := (&app{out: io.Discard, err: io.Discard}).root()
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is generated from the texts of `cordon --help`: " +
		"`go test ./cmd/cordon -run TestCommandPage -update`.\n\n")
	b.WriteString("A worker's name may be shortened to any unique beginning.\n\n")
	b.WriteString("| command | |\n|---|---|\n")
	eachCommand(root, func(c *cobra.Command) {
		if c != root {
			fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
		}
	})
	b.WriteString("\n## Flags of every command\n\n" + flagTable(root.PersistentFlags()))
	b.WriteString("\n## Exit codes\n\nUnless a command has its own:\n\n```\n" + manual.PlainCodes + "\n```\n")
	eachCommand(root, func(c *cobra.Command) {
		if c != root {
			b.WriteString(section(c))
		}
		if c.Runnable() && c.Example == "" && c.Name() != "completion" && c.Parent().Name() != "completion" {
			t.Errorf("%s has no example", c.CommandPath())
		}
	})
	checkPage(t, b.String())
}

func checkPage(t *testing.T, want string) {
	t.Helper()
	got, err := os.ReadFile(commandPage)
	if err == nil && string(got) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: run go test ./cmd/cordon -run TestCommandPage -update (%v)", commandPage, err)
	}
	if err := os.WriteFile(commandPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachCommand calls do for a command and those below it, in the order of the help.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	if c.Hidden || c.Name() == "help" {
		return
	}
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

// section is what the page says about one command.
func section(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s.\n", c.CommandPath(), c.Short)
	if c.Runnable() {
		c.InheritedFlags() // as when help is printed: the flags of every command are its own, too
		fmt.Fprintf(&b, "\n```\n%s\n```\n", c.UseLine())
	}
	if c.Long != "" {
		fmt.Fprintf(&b, "\n```text\n%s\n```\n", c.Long)
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n\n```\n%s\n```\n", c.Example)
	}
	if table := flagTable(c.LocalNonPersistentFlags()); table != "" {
		b.WriteString("\n" + table)
	}
	if codes := manual.Exits(c); c.Runnable() && codes != manual.PlainCodes {
		fmt.Fprintf(&b, "\nExit codes:\n\n```\n%s\n```\n", codes)
	}
	return b.String()
}

// flagTable is a row for each flag, or nothing.
func flagTable(flags *pflag.FlagSet) string {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", strings.TrimSpace(name+" "+value), strings.ReplaceAll(usage, "|", `\|`))
	})
	if rows.Len() == 0 {
		return ""
	}
	return "| flag | |\n|---|---|\n" + rows.String()
}

// TestHelpFitsATerminal wants no line of help to be cut or broken at 80 columns.
func TestHelpFitsATerminal(t *testing.T) {
	root := (&app{out: io.Discard, err: io.Discard}).root()
	eachCommand(root, func(c *cobra.Command) {
		if strings.Contains(c.CommandPath(), "completion") {
			return // the library's own words
		}
		var b strings.Builder
		c.SetOut(&b)
		if err := c.Help(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(b.String()) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > manual.Columns {
				t.Errorf("%s --help: %s", c.CommandPath(), line)
			}
		}
	})
}
