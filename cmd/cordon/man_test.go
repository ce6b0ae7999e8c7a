package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var manDir = flag.String("man", "", "write the manual pages to `DIR`; release/build does")

// TestManPages makes a manual page of every command's help. The program itself carries
// no generator.
func TestManPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	a := &app{out: os.Stdout, err: os.Stderr}
	root := a.root()
	n := 0
	var write func(c *cobra.Command)
	write = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		n++
		page := manPage(c)
		for _, part := range []string{".SH NAME\n", ".SH SYNOPSIS\n", roff(c.Short)} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %q", c.CommandPath(), part)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, sub := range c.Commands() {
			write(sub)
		}
	}
	write(root)
	if n < 30 {
		t.Errorf("only %d pages", n)
	}
	man, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff is not here: nobody has read the pages")
		return
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*.1"))
	if out, err := exec.Command(man, append([]string{"-man", "-ww", "-z"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the help of a command in the language of man.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" cordon\n", strings.ToUpper(manName(c)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(c.UseLine()))
	if c.Long != "" {
		b.WriteString(".SH DESCRIPTION\n" + paragraphs(c.Long))
	}
	if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, ".SH OPTIONS\n.nf\n%s.fi\n", lines(flags.FlagUsagesWrapped(78)))
	}
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n" + lines(c.Example) + ".fi\n")
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s(1)\n", roff(manName(c.Parent())))
	}
	return b.String()
}

// paragraphs keeps lists as they are and lets man fill the rest.
func paragraphs(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(part, " ") {
			b.WriteString(".nf\n" + lines(part) + ".fi\n")
		} else {
			b.WriteString(".PP\n" + lines(part))
		}
	}
	return b.String()
}

func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

// roff makes a line mean nothing but itself.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "’", "'", "…", "...", "→", `\(->`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
