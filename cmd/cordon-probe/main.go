// Command cordon-probe tries to escape from cordon's cells, each attempt without
// cordon first, where it has to work, and then with it. cordon doctor --probe starts
// it; the program that people put on their PATH carries no attacks.
//
// It makes only the attempts that are harmless on a machine in use, and it refuses to
// call a machine safe on which nothing could be shown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"golang.org/x/term"

	"cordon/internal/escape"
	"cordon/internal/legible"
	"cordon/internal/view"
)

// The exit codes, which cordon doctor --probe passes on.
const (
	exitContained   = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// attemptWord is how the suite starts one of its attacks, inside and outside of a cell.
const attemptWord = "attempt"

// options are the flags.
type options struct {
	cordon string // the program to get out of
	all    bool   // list every attempt
	json   bool
	only   *regexp.Regexp
}

func (o options) picks(a escape.Attempt) bool { return a.Safe && o.only.MatchString(a.Name) }

func main() {
	if len(os.Args) > 1 && os.Args[1] == attemptWord {
		os.Exit(escape.Main(os.Args[2:]))
	}
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(exitContained)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cordon-probe:", err)
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends this program at once
	code, err := probe(ctx, o)
	switch {
	case ctx.Err() != nil:
		code = exitInterrupted
	case err != nil:
		fmt.Fprintln(os.Stderr, "cordon-probe:", err)
	}
	os.Exit(code)
}

func parse(args []string) (options, error) {
	var o options
	var only string
	f := flag.NewFlagSet("cordon-probe", flag.ContinueOnError)
	f.StringVar(&o.cordon, "cordon", "", "the cordon `PROGRAM` to escape from")
	f.BoolVar(&o.all, "all", false, "list every attempt, not only those that need attention")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&only, "only", "", "make only the attempts whose name matches `PATTERN`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.cordon == "" {
		return o, errors.New("usage: cordon-probe --cordon PROGRAM [--all] [--only PATTERN] [--json]; cordon doctor --probe calls it")
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return o, fmt.Errorf("--only: %w", err)
	}
	if count(o) == 0 && len(escape.Attempts()) > 0 {
		return o, fmt.Errorf("--only: no attempt has a name that matches %q", only)
	}
	return o, nil
}

// count is how many attempts are to be made.
func count(o options) int {
	n := 0
	for _, a := range escape.Attempts() {
		if o.picks(a) {
			n++
		}
	}
	return n
}

// probe makes the attempts, prints what came of them and returns the exit code.
func probe(ctx context.Context, o options) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	dir, err := escape.Place()
	if err != nil {
		return exitFailed, err
	}
	defer os.RemoveAll(dir) // made just now
	p := &progress{w: os.Stderr, total: count(o), live: term.IsTerminal(int(os.Stderr.Fd()))}
	results, err := escape.Run(ctx, escape.Options{
		Dir: dir, Attack: []string{self, attemptWord}, Confine: escape.Exec(o.cordon), Pick: o.picks, Each: p.one,
	})
	p.end()
	if err != nil {
		return exitFailed, err
	}
	if o.json {
		err = printJSON(os.Stdout, results)
	} else {
		_, err = io.WriteString(os.Stdout, report(results, o.all, columns()))
	}
	if err != nil || !contained(results) {
		return exitFailed, err
	}
	return exitContained, nil
}

// columns is the width of the terminal.
func columns() int {
	if n, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && n > 0 {
		return n
	}
	return math.MaxInt
}

// printJSON prints cordon.probe/1.
func printJSON(w io.Writer, results []escape.Result) error {
	shown := view.Probe{Attempts: []view.Escape{}, Summary: escape.Summary(results)}
	for _, r := range results {
		shown.Attempts = append(shown.Attempts, view.Escape{
			Group: r.Attempt.Group, Name: r.Attempt.Name, What: r.Attempt.What, Control: string(r.Control), Verdict: string(r.Verdict),
			Attention: r.NeedsAttention(), Detail: valid(r.Detail),
		})
	}
	text, err := view.Encode(&shown)
	if err != nil {
		return err
	}
	_, err = w.Write(legible.JSON(text))
	return err
}
